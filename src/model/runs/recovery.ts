/** Whether database and workflow engine belong together, by a mark that both carry and that is moved on every minute. */

/** Where a Postgres cluster's data comes from: another cluster has another id, a restore to a point in time another timeline. */
export type Cluster = { readonly system_id: string; readonly timeline: number };

/** What the engine carries. */
export type EngineMark = { readonly count: number; readonly mark: string };

/** What the database carries; nulls before the first time. `seen` is the last mark that the engine was seen to have. */
export type StoreMark = {
  readonly system_id: string | null;
  readonly timeline: number | null;
  readonly count: number;
  readonly mark: string | null;
  readonly seen: string | null;
};

/** Which of both is older than the other. */
export type OlderSide = 'store' | 'engine' | 'unknown';
export type Suspicion = { readonly side: OlderSide; readonly reason: string };

/** The text of a mark, as a note in the engine. */
export const noteOf = ({ count, mark }: EngineMark): string => `temper-mark ${count} ${mark}`;

/** The mark in a note; undefined where there is none. */
export const markIn = (note: string | undefined): EngineMark | undefined => {
  const found = /^temper-mark (\d+) ([0-9a-f-]{36})$/.exec(note ?? '');
  return found ? { count: Number(found[1]), mark: found[2]! } : undefined;
};

/**
 * Why one of both was restored from a backup; undefined where they belong together. An engine without a mark is new or has lost
 * its store: runs go on from their record then, which needs no person.
 */
export const suspicionOf = (
  store: StoreMark,
  cluster: Cluster,
  engine: EngineMark | undefined,
): Suspicion | undefined => {
  if (store.mark === null) return undefined;
  if (store.system_id !== cluster.system_id)
    return { side: 'store', reason: 'the database is in another Postgres cluster than before' };
  if (store.timeline !== cluster.timeline)
    return { side: 'store', reason: 'Postgres was restored to a point in time, or a standby took over' };
  if (!engine || engine.mark === store.mark || engine.mark === store.seen) return undefined;
  if (engine.count > store.count)
    return { side: 'store', reason: 'the database is older than the workflow engine: it was restored from a backup' };
  if (engine.count < store.count)
    return { side: 'engine', reason: 'the workflow engine is older than the database: it was restored from a backup' };
  return { side: 'unknown', reason: 'database and workflow engine went on apart from each other' };
};

/** What an operator may declare restored, whether or not the marks show it. `both` are set back, perhaps to different moments. */
export const restorable = ['store', 'engine', 'both'] as const;
export type Restorable = (typeof restorable)[number];

const restoredReasons: Readonly<Record<Restorable, string>> = {
  store: 'an operator says that the database was restored from a backup',
  engine: 'an operator says that the workflow engine was restored from a backup',
  both: 'an operator says that database and workflow engine were restored from backups',
};

/** A restore that an operator has declared. */
export const restored = (what: Restorable): Suspicion => ({
  side: what === 'both' ? 'unknown' : what,
  reason: restoredReasons[what],
});
