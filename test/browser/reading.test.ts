/** All pages as some personas read them: axe finds nothing in light and dark, and no script fails. */
import type { Page } from 'playwright-core';
import type { Persona } from '../support/world';
import { foundByAxe, type InChromium, suiteInChromium } from './support/chromium-suite';

/** Those who may decide about nodes, members of the owner's and of the lessee's project, and those who change or see nothing. */
const readers: readonly Persona[] = [
  'operator',
  'owner-manager',
  'owner-member',
  'lessee-member',
  'system-reader',
  'stranger-admin',
];

const listenTo = (page: Page): string[] => {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (line) => {
    if (line.type() === 'error' && !/status of 40[34]/.test(line.text())) faults.push(line.text());
  });
  return faults;
};

/** What a page shows and how it looks, without the names of account and scope, passing time, and what each form has of its own. */
const documentOf = async (page: Page): Promise<string> =>
  (await page.content())
    .replace(/<header class="top">.*?<\/header>/s, (header) =>
      header.replaceAll(/(?<=>)[^<>]+(?=<)/g, '…').replaceAll(/(?<=aria-label="\w+: )[^"]*/g, '…'),
    )
    .replaceAll(/(?<=<time[^>]*>)[^<]+/g, '…')
    .replaceAll(/name="(?:csrf|key)" value="[^"]*"/g, '');

/** @param seen documents in which axe has found nothing: the same one is not read twice */
const readAll = async (
  { everyPage, as }: InChromium,
  persona: Persona,
  seen: Set<string>,
): Promise<{ faults: string[]; read: number }> => {
  const page = await (await as(persona)).newPage();
  const faults = listenTo(page);
  let read = 0;
  for (const address of everyPage) {
    await page.goto(address);
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    const text = await documentOf(page);
    read += 1;
    if (seen.has(text)) continue;
    expect({ address, found: await foundByAxe(page) }).toEqual({ address, found: [] });
    seen.add(text);
  }
  return { faults, read };
};

suiteInChromium('the console in Chromium, read by many', (system) => {
  const seen = new Set<string>();
  test.each(readers)(
    'nothing keeps %s from reading and using a page, light or dark: axe finds nothing, no script fails',
    async (persona) => {
      const { faults, read } = await readAll(system(), persona, seen);
      expect(faults).toEqual([]);
      expect(read).toBe(system().everyPage.length);
    },
    300_000,
  );
});
