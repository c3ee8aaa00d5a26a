/** Metal3: the life that its operator gives a host, by the requests it sends, at every microversion it may choose. */
import { endAll } from '../bin/support/entries';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { goMissing, type Walked, walkInGo } from '../support/go';
import { metal3Hosts } from '../support/metal3-hosts';
import { machineOf, tell } from './go-machines';

const missing = goMissing ?? process.env.TEMPER_TEST_ISO_MISSING;
const whenThere = suiteOf('Metal3', missing);

const stages = [
  ...['starting', 'registering', 'inspecting', 'preparing', 'available', 'provisioning', 'provisioned', 'servicing'],
  ...['deprovisioning', 'externally provisioned', 'deleting'],
];

/** Microversion, the BMC of the rack on which it is tried, and how its ramdisk starts: `redfish://` is ipxe. */
const chosen = [
  ['1.89', 2, 'redfish-virtual-media'],
  ['1.93', 6, 'ipxe'],
  ['1.95', 5, 'redfish-virtual-media'],
  ['1.109', 7, 'redfish-virtual-media'],
  ['1.110', 4, 'ipxe'],
] as const;

whenThere('Metal3', () => {
  let system: System;
  const walks = new Map<string, Promise<Walked>>();

  const walk = async (endpoint: string, version: string, bmc: number, boot_interface: string): Promise<Walked> =>
    walkInGo(
      'metal3',
      { auth: 'noauth', endpoint: `${endpoint}/v1` },
      { ...(await machineOf(system, bmc, `metal3~host-${bmc}`)), boot_interface },
      version,
    );

  const walkSchemes = async (endpoint: string): Promise<Walked> =>
    walkInGo(
      'metal3-schemes',
      { auth: 'noauth', endpoint: `${endpoint}/v1` },
      { ...(await machineOf(system, 0, 'metal3~unused')), hosts: metal3Hosts },
      '1.89',
    );

  beforeAll(async () => {
    // Ramdisks that start at once: what takes time is the walk itself. All hosts are on their way together.
    system = await startSystem(8, { TEMPER_RACK_SPEED: '50' });
    const endpoint = await secondApi(system, { TEMPER_AUTH_STRATEGY: 'noauth' });
    for (const [version, bmc, boot] of chosen) walks.set(version, walk(endpoint, version, bmc, boot));
    walks.set('schemes', walkSchemes(endpoint));
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

  test('a host of every scheme of BMC URLs is enrolled, with custom-agent as its deploy interface', async () => {
    const walked = await walks.get('schemes')!;
    expect(walked.failed).toEqual([]);
    expect(metal3Hosts.filter(({ scheme }) => !walked.steps.includes(scheme))).toEqual([]);
  });
});
