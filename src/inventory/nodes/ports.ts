/** Queries of the ports table, with what decisions need of the node that a port belongs to. */
import { asUuid, type PortUuid } from '../../model/ids';
import type { Predicate } from '../../model/predicates';
import type { Port, PortNode } from '../../model/resources/ports';
import { type Db, jsonOf } from '../database';
import { asFound, type Make, type Page, pageOf } from '../pages';
import { where } from '../predicates';

export type NewPort = Omit<Port, 'uuid' | 'internal_info' | 'created_at' | 'updated_at'> & { readonly uuid?: string };

/** A port beside its node. */
export type FoundPort = { readonly port: Port; readonly node: PortNode };

export type PortSelection = {
  /** Of the columns of nodes: whose ports the caller may see. */
  readonly visible: Predicate;
  /** Of the columns of nodes: whose ports the caller wants. */
  readonly home: Predicate;
  /** Of the columns of ports. */
  readonly filter: Predicate;
  readonly description_contains?: string;
};

const nodeColumns = [
  'uuid',
  'name',
  'owner',
  'lessee',
  'provision_state',
  'instance_uuid',
  'maintenance',
  'reservation',
] as const satisfies readonly (keyof PortNode)[];

const columnsOf = (sql: Db, port: Omit<NewPort, 'uuid'>) => ({
  node_uuid: port.node_uuid,
  address: port.address,
  name: port.name,
  extra: jsonOf(sql, port.extra),
  local_link_connection: jsonOf(sql, port.local_link_connection),
  pxe_enabled: port.pxe_enabled,
  portgroup_uuid: port.portgroup_uuid,
  physical_network: port.physical_network,
  is_smartnic: port.is_smartnic,
  description: port.description,
  vendor: port.vendor,
  category: port.category,
  available_for_dynamic_portgroup: port.available_for_dynamic_portgroup,
});

export const ports = (sql: Db) => ({
  /** By UUID in any form, or by name. `lock` keeps the port's row for the transaction it is asked in. */
  async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<FoundPort | undefined> {
    const uuid = asUuid(ident);
    const [row] = await sql<(Port & { node: PortNode })[]>`
      select p.*, n.node
      from ports p join lateral (select to_jsonb(found) as node from (
        select ${sql(nodeColumns)} from nodes where uuid = p.node_uuid) found) n on true
      where ${uuid ? sql`p.uuid = ${uuid}` : sql`p.name = ${ident}`} ${lock ? sql`for update of p` : sql``}`;
    if (!row) return undefined;
    const { node, ...port } = row;
    return { port, node };
  },

  /** The node that a port is to belong to, by UUID or name. `lock` keeps it from changing until the transaction ends. */
  async findNode(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<PortNode | undefined> {
    const uuid = asUuid(ident);
    const [row] = await sql<PortNode[]>`
      select ${sql(nodeColumns)} from nodes
      where ${uuid ? sql`uuid = ${uuid}` : sql`name = ${ident}`} ${lock ? sql`for share` : sql``}`;
    return row;
  },

  /** Stores a new port. A duplicate uuid, address or name breaks a unique constraint (database.ts, brokenUnique). */
  async insert(port: NewPort): Promise<Port> {
    const columns = { ...columnsOf(sql, port), ...(port.uuid === undefined ? {} : { uuid: port.uuid }) };
    const [row] = await sql<Port[]>`insert into ports ${sql(columns)} returning *`;
    return row!;
  },

  /** Replaces what a patch may change. */
  async update(uuid: PortUuid, port: Omit<NewPort, 'uuid'>): Promise<Port> {
    const [row] = await sql<Port[]>`
      update ports set ${sql(columnsOf(sql, port))}, updated_at = now() where uuid = ${uuid} returning *`;
    return row!;
  },

  async delete(uuid: PortUuid): Promise<void> {
    await sql`delete from ports where uuid = ${uuid}`;
  },

  /** Rows of a page with the columns asked for. Nodes are looked at only where one of the conditions is about them. Throws MarkerNotFound. */
  list<Made = Partial<Port>>(
    names: readonly string[],
    selection: PortSelection,
    page: Page,
    make: Make<Partial<Port>, Made> = asFound,
  ): Promise<Made[]> {
    const { visible, home, filter, description_contains } = selection;
    const ofNodes = [visible, home].some((condition) => condition.is !== 'true');
    return pageOf(
      sql,
      {
        table: 'ports',
        from: ofNodes ? sql`ports join nodes n on n.uuid = ports.node_uuid` : sql`ports`,
        columns: sql`${sql(names.map((name) => `ports.${name}`))}`,
        visible: where(sql, visible, 'n'),
        wanted: sql`${where(sql, home, 'n')} and ${where(sql, filter, 'ports')}
          ${description_contains === undefined ? sql`` : sql`and strpos(ports.description, ${description_contains}) > 0`}`,
      },
      page,
      make,
    );
  },
});
