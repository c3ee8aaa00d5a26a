/** Queries of the audit trail: who asked for which change, by which rule, and what became of it. */

import type { RunUuid } from '../model/ids';
import type { AuditOutcome, Origin } from '../model/resources/audit';
import { recorded } from '../model/resources/recorded';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf } from './database';

/** What every row of the audit trail says. */
export type AuditFacts = {
  readonly requester: Requester;
  /** Resource and act, such as `node.update`; method and path of the route where a handler wrote nothing. */
  readonly action: string;
  readonly rule: string | null;
  readonly rule_set: string | null;
  readonly resource: string;
  /** What the caller named, which need not exist where no handler wrote the row. */
  readonly resource_id: string;
};

export type AuditRow = AuditFacts & {
  readonly origin?: Origin;
  /** The node it concerns; taken from the resource where that is one. */
  readonly node_uuid?: string | null;
  /** The project that owns that node; looked up when it is not given. */
  readonly project?: string | null;
  readonly run_id?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** A request that a handler wrote nothing about: refused, failed, or granted without a change of its own. */
export type RequestRow = AuditFacts & {
  readonly origin: Origin;
  readonly verdict: AuditOutcome;
  readonly code: string | null;
  /** The node that was named, if it was one. */
  readonly node: NodeIdent | null;
  /** Of a run that is named so. */
  readonly run_id: RunUuid | null;
  readonly times: number;
};

/**
 * The statement that writes the row of a change; also part of a larger statement.
 * @param changed name of a part of that statement: the row is written where it has one, once for each
 */
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
  /** Belongs into the transaction of the change it records. */
  async write(row: AuditRow): Promise<void> {
    await auditInsert(sql, row);
  },

  /** Writes the row of a request unless its handler has written one. Node and owner are looked up by what was named. */
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
   * Makes the months to come and drops those that lie more than `months` back; 0 keeps all. Only the control workers' role
   * may, and what the owner of the database wants kept stays. @returns how many were dropped
   */
  async keep(months: number): Promise<number> {
    const [row] = await sql<{ dropped: number }[]>`select audit_keep(${months}) as dropped`;
    return row!.dropped;
  },
});

export type NodeIdent = { readonly uuid: string } | { readonly name: string };
