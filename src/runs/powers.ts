/** Read-only comparison of recorded power and BMC power in a recovery. */
import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { NodeRow } from '../inventory/nodes/nodes';
import { messageOf, raise } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import { type CallDeps, call } from './call';

export type PowerDeps = Omit<CallDeps, 'start' | 'callTimeoutMs'>;

const nodesAtOnce = 20;
// A slower BMC is listed as unread, because an operator waits for the list.
const withinMs = 15_000;
const allWithinMs = 45_000;

const requester = {
  user_id: null,
  user_name: null,
  project_id: null,
  system_scope: 'all',
  strategy: 'recovery',
} as const;

/** Reads through a worker of the node's group. Throws as `call`. */
const powerOf = (node: NodeRow, deps: PowerDeps): Promise<unknown> => {
  // No run id: a restore cannot have lost the workflow of a read.
  const asked = { requester: { ...requester, request_id: `recovery-${randomUUID()}` }, rule: '', rule_set: '' };
  const start = () => raise('Unexpected', { request_id: 'a look starts no run' });
  return call({ node, act: 'verify', args: {}, asked }, { ...deps, start, callTimeoutMs: withinMs });
};

const powerLine = async (uuid: NodeUuid, deps: PowerDeps): Promise<string | undefined> => {
  const node = await deps.inventory.nodes.find({ uuid });
  if (!node) return undefined;
  const [what, recorded] = [`node ${node.name ?? uuid}`, node.power_state ?? 'nothing of it'];
  const unread = (why: string) =>
    `${what}: its power could not be read from its BMC (the record says ${recorded}): ${why}`;
  if (!(await deps.inventory.workers.find(node.conductor_group, node.driver)))
    return unread('no worker of its group is there');
  try {
    const seen = await powerOf(node, deps);
    if (seen === node.power_state) return undefined;
    return typeof seen === 'string'
      ? `${what}: its BMC says ${seen}, the record says ${recorded}`
      : `${what}: its BMC does not say whether it is on; the record says ${recorded}`;
  } catch (thrown) {
    return unread(messageOf(thrown));
  }
};

/** @returns a line for each node whose BMC differs from the record or does not respond */
export const powerLines = async (nodes: readonly NodeUuid[], deps: PowerDeps): Promise<string[]> => {
  const limit = pLimit(nodesAtOnce);
  const deadline = performance.now() + allWithinMs;
  const unasked = (uuid: NodeUuid) => `node ${uuid}: its BMC was not asked, for many others did not answer in time`;
  const ask = (uuid: NodeUuid) =>
    performance.now() < deadline ? powerLine(uuid, deps) : Promise.resolve(unasked(uuid));
  const lines = await Promise.all([...new Set(nodes)].map((uuid) => limit(ask, uuid)));
  return lines.filter((line) => line !== undefined);
};
