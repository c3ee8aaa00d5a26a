/** Pictures of the console for the pages of documentation. */
import type { InChromium } from './chromium-suite';

/** @param folder where they are written */
export const takePictures = async ({ world, underWay, as }: InChromium, folder: string): Promise<void> => {
  const wanted = [
    ['now', '/', 'light'],
    ['node', '/nodes/rack-1', 'light'],
    ['run', `/runs/${world.parked.run}`, 'dark'],
    ['rollout', `/rollouts/${underWay}`, 'light'],
    ['runbook-editor', '/runbooks/CUSTOM_RESTART/edit', 'light'],
  ] as const;
  const page = await (await as('operator', { viewport: { width: 1180, height: 760 } })).newPage();
  for (const [name, address, colorScheme] of wanted) {
    await page.emulateMedia({ colorScheme });
    await page.goto(address);
    await page.screenshot({ path: `${folder}/console-${name}-${colorScheme}.png` });
  }
};
