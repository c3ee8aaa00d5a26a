/** Pictures of the console: some for the pages of documentation, and every page at three widths to look at. */
import { join } from 'node:path';
import type { InChromium } from './chromium-suite';

const schemes = ['light', 'dark'] as const;
const widths = [1440, 1024, 390] as const;

/** @param folder where the pictures of documentation are written */
export const takePictures = async ({ world, underWay, as }: InChromium, folder: string): Promise<void> => {
  const wanted = [
    ['overview', '/'],
    ['inbox', '/inbox'],
    ['nodes', '/nodes'],
    ['node', '/nodes/rack-1'],
    ['run', `/runs/${world.parked.run}`],
    ['rollout', `/rollouts/${underWay}`],
    ['runbook-editor', '/runbooks/CUSTOM_RESTART/edit'],
  ] as const;
  const page = await (await as('operator', { viewport: { width: 1280, height: 800 } })).newPage();
  for (const [name, address] of wanted)
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      await page.goto(address);
      await page.screenshot({ path: join(folder, `console-${name}-${colorScheme}.png`) });
    }
};

const nameOf = (address: string): string =>
  address
    .replace(/\?.*/, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => id.slice(0, 4))
    .replaceAll(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-$/, '-overview');

/** Every page as the operator sees it, at each width, in light and dark. @param folder where they are written */
export const takeAllPictures = async ({ everyPage, pages, browser, as }: InChromium, folder: string): Promise<void> => {
  for (const width of widths) {
    const page = await (await as('operator', { viewport: { width, height: 900 }, deviceScaleFactor: 2 })).newPage();
    for (const address of everyPage)
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        await page.goto(address);
        await page.screenshot({ path: join(folder, `${width}${nameOf(address)}-${colorScheme}.png`), fullPage: true });
      }
    const outside = await browser.newPage({
      baseURL: pages.url,
      viewport: { width, height: 900 },
      deviceScaleFactor: 2,
    });
    await outside.goto('/sign-in');
    await outside.screenshot({ path: join(folder, `${width}-sign-in-light.png`), fullPage: true });
    await outside.close();
  }
};
