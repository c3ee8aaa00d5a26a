/** The site of the documents in Chromium: from a folder and from a server, in light and dark, on a small screen, and without scripts. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { diagrams } from '../../tools/gen/diagrams';
import { chromiumMissing, startChromium } from '../support/chromium';
import { suiteOf } from '../support/found';
import { buildTestSite, questions, type TestSite } from '../support/site';
import { foundByAxe } from './support/chromium-suite';

const root = join(__dirname, '../..');

const looked = [
  'index.html',
  'ARCHITECTURE.html',
  'docs/operations.html',
  'docs/rollouts.html',
  'docs/settings.html',
  'docs/console.html',
  'docs/openapi.json.html',
  'docs/policy-matrix-closed.txt.html',
  'docs/policy-sample.yaml.html',
  'docs/decisions/0004-intent-first.html',
];

suiteOf('the site in Chromium', chromiumMissing)('the site in Chromium', () => {
  let site: TestSite;
  let browser: Browser;
  let server: ReturnType<ReturnType<typeof express>['listen']>;
  const roots: Record<string, string> = {};

  beforeAll(async () => {
    site = buildTestSite();
    browser = await startChromium();
    server = express().use(express.static(site.folder)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    roots['a folder'] = pathToFileURL(site.folder).href;
    roots['a server'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    site?.remove();
  });

  const withPage = async (options: BrowserContextOptions, look: (page: Page) => Promise<void>): Promise<void> => {
    const context = await browser.newContext(options);
    try {
      await look(await context.newPage());
    } finally {
      await context.close();
    }
  };

  const searched = async (page: Page, question: string): Promise<string[]> => {
    await page.keyboard.press('/');
    await page.getByLabel('Search pages, settings and errors').fill(question);
    await page.getByText(/^\d+ found$/).waitFor();
    return page
      .locator('#site-search li a')
      .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
  };

  test.each(['a folder', 'a server'])(
    'opened from %s, the search answers questions and leads to the place',
    async (from) => {
      await withPage({}, async (page) => {
        const faults: string[] = [];
        page.on('pageerror', (error) => faults.push(String(error)));
        page.on('request', (request) => request.url().startsWith(roots[from]!) || faults.push(request.url()));
        await page.goto(`${roots[from]}/docs/decisions/0004-intent-first.html`);
        for (const [question, answer] of questions) {
          const found = await searched(page, question);
          expect(found.slice(0, 3).map((address) => address.split('#')[0])).toContain(`../../${answer}`);
          await page.keyboard.press('Escape');
        }
        await searched(page, 'TEMPER_HEARTBEAT_MS');
        await page.keyboard.press('Enter');
        await page.waitForURL(/docs\/settings\.html#temper_heartbeat_ms/);
        expect(faults).toEqual([]);
      });
    },
  );

  test.each(looked)('axe finds nothing in %s, light and dark', async (path) => {
    await withPage({}, async (page) => {
      await page.goto(`${roots['a server']}/${path}`);
      expect(await foundByAxe(page)).toEqual([]);
    });
  });

  test('axe finds nothing in the open search', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${roots['a server']}/index.html`);
      await searched(page, 'budget');
      expect(await foundByAxe(page)).toEqual([]);
    });
  });

  test.each(looked)('on a small screen %s is not wider than the screen', async (path) => {
    await withPage({ viewport: { width: 390, height: 844 } }, async (page) => {
      await page.goto(`${roots['a server']}/${path}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Glossary', exact: true }).click();
      await page.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor();
    });
  });

  test('rows that lack a word of the filter go, and tables without rows with their heading', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${roots['a folder']}/docs/settings.html`);
      await page.getByLabel('Filter the tables of this page').fill('heartbeat silent');
      expect(await page.locator('tbody tr:visible').count()).toBeGreaterThan(0);
      for (const row of await page.locator('tbody tr:visible').allTextContents()) expect(row).toMatch(/heartbeat/i);
      await page.getByLabel('Filter the tables of this page').fill('qqqxyzzy');
      expect(await page.locator('tbody tr:visible').count()).toBe(0);
      expect(await page.locator('article h2:visible').count()).toBe(0);
      await page.getByText(/^0 of \d+ rows$/).waitFor();
    });
  });

  test('each diagram is a picture by itself, and says in words what it shows', async () => {
    await withPage({}, async (page) => {
      for (const path of Object.keys(diagrams)) {
        await page.goto(pathToFileURL(join(root, path)).href);
        expect([path, await page.locator('parsererror').count()]).toEqual([path, 0]);
        expect((await page.locator('svg > desc').textContent())?.length).toBeGreaterThan(100);
      }
    });
  });

  test('the choice of dark stays on the next page', async () => {
    await withPage({ colorScheme: 'light' }, async (page) => {
      await page.goto(`${roots['a server']}/index.html`);
      await page.getByRole('button', { name: 'Light or dark' }).click();
      await page.getByRole('link', { name: 'Glossary', exact: true }).first().click();
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(15, 23, 42)');
    });
  });

  test('without scripts the pages, their tables and the navigation are there', async () => {
    await withPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } }, async (page) => {
      await page.goto(`${roots['a folder']}/docs/policy-matrix-temper.txt.html`);
      expect(await page.locator('tbody tr:visible').count()).toBeGreaterThan(400);
      expect(await page.getByRole('button', { name: 'Search' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Glossary', exact: true }).click();
      await page.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor();
    });
  });
});
