/** BIOS settings, firmware and inventory as last seen, written without the node's lock. */
import type { Document } from '../../model/document';
import type { NodeUuid } from '../../model/ids';
import type { ReportedStep } from '../../model/lifecycle/step-types';
import { nameOf } from '../../model/lifecycle/steps';
import type { BiosSetting, FirmwareComponent } from '../../model/runs/runs';
import { type Db, jsonOf, uuidArray } from '../database';

/** Time of the first sight, and of the last seen change. */
type Dated = { readonly created_at: Date; readonly updated_at: Date | null };

export type SeenBios = BiosSetting & Dated;
export type SeenFirmware = FirmwareComponent & Dated;
export type SeenInventory = { readonly inventory: Document; readonly plugin_data: Document; readonly at: Date };

/** Absent fields stay unchanged. */
export type Details = {
  readonly bios?: readonly BiosSetting[];
  readonly firmware?: readonly FirmwareComponent[];
  readonly inventory?: Document;
  /** Stored with the inventory. */
  readonly plugin_data?: Document;
};

type StoredDetail<T> = T & { readonly created_at: string; readonly updated_at: string | null };

const dated = <T extends object>(rows: readonly StoredDetail<T>[]): (T & Dated)[] =>
  rows.map((row) => ({
    ...row,
    created_at: new Date(row.created_at),
    updated_at: row.updated_at === null ? null : new Date(row.updated_at),
  }));

/** The last row per key: a BMC may list a name twice. */
const unique = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
];

export const details = (sql: Db) => {
  // Items keep the time of their first sight. A changed value sets a new time.
  const merged = (column: 'bios' | 'firmware', key: string, value: string) => {
    const old = sql`coalesce(node_details.${sql(column)}, '[]')`;
    const now = sql`to_jsonb(now() at time zone 'utc') #>> '{}' || 'Z'`;
    const changed = sql`old.item is not null and old.item ->> ${value} is distinct from new.item ->> ${value}`;
    const versions =
      column === 'bios'
        ? sql`'{}'::jsonb`
        : sql`jsonb_build_object(
            'initial_version', coalesce(old.item ->> 'initial_version', new.item ->> 'initial_version', new.item ->> 'current_version'),
            'last_version_flashed', case when ${changed} then new.item ->> 'current_version'
              else coalesce(new.item ->> 'last_version_flashed', old.item ->> 'last_version_flashed') end)`;
    return sql`(
      select coalesce(jsonb_agg(new.item || ${versions} || jsonb_build_object(
          'created_at', coalesce(old.item ->> 'created_at', ${now}),
          'updated_at', case when ${changed} then ${now} else old.item ->> 'updated_at' end) order by new.place), '[]')
      from jsonb_array_elements(excluded.${sql(column)}) with ordinality new (item, place)
      left join jsonb_array_elements(${old}) old (item) on old.item ->> ${key} = new.item ->> ${key})`;
  };

  const put = async (node: NodeUuid, column: 'bios' | 'firmware', rows: readonly object[]): Promise<void> => {
    const [key, value] = column === 'bios' ? ['name', 'value'] : ['component', 'current_version'];
    // The row must exist, because only an update sees the old values.
    await sql`insert into node_details (node_uuid) values (${node}) on conflict do nothing`;
    await sql`
      insert into node_details (node_uuid, ${sql(column)}) values (${node}, ${jsonOf(sql, rows)})
      on conflict (node_uuid) do update set
        ${sql(column)} = ${merged(column, key!, value!)}, ${sql(`${column}_at`)} = now()`;
  };

  return {
    /** Firmware keeps its first version; a changed version counts as flashed. */
    async write(node: NodeUuid, seen: Details): Promise<void> {
      if (seen.bios)
        await put(
          node,
          'bios',
          unique(seen.bios, ({ name }) => name),
        );
      if (seen.firmware)
        await put(
          node,
          'firmware',
          unique(seen.firmware, ({ component }) => component),
        );
      if (seen.inventory)
        await sql`
          insert into node_details (node_uuid, inventory, plugin_data, inventory_at)
          values (${node}, ${jsonOf(sql, seen.inventory)}, ${jsonOf(sql, seen.plugin_data ?? {})}, now())
          on conflict (node_uuid) do update set
            inventory = excluded.inventory, plugin_data = excluded.plugin_data, inventory_at = excluded.inventory_at`;
    },

    /** A ramdisk reports the steps of one kind of run, so others stay. */
    async report(node: NodeUuid, steps: readonly ReportedStep[]): Promise<void> {
      const known = new Map([...(await this.reported(node)), ...steps].map((step) => [nameOf(step), step]));
      const reported = jsonOf(sql, [...known.values()]);
      await sql`
        insert into node_details (node_uuid, reported) values (${node}, ${reported})
        on conflict (node_uuid) do update set reported = excluded.reported`;
    },

    async reported(node: NodeUuid): Promise<readonly ReportedStep[]> {
      const [row] = await sql<{ reported: ReportedStep[] | null }[]>`
        select reported from node_details where node_uuid = ${node}`;
      return row?.reported ?? [];
    },

    /** Without nodes that reported nothing. */
    async reportedOf(nodes: readonly NodeUuid[]): Promise<ReadonlyMap<NodeUuid, readonly ReportedStep[]>> {
      const rows = await sql<{ node_uuid: NodeUuid; reported: ReportedStep[] }[]>`
        select node_uuid, reported from node_details where node_uuid = any (${uuidArray(sql, nodes)}) and reported is not null`;
      return new Map(rows.map((row) => [row.node_uuid, row.reported]));
    },

    async bios(node: NodeUuid): Promise<SeenBios[]> {
      const [row] = await sql<{ bios: StoredDetail<BiosSetting>[] | null }[]>`
        select bios from node_details where node_uuid = ${node}`;
      return dated(row?.bios ?? []);
    },

    async firmware(node: NodeUuid): Promise<SeenFirmware[]> {
      const [row] = await sql<{ firmware: StoredDetail<FirmwareComponent>[] | null }[]>`
        select firmware from node_details where node_uuid = ${node}`;
      return dated(row?.firmware ?? []);
    },

    /** Undefined before the first inspection. */
    async inventory(node: NodeUuid): Promise<SeenInventory | undefined> {
      const [row] = await sql<SeenInventory[]>`
        select inventory, coalesce(plugin_data, '{}') as plugin_data, inventory_at as at
        from node_details where node_uuid = ${node} and inventory is not null`;
      return row;
    },
  };
};
