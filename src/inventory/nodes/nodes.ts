/** Queries of nodes: find, list, and writes of the API. */
import type { Document } from '../../model/document';
import type { LeaseUuid, NodeUuid, ProjectId } from '../../model/ids';
import type { Fault, PowerState, ProvisionState } from '../../model/lifecycle/states';
import type { Predicate } from '../../model/predicates';
import { nodeTable } from '../../model/resources/nodes';
import { type AuditRow, auditInsert, type NodeIdent } from '../audit';
import type { Db } from '../database';
import { type EventRow, eventInsert } from '../events';
import { columnsOfLine, givenBase, hasDocuments, type Line, type LinesPage, lineText } from '../lines';
import { linesOf, type Page } from '../pages';
import { conditionOf } from '../predicates';
import { writtenColumns } from '../resources';
import type { BoxedSecret } from '../secrets/sealing';
import { secretsInsert } from '../secrets/secrets';
import { isAlive } from '../workers';

export type NodeRow = {
  readonly id: number;
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Document;
  readonly driver_internal_info: Document;
  readonly properties: Document;
  readonly extra: Document;
  readonly instance_uuid: string | null;
  readonly instance_info: Document;
  readonly instance_name: string | null;
  readonly chassis_uuid: string | null;
  readonly allocation_uuid: string | null;
  readonly power_state: PowerState | null;
  readonly target_power_state: string | null;
  readonly provision_state: ProvisionState;
  readonly target_provision_state: ProvisionState | null;
  readonly provision_updated_at: Date | null;
  readonly maintenance: boolean;
  readonly maintenance_reason: string | null;
  readonly fault: Fault | null;
  /** Written by a trigger, as the next. */
  readonly fault_since: Date | null;
  readonly maintenance_since: Date | null;
  readonly last_error: string | null;
  /** The run that holds the node. */
  readonly reservation: string | null;
  readonly console_enabled: boolean;
  readonly resource_class: string | null;
  readonly traits: readonly string[];
  readonly conductor_group: string;
  readonly automated_clean: boolean | null;
  readonly protected: boolean;
  readonly protected_reason: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly description: string | null;
  readonly retired: boolean;
  readonly retired_reason: string | null;
  readonly network_data: Document;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly shard: string | null;
  readonly parent_node: string | null;
  readonly disable_power_off: boolean;
  readonly health: string | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  /** Host name of a live worker for the node's driver and group. */
  readonly conductor: string | null;
  readonly lease_id: LeaseUuid | null;
  /** Former values of fields that the lessee has changed. Written by triggers. */
  readonly of_lease: Document;
  /** The run that holds the node was accepted under another lease. */
  readonly foreign_run: boolean;
  /** Changes with every write of the row; for compare-and-set. */
  readonly revision: string;
};

/** By column name. */
export type NodeValues = Readonly<Record<string, unknown>>;
export type NodeSelection = {
  readonly visible: Predicate;
  readonly filter: Predicate;
  readonly description_contains?: string;
  readonly conductor?: string;
};

type NodeRecord = { readonly audit: AuditRow; readonly event: EventRow };

const foreignRunText = `(nodes.reservation is not null and exists (
    select from runs r where r.id = nodes.reservation and r.lease_id is distinct from nodes.lease_id))`;

const inLine = (column: string): string => {
  if (column === 'conductor') return '"served"."hostname"';
  return column === 'foreign_run' ? foreignRunText : `"nodes"."${column}"`;
};

