/** Runs and events as rows, for tests of what is read from them. */
import { randomUUID } from 'node:crypto';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { TestApi } from './api';
import { lessee, owner } from './world';

export type SeenRun = { readonly node: NodeUuid; readonly run: RunUuid };

/** A node under lease with a run that goes on, of the verb given. */
export const runningRun = async (api: TestApi, values: Readonly<Record<string, unknown>> = {}): Promise<SeenRun> => {
  const [node] = await api.sql<{ uuid: NodeUuid; lease_id: string }[]>`
    insert into nodes (driver, provision_state, owner, lessee) values ('fake-hardware', 'active', ${owner}, ${lessee}) returning uuid`;
  const [lease] = await api.sql<{ lease_id: string }[]>`select lease_id from nodes where uuid = ${node!.uuid}`;
  const run = randomUUID() as RunUuid;
  const requester = {
    user_id: 'u-1',
    user_name: 'asker',
    project_id: lessee,
    strategy: 'keystone',
    request_id: 'req-1',
  };
  await api.sql`
    insert into runs ${api.sql({
      id: run,
      node_uuid: node!.uuid,
      fence: 1,
      kind: 'service',
      verb: 'service',
      state: 'running',
      input: api.sql.json({}),
      owner,
      lessee,
      lease_id: lease!.lease_id,
      requester: api.sql.json(requester as never),
      rule_set: 'abc',
      workflow_id: `wf-${run}`,
      provision_state_before: 'active',
      target: 'active',
      ...values,
    } as never)}`;
  return { node: node!.uuid, run };
};

/** Appends an event. @returns its number */
export const happened = async (
  api: TestApi,
  { node, run }: { node: NodeUuid; run: RunUuid | null },
  kind: string,
  data: Readonly<Record<string, unknown>> = {},
  at = new Date(),
): Promise<number> => {
  const [row] = await api.sql<{ seq: number }[]>`
    insert into events (kind, node_uuid, run_id, project, lessee, data, at)
    values (${kind}, ${node}, ${run}, ${owner}, ${lessee}, ${api.sql.json(data as never)}, ${at}) returning seq`;
  return Number(row!.seq);
};

/** Ends a run as its last event does. */
export const endRun = async (api: TestApi, seen: SeenRun, state = 'succeeded'): Promise<number> => {
  await api.sql`update runs set state = ${state}, finished_at = now() where id = ${seen.run}`;
  return happened(api, seen, `run.${state}`, { from: 'servicing', to: 'active', error: null });
};
