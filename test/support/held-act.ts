/** A node that an accepted run of one step holds, as an act finds it: in a real store, with its secrets sealed. */
import { randomUUID } from 'node:crypto';
import { createBmcActivities, type RunActInput } from '../../src/activities/bmc';
import type { Driver } from '../../src/bmc/contract';
import { createLanes } from '../../src/bmc/lane';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { Sealer } from '../../src/inventory/secrets/sealing';
import type { NodeUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import { quickTiming } from './engine';
import { ofDriverInfo, ofRun, testVault } from './vault';

type Store = { readonly api: Inventory; readonly owner: Sql; readonly vault: Sealer };
type Wanted = { readonly driver_info?: Record<string, unknown>; readonly args?: Record<string, unknown> };

const requester = {
  user_id: null,
  user_name: 't',
  project_id: null,
  system_scope: 'all',
  strategy: 'noauth',
  request_id: 'r',
};

const insertNode = async ({ api, owner, vault }: Store, driver_info: Record<string, unknown>): Promise<NodeUuid> => {
  const uuid = randomUUID();
  const sealed = vault.seal(driver_info, ofDriverInfo(uuid, 'fake-hardware', driver_info));
  const [node] = await owner<{ uuid: NodeUuid }[]>`
    insert into nodes (uuid, driver, provision_state, driver_info) values (${uuid}, 'fake-hardware', 'manageable', ${owner.json(sealed.document as never)}) returning uuid`;
  await api.secrets.insert(sealed.secrets);
  return node!.uuid;
};

/** @returns what the workflow would hand to the activity: `power_on`, the only act of the only step */
export const heldAct = async (store: Store, { driver_info = {}, args = {} }: Wanted = {}): Promise<RunActInput> => {
  const { api, vault } = store;
  const node_uuid = await insertNode(store, driver_info);
  const run = api.runs.newId();
  const planned = planSteps([{ interface: 'power', step: 'power_on' }], 'clean', { driver: 'fake-hardware' });
  const { document: steps, secrets } = vault.seal(
    planned.map((step) => ({ ...step, args })),
    ofRun(run),
  );
  const taken = await api.runs.accept({
    run,
    node_uuid,
    from: 'manageable',
    revision: null,
    to: 'cleaning',
    target: 'manageable',
    target_power_state: null,
    kind: 'clean',
    verb: 'clean',
    runbook: null,
    requester,
    rule_set: 'x',
    workflow_id: `w-${run}`,
    input: {
      kind: 'clean',
      verb: 'clean',
      node_name: null,
      driver: 'fake-hardware',
      conductor_group: '',
      steps,
      target: 'manageable',
      ends: 'manage',
      fault: null,
      runbook: null,
      rule_set: 'x',
      timing: quickTiming,
    },
  });
  await api.runSteps.insert(run, steps);
  await api.secrets.insert(secrets);
  return {
    lock: taken!.lock,
    step: steps[0]!,
    act: 'power_on',
    last: true,
    timing: quickTiming,
    kind: 'clean',
    nth: 1,
  };
};

type Deps = Parameters<typeof createBmcActivities>[0];

/** The activity of a worker that has this driver for every node, and lanes of its own. */
export const runActOf = (bmc: Inventory, driver: Driver, more: Partial<Deps> = {}) =>
  createBmcActivities({
    inventory: bmc,
    vault: testVault,
    driverOf: () => driver,
    lanes: createLanes(),
    log: { info() {}, warn() {} },
    ...more,
  }).runAct;
