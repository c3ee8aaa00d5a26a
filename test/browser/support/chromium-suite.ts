/** A suite of the console in Chromium: one system, one world and one browser for all of its tests, a window of its own for each. */
import AxeBuilder from '@axe-core/playwright';
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

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const schemes = ['light', 'dark'] as const;

/** What axe finds on a page: all rules in light, and in dark those that colors decide. */
export const foundByAxe = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    // Pages have no frames: without this each result is put together in a page of its own.
    const axe = new AxeBuilder({ page }).setLegacyMode(true);
    const ruled =
      colorScheme === 'light' ? axe.withTags(wcag) : axe.withRules(['color-contrast', 'link-in-text-block']);
    const { violations } = await ruled.analyze();
    found.push(
      ...violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
    );
  }
  return found;
};
