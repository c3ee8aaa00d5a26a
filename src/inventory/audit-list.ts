/** A page of the audit trail, newest first. */
import type { PendingQuery, Row } from 'postgres';
import type { NodeUuid, RunUuid } from '../model/ids';
import type { AuditOutcome, Origin } from '../model/resources/audit';
import type { AuditFacts } from './audit';
import type { Db } from './database';

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

export type AuditSelection = {
  readonly node?: NodeUuid;
  /** What the project asked for, and what was asked of nodes that it owned then. */
  readonly project?: string;
  readonly run?: RunUuid;
  readonly user?: string;
  readonly action?: string;
  readonly verdict?: AuditOutcome;
  readonly request?: string;
  /** From this moment on. */
  readonly since?: Date;
  /** Before this moment. */
  readonly until?: Date;
  readonly limit: number;
  /** The `seq` of the row that the page follows. */
  readonly after?: number;
};

type Fragment = PendingQuery<Row[]>;

export const auditList = (sql: Db) => {
  const conditions = (of: AuditSelection): Fragment[] =>
    [
      sql`where true`, // an empty list would be a value
      of.node && sql`and node_uuid = ${of.node}`,
      of.project && sql`and (project = ${of.project} or asked_by = ${of.project})`,
      of.run && sql`and run_id = ${of.run}`,
      of.user && sql`and ${of.user} in (requester ->> 'user_id', requester ->> 'user_name')`,
      of.action && sql`and action = ${of.action}`,
      of.verdict && sql`and verdict = ${of.verdict}`,
      of.request && sql`and request_id = ${of.request}`,
      of.since && sql`and at >= ${of.since}`,
      of.until && sql`and at < ${of.until}`,
      of.after !== undefined && sql`and seq < ${of.after}`,
    ].filter((part): part is Fragment => typeof part === 'object');
  return {
    async page(of: AuditSelection): Promise<AuditEntry[]> {
      return sql<AuditEntry[]>`
        select seq, at, requester, origin, action, verdict, rule, rule_set, code, resource, resource_id, node_uuid, project,
          run_id, times, data
        from audit ${conditions(of)} order by seq desc limit ${of.limit}`;
    },

    /** Whether there is such a row. */
    async has(seq: number): Promise<boolean> {
      return (await sql`select 1 from audit where seq = ${seq}`).length > 0;
    },
  };
};
