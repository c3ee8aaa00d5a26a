/** A suite of the console in Chromium: one system, one world and one browser for all of its tests, a window of its own for each. */
import { readFileSync } from 'node:fs';
import type { Result, RunOptions } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { startTestApi, type TestApi } from '../../support/api';
import { chromiumMissing, signedInAs, startChromium } from '../../support/chromium';
import { startTestConsole, type TestConsole } from '../../support/console';
import { type ConsoleWorld, consoleWorld, pagesOf } from '../../support/console-world';
import { suiteOf } from '../../support/found';
import { rolloutUnderWay } from '../../support/rollout-under-way';
import type { Persona } from '../../support/world';

export type InChromium = {
  readonly api: TestApi;
  readonly pages: TestConsole;
  readonly world: ConsoleWorld;
  readonly browser: Browser;
  /** Id of a rollout in the midst of its second wave. */
  readonly underWay: string;
  /** Addresses of all pages. */
  readonly everyPage: readonly string[];
  /** A window in which a persona has signed in; it is closed after the test. */
  as(persona: Persona, options?: BrowserContextOptions): Promise<BrowserContext>;
};

/**
 * @param tests is called once, as `describe` does it; what it is given is there when its tests run
 */
export const suiteInChromium = (title: string, tests: (system: () => InChromium) => void): void =>
  suiteOf(title, chromiumMissing)(title, () => {
    let system: InChromium;
    const open: BrowserContext[] = [];

    beforeAll(async () => {
      const [api, browser] = await Promise.all([startTestApi(), startChromium()]);
      const pages = await startTestConsole(api.url);
      const world = await consoleWorld(api);
      const underWay = await rolloutUnderWay(api);
      const everyPage = [...pagesOf(world), `/rollouts/${underWay}`, `/rollouts/${underWay}/targets/11`];
      const as = async (persona: Persona, options: BrowserContextOptions = {}): Promise<BrowserContext> => {
        const context = await signedInAs(browser, pages.url, persona, options);
        open.push(context);
        return context;
      };
      system = { api, pages, world, browser, underWay, everyPage, as };
    }, 300_000);
    afterEach(async () => {
      for (const context of open.splice(0)) await context.close();
    });
    afterAll(async () => {
      await system?.browser.close();
      await system?.pages.close();
      await system?.api.close();
    });

    tests(() => system);
  });

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** All rules in light, and in dark those that colors decide. */
const rules: Readonly<Record<'light' | 'dark', RunOptions['runOnly']>> = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  dark: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** What axe finds on a page, light and dark. A page reads axe once: it is as large as ten pages. */
export const foundByAxe = async (page: Page): Promise<string[]> => {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // Of what passes nothing is put together: neither selectors nor the elements' text.
    const options: RunOptions = { runOnly: rules[colorScheme], resultTypes: ['violations'] };
    const ran = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`;
    const violations = (await page.evaluate(ran)) as Result[];
    found.push(
      ...violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    );
  }
  return found;
};
