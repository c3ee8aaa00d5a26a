/** Programs of others that suites need: where they are, or why they are not there. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Path of a program of scripts/lib. */
export const finder = (name: string): string => resolve(__dirname, '..', '..', 'scripts', 'lib', name);

/**
 * What a program of scripts/lib says it found; `missing` is why there is nothing. At collection, because a suite that cannot
 * run must be skipped by name; quick once things are in the cache.
 */
export const foundBy = <Found>(name: string, ...args: string[]): Partial<Found> & { missing?: string } => {
  const answer = spawnSync(process.execPath, [finder(name), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(answer.stdout || `{"missing":"scripts/lib/${name} said nothing"}`);
};

/** `describe` of a suite that needs them; where they are missing it is skipped, and a skipped test says why. */
export const suiteOf = (what: string, missing: string | undefined): typeof describe => {
  if (missing === undefined) return describe;
  test.skip(`${what}: ${missing}`, () => undefined);
  return describe.skip as typeof describe;
};
