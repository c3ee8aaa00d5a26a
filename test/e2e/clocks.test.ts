/** A sample of `npm run chaos -- --clocks`: two workers of each kind and the API, each with another wrong clock, are killed in the middle of runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCells } from '../chaos/lanes';
import { openSystem } from '../chaos/system';
import { foundBy } from '../support/found';
import { type System, startSystem } from './support/system';

jest.setTimeout(600_000);

const { settings } = jest.requireActual('../../scripts/lib/chaos-settings');
const { clocksOfRound } = jest.requireActual('../../scripts/lib/faketime');
// The same for every change, as in the sample without wrong clocks.
const seed = Number(process.env.TEMPER_CHAOS_SEED ?? 610_058);
const clocks: string = clocksOfRound(seed % 6);

const faketime = foundBy<{ programs: { library: string } }>('faketime.js');
const withClocks = faketime.programs ? test : test.skip;
const without = faketime.programs ? '' : ` (skipped: ${faketime.missing})`;

let system: System | undefined;
afterAll(() => system?.stop());

/** By how many seconds a process says that it is ahead of Postgres. */
const skewOf = async (data: string, name: string): Promise<number> => {
  const log = readFileSync(join(data, 'logs', `${name}.log`), 'utf8');
  const port = [...log.matchAll(/"port":(\d+),"message":"health"/g)].at(-1)![1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^temper_clock_skew_seconds\S* (\S+)$/m.exec(text)![1]);
};

withClocks(
  `every run of a sample goes on after its kill while clocks differ by up to two hours, seed ${seed}${without}`,
  async () => {
    const library = faketime.programs!.library;
    const wrong = { CHAOS_WORKERS: '2', CHAOS_FAKETIME: library, CHAOS_CLOCKS: clocks };
    system = await startSystem(8, { ...settings, ...wrong });
    for (const [name, seconds] of clocks.split(',').map((row) => row.split('=') as [string, string]))
      expect(Math.abs((await skewOf(system.data, name)) - Number(seconds))).toBeLessThan(5);
    const chaos = await openSystem(join(system.data, 'system.json'));
    const said: string[] = [];
    try {
      const chosen = {
        seed,
        sample: 6,
        verbs: ['verify', 'clean without a ramdisk', 'rescue'],
        profiles: ['xcc', 'ami', 'openbmc', 'xcc-new'],
      };
      const { results, unusable } = await runCells(chaos, { ...chosen, victims: ['BMC worker', 'API'] }, (line) =>
        said.push(line),
      );
      expect({ unusable, said: said.filter((line) => line.startsWith('!')) }).toEqual({ unusable: [], said: [] });
      expect(results).toHaveLength(6);
      for (const { outcome } of results) expect(['ended', 'parked']).toContain(outcome.is);
    } finally {
      await chaos.close();
    }
  },
);
