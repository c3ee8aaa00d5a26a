/** The fence: the one piece of SQL behind which every statement stands that only the holder of a node may make. */
import type { PendingQuery } from 'postgres';
import type { Lock } from '../model/runs/runs';
import type { Db } from './database';

/** The lock as one attempt of an act holds it; `token` is what `begin` gave to that attempt. */
export type ActLock = Lock & { readonly token: string };

/** A run's lock, or an attempt's, which holds less long. */
export type Fenced = Lock | ActLock;

/** An attempt as the engine distinguishes it from others of the same run. */
export type Attempt = {
  /** Id of the workflow's execution. */
  readonly execution: string;
  /** The engine's name of the act, one for all its attempts. */
  readonly activity: string;
  readonly attempt: number;
  /** Which act of its execution it is, counted from 1. */
  readonly nth: number;
  /** When the engine asked for it: epoch milliseconds of the engine's clock. */
  readonly asked_at: number;
};

/** A part of a statement. */
export type SqlPart = PendingQuery<readonly (object | undefined)[]>;

const held = (sql: Db, lock: Lock): SqlPart => sql`
  from nodes n join runs r on r.id = n.reservation
  where n.uuid = ${lock.node_uuid} and n.reservation = ${lock.run} and n.fence = ${lock.fence} and r.finished_at is null`;

/**
 * The node that a lock holds, as `n` with its run as `r`; no row where another run or a later attempt does. Both rows stay
 * locked until the transaction ends, so that a statement waits for one that changes the holder and then finds no row.
 * @param columns of the node, to select
 */
export const heldBy = (sql: Db, lock: Fenced, columns = ['uuid', 'owner', 'lessee']): SqlPart => sql`
  select ${sql(columns.map((name) => `n.${name}`))} ${held(sql, lock)}
    ${'token' in lock ? sql`and r.act_token = ${lock.token}` : sql``}
  for no key update of n, r`;

/** The same for a statement that only reads: nothing is locked, so that its commit writes nothing. */
export const readableBy = (sql: Db, lock: Lock): SqlPart => sql`select r.workflow_run_id, r.act_nth ${held(sql, lock)}`;

/**
 * The same for an attempt that begins: no row where a later one has begun, or an abort has cut its act short. An execution that
 * asks for an earlier act than the record has is an older state of it, from a restored store of the engine: no row either. Attempts of one act and acts of one execution are
 * counted, so that a clock that was set back stops nothing; the engine's clock decides where counting cannot: an operator has
 * reset the activity or the workflow.
 */
export const beginnable = (
  sql: Db,
  lock: Lock,
  { execution, activity, attempt, nth, asked_at }: Attempt,
): SqlPart => sql`
  select n.uuid, n.owner, n.lessee ${held(sql, lock)}
    and r.act_cut < ${nth}
    and (r.workflow_run_id is distinct from ${execution} or r.act_nth <= ${nth})
    and (r.act_at is null or r.act_at < to_timestamp(${asked_at} / 1000.0)
      or (r.workflow_run_id = ${execution}
        and (r.act_nth < ${nth} or (r.act_id = ${activity} and r.act_attempt <= ${attempt}))))
  for no key update of n, r`;
