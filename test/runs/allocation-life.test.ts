/** An allocation through the life of its node: kept while it is deployed, gone when it is undeployed. */
import { randomUUID } from 'node:crypto';
import type { AllocationUuid } from '../../src/model/ids';
import { allocateAll } from '../../src/runs/allocating';
import { reconcileOnce } from '../../src/runs/reconcile';
import { startEngineWorld, type World } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';

let world: World;
let stopBmc: () => Promise<void> = async () => {};

beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
  stopBmc = await world.bmc({ 'fake-hardware': recordingDriver({}).driver });
});
afterAll(async () => {
  await stopBmc();
  await world?.close();
});

const log = { info() {}, warn() {} };

const ask = async (more: { resource_class: string; owner?: string }): Promise<AllocationUuid> => {
  const uuid = randomUUID() as AllocationUuid;
  const audit = {
    requester: {} as never,
    action: 'allocation.create',
    rule: null,
    rule_set: null,
    resource: 'allocation',
    resource_id: uuid,
  };
  await world.inventory.allocations.insertRecorded(
    { uuid, name: null, traits: [], candidate_nodes: [], owner: null, extra: {}, ...more },
    { audit, event: { kind: 'allocation.created' } },
  );
  return uuid;
};

test('a deployed node keeps its allocation, and an undeployed one is free for the next', async () => {
  const free = { provision_state: 'available', resource_class: 'gold', power_state: 'power off' };
  const node = await world.node({ ...free, automated_clean: false });
  const first = await ask({ resource_class: 'gold' });
  await allocateAll({ inventory: world.inventory, log });
  expect(await world.inventory.allocations.find(first)).toMatchObject({ state: 'active', node_uuid: node });

  const deployed = await world.ended((await world.runs.start(await world.order(node, 'active'))).run);
  expect(deployed).toMatchObject({ state: 'succeeded' });
  expect(await world.inventory.nodes.find({ uuid: node })).toMatchObject({
    provision_state: 'active',
    instance_uuid: first,
    allocation_uuid: first,
  });
  expect(await world.inventory.allocations.find(first)).toMatchObject({ state: 'active' });

  await world.ended((await world.runs.start(await world.order(node, 'deleted'))).run);
  expect(await world.inventory.allocations.find(first)).toBeUndefined();
  expect(await world.inventory.nodes.find({ uuid: node })).toMatchObject({
    provision_state: 'available',
    instance_uuid: null,
    allocation_uuid: null,
  });
  const [told] = await world.sql`
    select node_uuid from events where kind = 'allocation.deleted' and data->>'allocation_uuid' = ${first}`;
  expect(told).toEqual({ node_uuid: node });

  const second = await ask({ resource_class: 'gold' });
  await allocateAll({ inventory: world.inventory, log });
  expect(await world.inventory.allocations.find(second)).toMatchObject({ state: 'active', node_uuid: node });
});

test('the reconciler sees to what no pass has seen to', async () => {
  const node = await world.node({ provision_state: 'available', resource_class: 'silver', power_state: 'power off' });
  const left = await ask({ resource_class: 'silver' });
  await reconcileOnce({ inventory: world.inventory, client: world.client, log });
  expect(await world.inventory.allocations.find(left)).toMatchObject({ state: 'active', node_uuid: node });
});