export const nodes = (sql: Db) => {
  const conductor = sql`(
    select w.hostname from workers w
    where ${isAlive(sql, 'w')} and w.conductor_group = nodes.conductor_group and nodes.driver = any (w.drivers)
    order by w.hostname limit 1)`;

  /** For many rows: a join looks up once per group and driver. */
  const servedNodes = sql`left join lateral ${conductor} served on true`;

  const foreignRun = sql`${sql.unsafe(foreignRunText)}`;

  const wholeRow = sql`${conductor} as conductor, ${foreignRun} as foreign_run, xmin::text as revision`;

  /** Nodes of the worker's group with a driver that it is the first to serve. Computed once, not per node. */
  const servedBy = (host: string) => {
    return sql`
      nodes.conductor_group = (select w.conductor_group from workers w where w.hostname = ${host})
      and nodes.driver = any (array(
        select driver from workers w, unnest(w.drivers) driver where w.hostname = ${host} and ${isAlive(sql, 'w')} and not exists (
          select from workers o where o.conductor_group = w.conductor_group and driver = any (o.drivers)
            and o.hostname < w.hostname and ${isAlive(sql, 'o')})))`;
  };

  const wanted = ({ filter, description_contains, conductor: host }: NodeSelection) => sql`
    ${conditionOf(sql, filter, 'nodes')}
    ${description_contains === undefined ? sql`` : sql`and strpos(nodes.description, ${description_contains}) > 0`}
    ${host === undefined ? sql`` : sql`and ${servedBy(host)}`}`;

  const listed = (selection: NodeSelection) => ({
    table: 'nodes',
    from: sql`nodes`,
    visible: conditionOf(sql, selection.visible, 'nodes'),
    wanted: wanted(selection),
  });

  return {
    async find(ident: NodeIdent): Promise<NodeRow | undefined> {
      const [row] =
        'uuid' in ident
          ? await sql<NodeRow[]>`
              select *, ${wholeRow} from nodes where uuid = ${ident.uuid}`
          : await sql<NodeRow[]>`
              select *, ${wholeRow} from nodes where name = ${ident.name}`;
      return row;
    },

    /** In the order of enrolment. */
    async children(parent: NodeUuid): Promise<NodeRow[]> {
      return sql<NodeRow[]>`
        select *, ${wholeRow} from nodes where parent_node = ${parent} order by id limit 1000`;
    },

    /** `conductor` may be a column. Throws MarkerNotFound. */
    lines(line: Line, base: string, selection: NodeSelection, page: Page): Promise<LinesPage> {
      const served = columnsOfLine(line).includes('conductor') ? servedNodes : sql``;
      const beside = sql`${served} ${givenBase(sql, base)}`;
      const columns = sql`${sql.unsafe(lineText(line, inLine))}`;
      return linesOf(sql, { ...listed(selection), columns, beside, withDocuments: hasDocuments(line) }, page);
    },

    /**
     * One statement with secrets, audit and event: a transaction would cost mass enrolment two round trips per node. `values` must have the
     * uuid. Throws what `brokenUnique` recognises.
     */
    async enrol(
      values: NodeValues & { readonly uuid: string },
      beside: NodeRecord & { readonly secrets: readonly BoxedSecret[] },
    ): Promise<NodeRow> {
      const sealed = beside.secrets.length > 0 ? sql`, sealed as (${secretsInsert(sql, beside.secrets)})` : sql``;
      const [row] = await sql<NodeRow[]>`
        with audited as (${auditInsert(sql, beside.audit)}), told as (${eventInsert(sql, beside.event)}) ${sealed}
        insert into nodes ${sql(writtenColumns(sql, nodeTable, values))} returning *, ${wholeRow}`;
      return row!;
    },

    /**
     * Undefined if the node has changed, or a run holds it. `held` permits a run; the caller must check the state. `record` goes into the
     * same statement. Throws what `brokenUnique` recognises.
     */
    async update(
      seen: Pick<NodeRow, 'uuid' | 'revision'>,
      values: NodeValues,
      { held = false, record }: { held?: boolean; record?: NodeRecord } = {},
    ): Promise<NodeRow | undefined> {
      const update = sql`
        update nodes set ${sql(writtenColumns(sql, nodeTable, values))}, updated_at = now()
        where uuid = ${seen.uuid} and xmin::text = ${seen.revision} and (${held} or reservation is null)
        returning *, ${wholeRow}`;
      const [row] = record
        ? await sql<NodeRow[]>`
            with changed as (${update}), audited as (${auditInsert(sql, record.audit, 'changed')}),
              told as (${eventInsert(sql, record.event, 'changed')})
            select * from changed`
        : ((await update) as unknown as NodeRow[]);
      return row;
    },

    /**
     * Also if a run holds the node: the fence protects it from the run's end.
     * @param seen the tenants for which the rules were checked. @returns false if the node has others by now, or is gone
     */
    async setMaintenance(
      uuid: NodeUuid,
      values: { maintenance: boolean; reason: string | null },
      seen?: Pick<NodeRow, 'owner' | 'lessee'>,
    ): Promise<boolean> {
      const set = await sql`
        update nodes set maintenance = ${values.maintenance}, maintenance_reason = ${values.reason},
          fault = case when ${values.maintenance} then fault else null end, updated_at = now()
        where uuid = ${uuid}
          ${seen ? sql`and owner is not distinct from ${seen.owner} and lessee is not distinct from ${seen.lessee}` : sql``}
        returning 1`;
      return set.length === 1;
    },

    /** False if the node has changed, or a run holds it. */
    async remove(seen: Pick<NodeRow, 'uuid' | 'revision'>): Promise<boolean> {
      const gone = await sql`
        delete from nodes where uuid = ${seen.uuid} and xmin::text = ${seen.revision} and reservation is null returning 1`;
      return gone.length === 1;
    },
  };
};
