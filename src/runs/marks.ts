/** The mark that PostgreSQL and Temporal share: comparison and update. */

import { randomUUID } from 'node:crypto';
import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import type { Inventory } from '../inventory';
import type { Log } from '../model/log';
import { type EngineMark, markIn, noteOf, suspicionOf } from '../model/runs/recovery';
import { reconcileId } from '../workflows/contract';

export type MarkDeps = {
  readonly inventory: Inventory;
  readonly client: Client;
  readonly log: Log;
  readonly queuePrefix: string;
};

const answerWithin = 5_000;

/**
 * The mark is the note of a schedule, because a schedule is lost and restored with Temporal's other state.
 * An earlier release's schedule starts a workflow every minute, so it is paused.
 */
const engineMarks = ({ client, queuePrefix }: MarkDeps) => {
  const schedule = client.schedule.getHandle(reconcileId(queuePrefix));
  const within = <T>(work: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + answerWithin, work);
  return {
    async read(): Promise<EngineMark | undefined> {
      try {
        return markIn((await within(() => schedule.describe())).state.note);
      } catch (thrown) {
        if (thrown instanceof ScheduleNotFoundError) return undefined;
        throw thrown;
      }
    },
    write: (mark: EngineMark): Promise<void> =>
      within(() =>
        schedule.update((now) => ({ ...now, spec: {}, state: { ...now.state, paused: true, note: noteOf(mark) } })),
      ),
  };
};

/**
 * Begins the freeze if either side was restored from a backup.
 * @param advance writes a new mark if both match; the schedule must exist
 * @returns whether work may continue
 */
export const detectRestore = async (deps: MarkDeps, advance: boolean): Promise<boolean> => {
  const { recovery } = deps.inventory;
  const engine = engineMarks(deps);
  const standing = await recovery.current();
  const [store, cluster, theirs] = [await recovery.mark(), await recovery.cluster(), await engine.read()];
  const suspicion = suspicionOf(store, cluster, theirs);
  if (suspicion && (await recovery.enter(suspicion)))
    deps.log.warn('store and engine do not belong together: nothing is written to BMCs; see temper recover', suspicion);
  if (suspicion || standing) return false;
  if (!advance) return true;
  const next = { count: Math.max(store.count, theirs?.count ?? 0) + 1, mark: randomUUID() };
  await recovery.advance({ ...cluster, ...next, seen: theirs?.mark ?? null });
  await engine.write(next);
  if ((await engine.read())?.mark === next.mark) await recovery.seen(next.mark);
  return true;
};
