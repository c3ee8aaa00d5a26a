/** Nodes of the rack, brought cheaply to where a verb begins. */
import type { Json, RackBmc } from '../../demo/system';
import type { System } from './system';
import { until } from './until';
import { type ChaosVerb, type Rest, raidConfig, ramdiskImage, runbook, runbookSteps } from './verbs';

const recordOf = (bmc: RackBmc): object => ({
  name: bmc.name,
  driver: 'redfish',
  driver_info: {
    redfish_address: bmc.index % 4 === 3 ? bmc.secureAddress : bmc.address,
    redfish_system_id: bmc.systemId,
    redfish_username: bmc.username,
    redfish_password: bmc.password,
    redfish_verify_ca: false,
    deploy_iso: ramdiskImage,
  },
  rescue_interface: 'agent',
});

/** The runbook that all nodes may run. */
export const writeRunbook = async ({ operator }: System): Promise<void> => {
  const { status } = await operator.ask('GET', `/v1/runbooks/${runbook}`);
  if (status === 200) return;
  const steps = runbookSteps.map((step, index) => ({ ...step, order: index + 1 }));
  await operator.must('POST', '/v1/runbooks', { name: runbook, public: true, steps });
  await operator.must('PUT', `/v1/runbooks/${runbook}/traits/${runbook}`);
};

const enrol = async ({ operator }: System, bmc: RackBmc): Promise<void> => {
  const node = await operator.must('POST', '/v1/nodes', recordOf(bmc));
  for (const address of bmc.macs.slice(0, 1))
    await operator.must('POST', '/v1/ports', { node_uuid: node.uuid, address });
  await operator.must('PUT', `/v1/nodes/${bmc.name}/traits/${runbook}`);
};

const setFields = ({ operator }: System, node: string, fields: Readonly<Record<string, unknown>>): Promise<Json> => {
  const patch = Object.entries(fields).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }));
  return patch.length > 0 ? operator.must('PATCH', `/v1/nodes/${node}`, patch) : Promise.resolve();
};

const enrolAgain = async (system: System, bmc: RackBmc): Promise<void> => {
  await system.operator.must('PUT', `/v1/nodes/${bmc.name}/maintenance`, { reason: 'to be enrolled again' });
  await system.operator.must('DELETE', `/v1/nodes/${bmc.name}`);
  await enrol(system, bmc);
};

const ask = async ({ operator }: System, bmc: RackBmc, target: string, more: object = {}): Promise<void> => {
  await operator.must('PUT', `/v1/nodes/${bmc.name}/states/provision`, { target, ...more });
};

type Road = (system: System, bmc: RackBmc) => Promise<void>;
const by =
  (target: string, more: object = {}): Road =>
  (system, bmc) =>
    ask(system, bmc, target, more);
const uncleaned =
  (target: string): Road =>
  async (system, bmc) => {
    await setFields(system, bmc.name, { automated_clean: false });
    await ask(system, bmc, target);
  };

/** The next road from one state towards another. */
const roads: Readonly<Record<Rest, Partial<Record<Rest, Road>> & { readonly else: Road }>> = {
  enroll: { else: by('manage') },
  manageable: { enroll: enrolAgain, available: uncleaned('provide'), else: by('adopt') },
  available: { enroll: enrolAgain, else: by('manage') },
  active: { rescue: by('rescue', { rescue_password: 'let-me-in-0' }), else: uncleaned('deleted') },
  rescue: { else: uncleaned('deleted') },
};

export const statesOf = ({ operator }: System, bmc: RackBmc): Promise<Json | undefined> =>
  operator
    .ask(
      'GET',
      `/v1/nodes/${bmc.name}?fields=provision_state,target_provision_state,reservation,fault,maintenance,maintenance_reason,last_error`,
    )
    .then(({ status, body }) => (status === 200 ? body : undefined));

/** Where a node is once no run holds it; undefined where it is not enrolled. */
const atRest = (system: System, bmc: RackBmc): Promise<Json | 'nowhere'> =>
  until(
    `${bmc.name} to rest`,
    async () => {
      const found = await statesOf(system, bmc);
      if (!found) return 'nowhere';
      // A failed state keeps the target that was not reached.
      const failed = found.provision_state.endsWith(' failed');
      return found.reservation === null && (failed || found.target_provision_state === null) ? found : undefined;
    },
    { withinMs: 120_000 },
  );

/** Brings a node where it is wanted, over as many roads as it takes. Throws where it cannot be brought. */
export const bring = async (system: System, bmc: RackBmc, wanted: Rest): Promise<void> => {
  for (let roadsTaken = 0; roadsTaken < 8; roadsTaken++) {
    const now = await atRest(system, bmc);
    if (now === 'nowhere') await enrol(system, bmc);
    else if (now.maintenance || !Object.hasOwn(roads, now.provision_state)) await enrolAgain(system, bmc);
    else if (now.provision_state === wanted) return;
    else {
      const from = roads[now.provision_state as Rest];
      await (from[wanted] ?? from.else)(system, bmc);
    }
  }
  throw new Error(`${bmc.name} does not become ${wanted}: it is ${JSON.stringify(await statesOf(system, bmc))}`);
};

/** All that a verb wants of node and BMC before it is asked for. */
export const prepare = async (system: System, bmc: RackBmc, verb: ChaosVerb): Promise<void> => {
  await system.rack.openGate(bmc.index);
  await bring(system, bmc, verb.from);
  await setFields(system, bmc.name, verb.fields ?? {});
  if (verb.raid) await system.operator.must('PUT', `/v1/nodes/${bmc.name}/states/raid`, raidConfig);
  await system.rack.renew(bmc.index, verb.power);
};

/** Asks for the verb. @returns the run's id */
export const begin = async (system: System, bmc: RackBmc, verb: ChaosVerb): Promise<string> => {
  await ask(system, bmc, verb.target, verb.more?.(bmc.profile));
  const { runs } = await system.operator.must('GET', `/temper/v1/nodes/${bmc.name}/runs?limit=1`);
  return runs[0].uuid;
};

/** Why a node is not as a verb that went well leaves it; undefined where it is. */
export const wrongWith = async (system: System, bmc: RackBmc, rests: Rest): Promise<string | undefined> => {
  const now = (await statesOf(system, bmc)) ?? { provision_state: 'nowhere' };
  const right =
    now.provision_state === rests &&
    now.reservation === null &&
    !now.fault &&
    !now.maintenance &&
    !now.target_provision_state;
  return right ? undefined : `the node is ${JSON.stringify(now)}`;
};
