/** The console in a real browser: for every persona, in light and dark, by keyboard alone, narrow, and without JavaScript. */
import AxeBuilder from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startTestApi, type TestApi } from '../support/api';
import { chromiumMissing, signedInAs, startChromium } from '../support/chromium';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld, pagesOf } from '../support/console-world';
import { suiteOf } from '../support/found';
import { happened } from '../support/happenings';
import { rolloutUnderWay } from '../support/rollout-under-way';
import type { Persona } from '../support/world';

suiteOf('the console in Chromium', chromiumMissing)('the console in Chromium', () => {
  let api: TestApi;
  let pages: TestConsole;
  let world: ConsoleWorld;
  let underWay: string;
  let browser: Browser;
  const open: BrowserContext[] = [];

  beforeAll(async () => {
    api = await startTestApi();
    pages = await startTestConsole(api.url);
    world = await consoleWorld(api);
    underWay = await rolloutUnderWay(api);
    browser = await startChromium();
  }, 300_000);
  afterEach(async () => {
    for (const context of open.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.close();
    await api?.close();
  });

  const everyPage = (): string[] => [...pagesOf(world), `/rollouts/${underWay}`, `/rollouts/${underWay}/targets/11`];

  const as = async (persona: Persona, options = {}): Promise<BrowserContext> => {
    const context = await signedInAs(browser, pages.url, persona, options);
    open.push(context);
    return context;
  };

  const viewers: readonly Persona[] = ['operator', 'owner-manager', 'owner-member', 'lessee-member', 'system-reader', 'stranger-admin']; // biome-ignore format: one row of names
  const schemes = ['light', 'dark'] as const;

  const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

  /** What axe finds on a page: all rules in light, and in dark those that colors decide. */
  const foundOn = async (page: Page): Promise<string[]> => {
    const found: string[] = [];
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      const axe = new AxeBuilder({ page });
      const { violations } = await (colorScheme === 'light' ? axe.withTags(wcag) : axe.withRules(['color-contrast', 'link-in-text-block'])).analyze(); // biome-ignore format: one question
      found.push(
        ...violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
      );
    }
    return found;
  };

  test.each(viewers)(
    'nothing keeps %s from reading and using a page, light or dark: axe finds nothing, no script fails',
    async (persona) => {
      const context = await as(persona);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (line) => {
        if (line.type() === 'error' && !/status of 40[34]/.test(line.text())) faults.push(line.text());
      });
      for (const address of everyPage()) {
        await page.goto(address);
        await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
        expect({ address, found: await foundOn(page) }).toEqual({ address, found: [] });
      }
      expect(faults).toEqual([]);
    },
    300_000,
  );

  const pictures = process.env.TEMPER_SCREENSHOTS;
  const takePictures = async (folder: string): Promise<void> => {
    const wanted = [
      ['now', '/', 'light'],
      ['node', '/nodes/rack-1', 'light'],
      ['run', `/runs/${world.parked.run}`, 'dark'],
      ['rollout', `/rollouts/${underWay}`, 'light'],
      ['runbook-editor', '/runbooks/CUSTOM_RESTART/edit', 'light'],
    ] as const;
    const context = await as('operator', { viewport: { width: 1180, height: 760 } });
    const page = await context.newPage();
    for (const [name, address, colorScheme] of wanted) {
      await page.emulateMedia({ colorScheme });
      await page.goto(address);
      await page.screenshot({ path: `${folder}/console-${name}-${colorScheme}.png` });
    }
  };
  // For the pages of documentation, by `npm run screenshots` alone.
  if (pictures !== undefined) test('pictures are taken', () => takePictures(pictures), 120_000);

  test('at 320 px nothing lies outside of the page but what scrolls within it', async () => {
    const context = await as('operator', { viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    for (const address of everyPage()) {
      await page.goto(address);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect({ address, width }).toEqual({ address, width: 320 });
    }
  }, 120_000);

  test('without JavaScript a parked run is found from the start page and retried', async () => {
    const context = await as('owner-manager', { javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto('/');
    await page.getByRole('link', { name: 'service on rack-1' }).click();
    await page.getByText('Retry the step', { exact: true }).first().click();
    await page.getByLabel('Reason').first().fill('the cable is in again');
    await page.getByRole('button', { name: 'Retry the step' }).click();
    await page.getByText('The step is run again.').first().waitFor();
    expect(api.runs.operated.at(-1)).toMatchObject({ act: 'retry', reason: 'the cable is in again' });
  }, 60_000);

  test('with the keyboard alone the same is done, and the focus is always seen', async () => {
    const context = await as('owner-manager');
    const page = await context.newPage();
    await page.goto(`/runs/${world.parked.run}`);
    const focused = () =>
      page.evaluate(
        `(() => { const one = document.activeElement; const style = getComputedStyle(one); return { text: one.textContent.trim(), name: one.name ?? '', outline: style.outlineStyle }; })()`,
      ) as Promise<{ text: string; name: string; outline: string }>;
    const tabTo = async (is: (one: { text: string; name: string }) => boolean): Promise<void> => {
      for (let at = 0; at < 80; at++) {
        await page.keyboard.press('Tab');
        const now = await focused();
        expect(now).not.toMatchObject({ outline: 'none' });
        if (is(now)) return;
      }
      throw new Error('the keyboard does not lead there');
    };
    await page.keyboard.press('Tab');
    expect((await focused()).text).toBe('Skip to the page');
    await tabTo(({ text }) => text === 'Retry the step');
    await page.keyboard.press('Enter');
    await tabTo(({ name }) => name === 'reason');
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('The step is run again.').waitFor();
    expect(api.runs.operated.at(-1)).toMatchObject({ act: 'retry', reason: 'by keyboard' });
  }, 60_000);

  test('a change is on the screen without a reload, and what was typed stays', async () => {
    const context = await as('owner-manager');
    const page = await context.newPage();
    const streaming = page.waitForResponse((reply) => reply.url().endsWith('/live'));
    await page.goto(`/runs/${world.parked.run}`);
    await streaming;
    await page.getByText('Skip the step', { exact: true }).first().click();
    const reason = page.locator('form[action$="/skip"] input[name=reason]');
    await reason.fill('half a sen');
    await api.sql`update run_steps set note = 'a note that came later' where run_id = ${world.parked.run} and index = 1`;
    const before = Date.now();
    await happened(api, world.parked, 'step.noted', { note: 'x' });
    await page.getByText('a note that came later').waitFor();
    const ms = Date.now() - before;
    expect(await reason.inputValue()).toBe('half a sen');
    process.stdout.write(`a change was on the screen after ${ms} ms\n`);
  }, 60_000);

  test('a first load is at most 60 kB over the wire', async () => {
    const context = await browser.newContext({ baseURL: pages.url });
    open.push(context);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto('/sign-in', { waitUntil: 'networkidle' });
    const first = bytes;
    expect(first).toBeGreaterThan(10_000);
    expect(first).toBeLessThan(60_000);
  }, 60_000);

  test('ids are copied by a click, and times go on', async () => {
    const context = await as('operator', { permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`/runs/${world.parked.run}`);
    await page.getByRole('button', { name: `Copy ${world.parked.run}` }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(world.parked.run);
    expect(await page.locator('time').first().getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT/);
  }, 60_000);
});
