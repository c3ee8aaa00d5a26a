/** Debian's Chromium for tests of the console's pages; where it cannot be had they are skipped by name. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { foundBy } from './found';
import type { Persona } from './world';

const found = foundBy<{ programs: { chromium: string }; fonts: string }>('chromium.js');

/** Why there is none; undefined where there is. */
export const chromiumMissing = found.missing;

/** Throws where there is none. */
export const startChromium = (): Promise<Browser> => {
  if (!found.programs) throw new Error(`Chromium is not there: ${found.missing}`);
  return chromium.launch({
    executablePath: found.programs.chromium,
    // As root, as CI often is, Chromium starts without its sandbox only.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    env: { ...process.env, FONTCONFIG_FILE: found.fonts } as Record<string, string>,
  });
};

/** A window of its own in which a persona has signed in by the page. */
export const signedInAs = async (
  browser: Browser,
  url: string,
  persona: Persona,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> => {
  const context = await browser.newContext({ baseURL: url, ...options });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.getByText('With a token').click();
  await page.getByLabel('Token').fill(persona);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await page.getByRole('button', { name: /^Account: / }).waitFor();
  await page.close();
  return context;
};
