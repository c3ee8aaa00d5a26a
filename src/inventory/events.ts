/** The append-only record: what happened to nodes and runs, and who changed what by which rule. */
import type { ProjectId } from '../model/ids';
import type { Requester } from '../model/runs';
import type { Db } from './database';

export type EventRow = {
  readonly kind: string;
  readonly node_uuid?: string | null;
  readonly run_id?: string | null;
  readonly project?: ProjectId | null;
  readonly lessee?: ProjectId | null;
  /** Facts with the wire's field names; never a secret. */
  readonly data?: Readonly<Record<string, unknown>>;
};

export type AuditRow = {
  readonly requester: Requester;
  /** Resource and act, such as `node.update`. */
  readonly action: string;
  readonly rule: string | null;
  readonly rule_set: string | null;
  readonly resource: string;
  readonly resource_id: string;
  readonly run_id?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** The statement that appends an event; also part of a larger statement, where a change and its record go in one. */
export const eventInsert = (sql: Db, row: EventRow) => sql`
  insert into events (kind, node_uuid, run_id, project, lessee, data) values (
      ${row.kind}, ${row.node_uuid ?? null}, ${row.run_id ?? null}, ${row.project ?? null}, ${row.lessee ?? null},
      ${sql.json((row.data ?? {}) as never)})`;

/** The statement that writes an audit row, likewise. */
export const auditInsert = (sql: Db, row: AuditRow) => sql`
  insert into audit (requester, action, rule, rule_set, resource, resource_id, run_id, data) values (
      ${sql.json(row.requester as never)}, ${row.action}, ${row.rule}, ${row.rule_set}, ${row.resource}, ${row.resource_id},
      ${row.run_id ?? null}, ${sql.json((row.data ?? {}) as never)})`;

export const events = (sql: Db) => ({
  async append(row: EventRow): Promise<void> {
    await eventInsert(sql, row);
  },
});

export const audit = (sql: Db) => ({
  /** Belongs into the transaction of the change it records. */
  async write(row: AuditRow): Promise<void> {
    await auditInsert(sql, row);
  },
});
