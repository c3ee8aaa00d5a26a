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

/** The part of a tenant: requests about a node since it is its own. Of others' requests, only the granted ones. */
export type AuditPart = {
  /** Over `since_owner` and `since_lessee`. */
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
    of.action && sql`and action = ${of.action}`,
    of.verdict && sql`and verdict = ${of.verdict}`,
    of.request && sql`and request_id = ${of.request}`,
    of.since && sql`and at >= ${of.since}`,
    of.until && sql`and at < ${of.until}`,
    of.after && later(sql, of.after),
  ].filter((part): part is Fragment => typeof part === 'object');

/** A page by each of two indexes, without duplicates. */
const either = (sql: Db, by: readonly [Fragment, Fragment], of: AuditSelection, more: Fragment): Fragment => {
  const [one, other] = by.map(
    (condition) =>
      sql`(select ${columns(sql)} from audit ${conditions(sql, of)} and ${condition} ${more} ${newestFirst(sql)} ${roundLimit(sql, of.limit)})`,
  );
  return sql`select distinct on (at, seq) * from (${one!} union all ${other!}) either`;
};

const ofUser = (sql: Db, user: string): [Fragment, Fragment] => [
  sql`requester ->> 'user_id' = ${user}`,
  sql`requester ->> 'user_name' = ${user}`,
];
const ofProject = (sql: Db, project: string): [Fragment, Fragment] => [
  sql`project = ${project}`,
  sql`asked_by = ${project}`,
];

const byEither = (sql: Db, given: string | undefined, by: typeof ofUser): Fragment => {
  if (given === undefined) return sql``;
  const [one, other] = by(sql, given);
  return sql`and (${one} or ${other})`;
};

/**
 * After a hand-over, a former tenant reads nothing of the node, and its successor nothing of the time before, nor of the hand-over itself. A
 * lessee reads no acknowledgement, as in the list of incidents.
 */
const ofPart = (sql: Db, { visible, project }: AuditPart, of: AuditSelection): Fragment => sql`
  select ${columns(sql)} from (
    select audit.*, case when audit.at > n.owner_since then n.owner end as since_owner,
      case when audit.at > coalesce(n.lessee_since, l.started_at) and (audit.run_id is null or r.lease_id = n.lease_id)
        and audit.resource <> 'incident' then n.lessee end as since_lessee
    from (select * from audit ${conditions(sql, of)}
        ${byEither(sql, of.project, ofProject)} ${byEither(sql, of.user, ofUser)}) audit
      join nodes n on n.uuid = audit.node_uuid left join leases l on l.id = n.lease_id left join runs r on r.id = audit.run_id
  ) seen
  where ${conditionOf(sql, visible, 'seen')} and (verdict = 'granted' or asked_by = ${project})`;

const selected = (sql: Db, of: AuditSelection): Fragment => {
  const { part, project, user } = of;
  if (part) return ofPart(sql, part, of);
  if (project) return either(sql, ofProject(sql, project), of, byEither(sql, user, ofUser));
  if (user) return either(sql, ofUser(sql, user), of, sql``);
  return sql`select ${columns(sql)} from audit ${conditions(sql, of)}`;
};

type GrantedRow = {
  readonly action: string;
  readonly node_uuid: NodeUuid | null;
  /** Of a change of many nodes, in groups. */
  readonly nodes: readonly (readonly string[])[] | null;
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

  /** Rows of the request, without its refusals. */
  grantedOf: (request: string): Promise<GrantedRow[]> =>
    sql<GrantedRow[]>`
      select distinct action, node_uuid, data -> 'nodes' as nodes from audit where request_id = ${request} and verdict = 'granted'`,
});
