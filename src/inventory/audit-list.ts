/** Pages of the audit trail, newest first. */
import type { NodeUuid, RunUuid } from '../model/ids';
import type { AuditOutcome, Origin } from '../model/resources/audit';
import type { AuditFacts } from './audit';
import type { Db, Fragment } from './database';
import { firstRows, roundLimit } from './first-rows';

export type AuditEntry = AuditFacts & {
  readonly seq: number;
  readonly at: Date;
  readonly origin: Origin;
  readonly verdict: AuditOutcome;
  readonly code: string | null;
  readonly node_uuid: NodeUuid | null;
  readonly project: string | null;
  readonly run_id: RunUuid | null;
  readonly times: number;
  readonly data: Readonly<Record<string, unknown>>;
};

/** `at` is PostgreSQL's text, with microseconds. */
export type AuditPlace = { readonly at: string; readonly seq: number };

export type AuditSelection = {
  readonly node?: NodeUuid;
  /** Requests by the project, and about nodes that it owned then. */
  readonly project?: string;
  readonly run?: RunUuid;
  readonly user?: string;
  readonly action?: string;
  readonly verdict?: AuditOutcome;
  readonly request?: string;
  /** Inclusive. */
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: AuditPlace;
};

/** By the partition column, so that older months are read only if needed. */
const newestFirst = (sql: Db): Fragment => sql`order by at desc, seq desc`;

const columns = (sql: Db): Fragment => sql`
  seq, at, requester, origin, action, verdict, rule, rule_set, code, resource, resource_id, node_uuid, project, run_id, times, data`;

/** The second condition excludes partitions. */
const later = (sql: Db, { at, seq }: AuditPlace): Fragment => {
  const moment = sql`${at}::text::timestamptz`;
  return sql`and (at, seq) < (${moment}, ${seq}) and at <= ${moment}`;
};

const conditions = (sql: Db, of: AuditSelection): Fragment[] =>
  [
    sql`where true`, // an empty list would be a value
    of.node && sql`and node_uuid = ${of.node}`,
    of.run && sql`and run_id = ${of.run}`,
    of.user && sql`and ${of.user} in (requester ->> 'user_id', requester ->> 'user_name')`,
    of.action && sql`and action = ${of.action}`,
    of.verdict && sql`and verdict = ${of.verdict}`,
    of.request && sql`and request_id = ${of.request}`,
    of.since && sql`and at >= ${of.since}`,
    of.until && sql`and at < ${of.until}`,
    of.after && later(sql, of.after),
  ].filter((part): part is Fragment => typeof part === 'object');

/** A page by each of two indexes, without duplicates. */
const ofProject = (sql: Db, project: string, of: AuditSelection): Fragment => {
  const [owned, asked] = [sql`project = ${project}`, sql`asked_by = ${project}`].map(
    (by) =>
      sql`(select ${columns(sql)} from audit ${conditions(sql, of)} and ${by} ${newestFirst(sql)} ${roundLimit(sql, of.limit)})`,
  );
  return sql`select distinct on (at, seq) * from (${owned!} union all ${asked!}) either`;
};

export const auditList = (sql: Db) => ({
  async page(of: AuditSelection): Promise<AuditEntry[]> {
    const rows = of.project
      ? ofProject(sql, of.project, of)
      : sql`select ${columns(sql)} from audit ${conditions(sql, of)}`;
    return sql<AuditEntry[]>`${firstRows(sql, rows, newestFirst(sql), of.limit)}`;
  },

  /** Searches from the newest month. */
  async placeOf(seq: number): Promise<AuditPlace | undefined> {
    const [place] = await sql<
      AuditPlace[]
    >`select at::text, seq from audit where seq = ${seq} order by audit.at desc limit 1`;
    return place;
  },
});
