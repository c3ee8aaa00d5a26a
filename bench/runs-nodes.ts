/** Nodes that single runs are made on, and the workflows that those runs are. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Place } from './noop/worker';
import { ask, type System } from './system';

/** Where the engine is, as its clients need it. */
export const engineOf = ({ temporal }: System): Place => ({ address: temporal, namespace: 'temper' });

/** Asks a node for a verb. @returns the workflow that does it */
export const followed = async (system: System, client: Client, node: string, verb: object): Promise<WorkflowHandle> => {
  await ask(system, 'PUT', `/v1/nodes/${node}/states/provision`, verb);
  const [run] = await system.sql`
    select workflow_id from runs where node_uuid = ${node} order by created_at desc limit 1`;
  return client.workflow.getHandle(run!.workflow_id);
};

let made = 0;

/** A node that does nothing, brought to manageable, or on to available. */
export const restingNode = async (
  system: System,
  client: Client,
  available = false,
  body: object = {},
): Promise<string> => {
  const name = `bench-run-${made++}`;
  const node = { driver: 'fake-hardware', name, automated_clean: false, ...body };
  const { uuid } = JSON.parse(await ask(system, 'POST', '/v1/nodes', node));
  await (await followed(system, client, uuid, { target: 'manage' })).result();
  // Has no steps, so the answer is its end.
  if (available) await ask(system, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'provide' });
  return uuid;
};
