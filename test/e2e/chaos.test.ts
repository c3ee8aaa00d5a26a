/** A sample of `npm run chaos`: runs of a few verbs are held at points that a seed chose, and a process is killed with -9. */
import { join } from 'node:path';
import { allKills } from '../chaos/blows';
import { runCells } from '../chaos/lanes';
import { openSystem } from '../chaos/system';
import { type System, startSystem } from './support/system';

jest.setTimeout(600_000);

const { settings } = jest.requireActual('../../scripts/lib/chaos-settings');
const sample = 12;
const nodes = 16;
// Their BMCs may be asked without pauses; the whole table has the others too.
const profiles = ['xcc', 'ami', 'openbmc', 'xcc-new'];
// The same for every change, so that a red one is the change's; `npm run chaos` takes every point.
const seed = Number(process.env.TEMPER_CHAOS_SEED ?? 875_405);

let system: System;

beforeAll(async () => {
  system = await startSystem(nodes, settings);
});
afterAll(() => system?.stop());

test(`every run of a sample goes on after its kill, and no machine gets twice what may harm it (seed ${seed})`, async () => {
  const said: string[] = [];
  const chaos = await openSystem(join(system.data, 'system.json'));
  try {
    const { results, unusable } = await runCells(chaos, { seed, sample, profiles, victims: allKills }, (line) =>
      said.push(line),
    );
    expect({ unusable, said: said.filter((line) => line.startsWith('!')) }).toEqual({ unusable: [], said: [] });
    expect(results).toHaveLength(sample);
    for (const { outcome } of results) expect(['ended', 'parked']).toContain(outcome.is);
    process.stdout.write(`chaos, seed ${seed}:\n${said.join('\n')}\n`);
  } finally {
    await chaos.close();
  }
});
