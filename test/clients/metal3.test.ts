/** Metal3: the life that its operator gives a host, by the requests it sends, at every microversion it may choose. */
import { endAll } from '../bin/support/entries';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { goMissing, type Walked, walkInGo } from '../support/go';
import { machineOf, tell } from './go-machines';

jest.setTimeout(300_000);

const missing = goMissing ?? process.env.TEMPER_TEST_ISO_MISSING;
if (missing) test.skip(`Metal3: ${missing}`, () => undefined);
const whenThere = missing ? describe.skip : describe;

const stages = [
  ...['starting', 'registering', 'inspecting', 'preparing', 'available', 'provisioning', 'provisioned', 'servicing'],
  ...['deprovisioning', 'externally provisioned', 'deleting'],
];

/** Microversion, and the BMC of the rack on which it is tried. */
const chosen = [
  ['1.89', 2],
  ['1.93', 6],
  ['1.95', 5],
  ['1.109', 7],
  ['1.110', 4],
] as const;

whenThere('Metal3', () => {
  let system: System;
  const walks = new Map<string, Promise<Walked>>();

  const walk = async (endpoint: string, version: string, bmc: number): Promise<Walked> =>
    walkInGo(
      'metal3',
      { auth: 'noauth', endpoint: `${endpoint}/v1` },
      await machineOf(system, bmc, `metal3~host-${bmc}`),
      version,
    );

  beforeAll(async () => {
    // Ramdisks that start at once: what takes time is the walk itself. All hosts are on their way together.
    system = await startSystem(8, { TEMPER_RACK_SPEED: '50' });
    const endpoint = await secondApi(system, { TEMPER_AUTH_STRATEGY: 'noauth' });
    for (const [version, bmc] of chosen) walks.set(version, walk(endpoint, version, bmc));
    await Promise.allSettled(walks.values());
  });
  afterAll(async () => {
    await endAll();
    await system?.stop();
  });

  test.each(chosen)('a host is registered, prepared, provisioned, serviced and deleted at %s', async (version) => {
    const walked = await walks.get(version)!;
    tell(`Metal3 at ${version}`, walked);
    expect(walked.failed).toEqual([]);
    expect(stages.filter((stage) => !walked.steps.includes(stage))).toEqual([]);
  });
});
