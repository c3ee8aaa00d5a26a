/** Nodes of the rack, ready for a rollout: manageable, in a rack, some of them a tenant's, their BMCs as new but for their trouble. */
import type { Json, RackBmc } from '../../../demo/system';
import { inTurns } from '../approach';
import { bring } from '../nodes';
import type { System } from '../system';
import { until } from '../until';
import { runbook as approved, step } from '../verbs';
import { type Trouble, works } from './shapes';

/** A node with what decides about it. */
export type Member = {
  readonly bmc: RackBmc;
  readonly rack: string;
  /** Of the tenant, whose disruption budget speaks for it. */
  readonly tenant: boolean;
  readonly trouble: Trouble;
};

const atOnce = 32;

/** The runbooks of the rollouts; each ends with the indicator, by which the journal says that a node was done. */
export const writeRunbooks = async ({ operator }: System): Promise<void> => {
  for (const { runbook, steps } of Object.values(works)) {
    if ((await operator.ask('GET', `/v1/runbooks/${runbook}`)).status === 200) continue;
    const all = [
      ...steps.map((name) => step(name, name.endsWith('boot_device') ? { boot_device: 'pxe' } : {})),
      step('management.set_indicator', { state: 'blinking' }),
    ].map((one, index) => ({ ...one, order: index + 1 }));
    await operator.must('POST', '/v1/runbooks', { name: runbook, public: true, disable_ramdisk: true, steps: all });
    await operator.must('PUT', `/v1/runbooks/${runbook}/traits/${approved}`);
  }
};

const ready = async (system: System, { bmc, rack, tenant, trouble }: Member, project: string): Promise<void> => {
  const { operator, rack: emulated } = system;
  await emulated.clearFaults(bmc.index);
  await bring(system, bmc, 'manageable');
  const value = (path: string, text: unknown) => ({ op: 'add', path, value: text });
  await operator.must('PATCH', `/v1/nodes/${bmc.name}`, [
    value('/properties/rack', rack),
    value('/properties/tenant', String(tenant)),
    value('/owner', tenant ? project : null),
  ]);
  await emulated.renew(bmc.index, 'On');
  if (trouble) await emulated.fault(bmc.index, trouble);
};

/** @param project the tenant's */
export const prepareMembers = (system: System, members: readonly Member[], project: string): Promise<void> =>
  inTurns(members, atOnce, (member) => ready(system, member, project));

/** What a person does for a node on which its run has failed: the BMC works again, and the node may be worked on. */
export const mend = async ({ operator, rack }: System, { index, name }: RackBmc): Promise<void> => {
  await rack.clearFaults(index);
  const path = `/v1/nodes/${name}`;
  const now = async (): Promise<Json> => await operator.must('GET', `${path}?fields=provision_state,reservation`);
  await operator.ask('DELETE', `${path}/maintenance`);
  await until(`${name} to be mended`, async () => {
    const { provision_state, reservation } = await now();
    if (provision_state === 'manageable') return true;
    if (reservation === null) await operator.ask('PUT', `${path}/states/provision`, { target: 'manage' });
    return false;
  });
};
