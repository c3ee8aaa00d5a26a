/** Queries of the audit trail: requester, change, rule and outcome. */

import type { RunUuid } from '../model/ids';
import type { AuditOutcome, Origin } from '../model/resources/audit';
import { recorded } from '../model/resources/recorded';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf } from './database';

export type AuditFacts = {
  readonly requester: Requester;
  /** For example `node.update`. Method and path of the route if no handler wrote the row. */
  readonly action: string;
  readonly rule: string | null;
  readonly rule_set: string | null;
  readonly resource: string;
  /** As named by the caller. It may not exist if no handler wrote the row. */
  readonly resource_id: string;
};

export type AuditRow = AuditFacts & {
  readonly origin?: Origin;
  /** Default: the resource, if it is a node. */
  readonly node_uuid?: string | null;
  /** Owner of the node; looked up if undefined. */
  readonly project?: string | null;
  readonly run_id?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** A request without a handler's row: refused, failed, or granted without a change. */
export type RequestRow = AuditFacts & {
  readonly origin: Origin;
  readonly verdict: AuditOutcome;
  readonly code: string | null;
  readonly node: NodeIdent | null;
  readonly run_id: RunUuid | null;
  readonly times: number;
};

/** The INSERT of an audit row, also as part of a larger statement. @param changed a part of that statement: one audit row per row of it */
export const auditInsert = (sql: Db, row: AuditRow, changed?: string) => {
  const node = row.node_uuid ?? (row.resource === 'node' ? row.resource_id : null);
  const project =
    row.project === undefined ? sql`(select owner from nodes where uuid = ${node}::uuid)` : sql`${row.project}::text`;
  return sql`
    insert into audit (requester, origin, action, rule, rule_set, resource, resource_id, node_uuid, project, run_id, data)
    select ${jsonOf(sql, row.requester)}, ${jsonOf(sql, row.origin ?? {})}, ${row.action}, ${row.rule},
      ${row.rule_set}, ${row.resource}, ${row.resource_id}, ${node}, ${project}, ${row.run_id ?? null},
      ${jsonOf(sql, recorded(row.data ?? {}))} ${changed === undefined ? sql`` : sql`from ${sql(changed)}`}`;
};

export const audit = (sql: Db) => ({
  /** Call it in the transaction of the change. */
  async write(row: AuditRow): Promise<void> {
    await auditInsert(sql, row);
  },

  /** Writes no row if the request's handler has. Looks up node and owner. */
  async writeRequest(row: RequestRow): Promise<void> {
    const { uuid = null, name = null } = (row.node ?? {}) as { uuid?: string; name?: string };
    await sql`
      insert into audit (requester, origin, action, verdict, rule, rule_set, code, resource, resource_id, node_uuid, project,
        run_id, times)
      select ${jsonOf(sql, row.requester)}, ${jsonOf(sql, row.origin)}, ${row.action}, ${row.verdict}, ${row.rule},
        ${row.rule_set}, ${row.code}, ${row.resource}, ${row.resource_id}, named.uuid, named.owner, ${row.run_id}, ${row.times}
      from (values (1)) one
      left join lateral (
        select uuid, owner from nodes
        where uuid = ${uuid} or name = ${name} or uuid = (select node_uuid from runs where id = ${row.run_id})
        limit 1
      ) named on true
      where not exists (
        select 1 from audit where request_id = ${row.requester.request_id} and at > now() - interval '1 day')`;
  },

  /**
   * Makes coming months and drops those more than `months` back; 0 keeps all. The database owner's minimum stays. Control workers' role
   * only. @returns the number dropped
   */
  async keep(months: number): Promise<number> {
    const [row] = await sql<{ dropped: number }[]>`select audit_keep(${months}) as dropped`;
    return row!.dropped;
  },
});

export type NodeIdent = { readonly uuid: string } | { readonly name: string };
