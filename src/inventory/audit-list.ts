/** Pages of the audit trail, newest first. */
import type { NodeUuid, RunUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { AuditOutcome, Origin } from '../model/resources/audit';
import type { AuditFacts } from './audit';
import type { Db, Fragment } from './database';
import { firstRows, roundLimit } from './first-rows';
import { conditionOf } from './predicates';

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

/** The part of a tenant: requests about nodes that were its own at that time. Of others' requests, only the granted ones. */
export type AuditPart = {
  /** Over `then_owner` and `then_lessee`. */
  readonly visible: Predicate;
  readonly project: string | null;
};

export type AuditSelection = {
  readonly node?: NodeUuid;
  /** Needs `node`, whose index finds the rows. */
  readonly part?: AuditPart;
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

/** The lease of the row's time, so that a former tenant reads nothing of its successors, nor they of it. */
const ofPart = (sql: Db, { visible, project }: AuditPart, of: AuditSelection): Fragment => sql`
  select ${columns(sql)} from (
    select audit.*, audit.project as then_owner, (
      select l.project from leases l
      where l.node_uuid = audit.node_uuid and l.started_at <= audit.at and coalesce(l.ended_at, 'infinity') > audit.at
      order by l.started_at desc limit 1) as then_lessee
    from audit ${conditions(sql, of)}
      ${of.project ? sql`and ${of.project} in (audit.project, audit.asked_by)` : sql``}
  ) seen
  where ${conditionOf(sql, visible, 'seen')} and (verdict = 'granted' or asked_by = ${project})`;

const selected = (sql: Db, of: AuditSelection): Fragment => {
  if (of.part) return ofPart(sql, of.part, of);
  if (of.project) return ofProject(sql, of.project, of);
  return sql`select ${columns(sql)} from audit ${conditions(sql, of)}`;
};

export const auditList = (sql: Db) => ({
  async page(of: AuditSelection): Promise<AuditEntry[]> {
    return sql<AuditEntry[]>`${firstRows(sql, selected(sql, of), newestFirst(sql), of.limit)}`;
  },

  /** Searches from the newest month. */
  async placeOf(seq: number): Promise<AuditPlace | undefined> {
    const [place] = await sql<
      AuditPlace[]
    >`select at::text, seq from audit where seq = ${seq} order by audit.at desc limit 1`;
    return place;
  },

  /** Undefined for a row outside the part. */
  async placeIn(part: AuditPart, node: NodeUuid, seq: number): Promise<AuditPlace | undefined> {
    const [place] = await sql<AuditPlace[]>`
      select place.at::text, place.seq from (${ofPart(sql, part, { node, limit: 1 })}) place where place.seq = ${seq}`;
    return place;
  },

  /** Nodes that the request has changed. */
  async nodesOf(request: string): Promise<NodeUuid[]> {
    const rows = await sql<{ node_uuid: NodeUuid }[]>`
      select distinct node_uuid from audit
      where request_id = ${request} and verdict = 'granted' and node_uuid is not null`;
    return rows.map(({ node_uuid }) => node_uuid);
  },
});
