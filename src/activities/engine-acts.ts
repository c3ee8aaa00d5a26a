/** Records of acts from Temporal's tools, which identify no requester. */
import type { Queries } from '../inventory';
import { raise } from '../model/errors';
import type { RecordedAct } from '../model/runs/run-acts';
import type { Lock, Requester } from '../model/runs/runs';

const engineRequester = (lock: Lock): Requester => ({
  user_id: null,
  user_name: null,
  project_id: null,
  system_scope: null,
  strategy: 'temporal-ui',
  request_id: `temporal-ui:${lock.run}`,
});

/**
 * Fenced, because a displaced run is cancelled by the next run and not by an operator. `by` is unverified.
 * Throws StaleOperation.
 */
export const recordEngineAct = async (
  store: Queries,
  lock: Lock,
  { act, by, reason }: { act: RecordedAct; by: string; reason: string },
): Promise<void> => {
  const { node_uuid, run: run_id } = lock;
  if (!(await store.runs.held(lock))) raise('StaleOperation', { node: node_uuid, run: run_id });
  const data = { via: 'temporal-ui', ...(by && { by_claim: by }), ...(reason && { reason }) };
  await store.audit.write({
    requester: engineRequester(lock),
    action: `run.${act}`,
    rule: null,
    rule_set: null,
    resource: 'node',
    resource_id: node_uuid,
    run_id,
    data,
  });
  const run = await store.runs.find(run_id);
  await store.events.append({ kind: `run.${act}`, node_uuid, run_id, project: run?.owner, lessee: run?.lessee, data });
};
