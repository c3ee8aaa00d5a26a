/** Detects a restored PostgreSQL or Temporal by a mark in both, which advances every minute. */

/** Another cluster has another id, and a point-in-time restore another timeline. */
export type Cluster = { readonly system_id: string; readonly timeline: number };

export type EngineMark = { readonly count: number; readonly mark: string };

/** Nulls before the first mark. `seen` is the last mark that was read from Temporal. */
export type StoreMark = {
  readonly system_id: string | null;
  readonly timeline: number | null;
  readonly count: number;
  readonly mark: string | null;
  readonly seen: string | null;
};

export type OlderSide = 'store' | 'engine' | 'unknown';
export type Suspicion = { readonly side: OlderSide; readonly reason: string };

export const noteOf = ({ count, mark }: EngineMark): string => `temper-mark ${count} ${mark}`;

export const markIn = (note: string | undefined): EngineMark | undefined => {
  const found = /^temper-mark (\d+) ([0-9a-f-]{36})$/.exec(note ?? '');
  return found ? { count: Number(found[1]), mark: found[2]! } : undefined;
};

/**
 * The reason to assume a restore. A Temporal without a mark is new or has lost its database: runs then resume from their records,
 * without an operator.
 */
export const suspicionOf = (
  store: StoreMark,
  cluster: Cluster,
  engine: EngineMark | undefined,
): Suspicion | undefined => {
  if (store.mark === null) return undefined;
  if (store.system_id !== cluster.system_id)
    return { side: 'store', reason: 'the database is in another PostgreSQL cluster than before' };
  if (store.timeline !== cluster.timeline)
    return { side: 'store', reason: 'PostgreSQL was restored to a point in time, or a standby took over' };
  if (!engine || engine.mark === store.mark || engine.mark === store.seen) return undefined;
  if (engine.count > store.count)
    return { side: 'store', reason: 'the database is older than the workflow engine: it was restored from a backup' };
  if (engine.count < store.count)
    return { side: 'engine', reason: 'the workflow engine is older than the database: it was restored from a backup' };
  return { side: 'unknown', reason: 'database and workflow engine went on apart from each other' };
};

/** Restores that an operator may declare, even without different marks. `both` may be restored to different moments. */
export const restorable = ['store', 'engine', 'both'] as const;
export type Restorable = (typeof restorable)[number];

const restoredReasons: Readonly<Record<Restorable, string>> = {
  store: 'an operator says that the database was restored from a backup',
  engine: 'an operator says that the workflow engine was restored from a backup',
  both: 'an operator says that database and workflow engine were restored from backups',
};

export const restored = (what: Restorable): Suspicion => ({
  side: what === 'both' ? 'unknown' : what,
  reason: restoredReasons[what],
});
