/** The fence: the SQL that lets only the holder of a node write. */
import type { PendingQuery } from 'postgres';
import type { Lock } from '../model/runs/runs';
import type { Db } from './database';

/** `begin` sets the `token` of an attempt. */
export type ActLock = Lock & { readonly token: string };

/** An attempt's lock ends before its run's. */
export type Fenced = Lock | ActLock;

/** Temporal's identification of an attempt. */
export type Attempt = {
  readonly execution: string;
  /** The same for all attempts of an act. */
  readonly activity: string;
  readonly attempt: number;
  /** Number of the act in its execution, from 1. */
  readonly nth: number;
  /** Temporal's clock when it scheduled the act, in epoch milliseconds. */
  readonly asked_at: number;
};

export type SqlPart = PendingQuery<readonly (object | undefined)[]>;

const held = (sql: Db, lock: Lock): SqlPart => sql`
  from nodes n join runs r on r.id = n.reservation
  where n.uuid = ${lock.node_uuid} and n.reservation = ${lock.run} and n.fence = ${lock.fence} and r.finished_at is null`;

/**
 * The node that a lock holds as `n`, and its run as `r`; no row if another run or a later attempt holds it. Locks both rows until the
 * transaction ends: a statement waits for a change of the holder, then finds no row.
 * @param columns of the node, to select
 */
export const heldBy = (sql: Db, lock: Fenced, columns = ['uuid', 'owner', 'lessee']): SqlPart => sql`
  select ${sql(columns.map((name) => `n.${name}`))} ${held(sql, lock)}
    ${'token' in lock ? sql`and r.act_token = ${lock.token}` : sql``}
  for no key update of n, r`;

/** For reads: without locks, so that the commit writes nothing. */
export const readableBy = (sql: Db, lock: Lock): SqlPart => sql`select r.workflow_run_id, r.act_nth ${held(sql, lock)}`;

/**
 * For an attempt that begins: no row if a later one has begun, or an abort has cut the act. No row either for an earlier act than the
 * recorded one: its execution comes from a restored Temporal database. Acts and attempts are compared by number, so that a clock set back
 * stops nothing. After an operator's reset of the activity or workflow, only Temporal's clock orders them.
 * @param may further condition; without it no row is locked
 */
export const beginnable = (
  sql: Db,
  lock: Lock,
  { execution, activity, attempt, nth, asked_at }: Attempt,
  may: SqlPart,
): SqlPart => sql`
  select n.uuid, n.owner, n.lessee ${held(sql, lock)}
    and ${may}
    and r.act_cut < ${nth}
    and (r.workflow_run_id is distinct from ${execution} or r.act_nth <= ${nth})
    and (r.act_at is null or r.act_at < to_timestamp(${asked_at} / 1000.0)
      or (r.workflow_run_id = ${execution}
        and (r.act_nth < ${nth} or (r.act_id = ${activity} and r.act_attempt <= ${attempt}))))
  for no key update of n, r`;
