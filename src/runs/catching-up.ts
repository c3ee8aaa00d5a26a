/** After a restore of the database: updates a run's record to the position of its workflow. */
import type { Inventory, Queries } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import { forgets } from '../model/lifecycle/states';
import { endedStates, type Lock } from '../model/runs/runs';
import type { Projected } from '../workflows/contract';

const passed = 'Over before the restore; how it ended is not in the restored database.';

export type KnownRamdisk = 'known' | 'lost' | 'booted before';

const lockOf = ({ id, node_uuid, fence }: RunRow): Lock => ({ run: id, node_uuid, fence });

/**
 * `lost`: the ramdisk may have done its lookup since the backup, so its token is not on record.
 * `booted before`: the record is of an earlier boot.
 */
export const ramdiskOf = async (
  run: RunRow,
  { awaits, contactSeq }: Projected,
  { runs, agents, contacts }: Queries,
): Promise<KnownRamdisk> => {
  const ofThisBoot = ((await runs.seqOf(lockOf(run))) ?? 0) >= contactSeq;
  const agent = await agents.find(run.node_uuid);
  if (awaits === 'heartbeat') return agent && ofThisBoot ? 'known' : 'lost';
  if (awaits) return ofThisBoot && (await contacts.there(lockOf(run), awaits)) ? 'known' : 'lost';
  return agent && !ofThisBoot ? 'booted before' : 'known';
};

/** Before the ramdisk's own steps have joined the plan, a restarted execution fetches them again. */
const hasJoined = ({ steps, cursor }: Projected): boolean =>
  steps.some(({ index, acts }) => index < cursor && acts.some(({ act }) => act === 'agent_steps'));

const catchUpSteps = async (lock: Lock, now: Projected, { runs, runSteps }: Queries): Promise<void> => {
  await runSteps.renew(lock, now.steps);
  if (now.ending) return runs.endsAs(lock, now.ending);
  if (hasJoined(now)) await runs.replan(lock, now.steps);
  await runSteps.passed(lock, now.cursor, passed);
};

/**
 * Leaves a record that is newer than the workflow's answer. An equal sequence number does not prove an equal record.
 * The last write may have come after the restore, while the node's state was written before the restore and is missing.
 */
const catchUpState = async (lock: Lock, now: Projected, store: Queries): Promise<void> => {
  const node = await store.runs.held(lock);
  if (!node || ((await store.runs.seqOf(lock)) ?? 0) > now.seq) return;
  if (await store.runs.advance(lock, now.seq, now.state, now.waitingFor)) {
    if (now.state === 'waiting' || now.state === 'parked')
      await store.runSteps.mark(lock, now.cursor, now.state, { error: now.error });
    await store.contacts.await(lock, now.awaits);
  }
  const { provision_state: from, owner: project, lessee } = node;
  const to = now.provision_state;
  if (!to || to === from) return;
  const forgotten = forgets(from, to);
  await store.runs.moveNode(lock, to, forgotten);
  if (forgotten) await store.secrets.dropUnused(lock.node_uuid);
  const data = { from, to, by: 'recovery' };
  await store.events.append({ kind: 'node.moved', node_uuid: lock.node_uuid, run_id: lock.run, project, lessee, data });
};

/** Updates an open run. A ramdisk of another boot is forgotten, because its token is useless. */
export const catchUp = (
  run: RunRow,
  now: Projected,
  ramdisk: KnownRamdisk,
  inventory: Pick<Inventory, 'transaction'>,
): Promise<void> =>
  inventory.transaction(async (store) => {
    const lock = lockOf(run);
    if (endedStates.includes(now.state) || !(await store.runs.held(lock))) return;
    if (ramdisk !== 'known') await store.agents.forget(lock.node_uuid);
    await catchUpSteps(lock, now, store);
    await catchUpState(lock, now, store);
  });
