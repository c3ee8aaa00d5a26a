/** Reads an Ironic database as groups: each node with its objects, linked by UUIDs instead of numeric ids. */

import { asUuid } from '../model/ids';
import { documentOf, fixHint, judgeNode, listOf, RowFault, refuseReserved } from './nodes';
import type { Group, Kind, Remark, Taken } from './objects';
import { type Source, SourceFault, type SourceRow } from './source';
import { judgeRunbook, judgeTemplate } from './step-lists';

/** The last migration of the release. Source: ironic/db/sqlalchemy/alembic/versions of 39.0.0. */
const understood = { release: 'Ironic 39', revision: '9fb44677ef15' };

/** Each group of `together` is one transaction, in order. */
export type Found = { readonly together: readonly (readonly Group[])[]; readonly remarks: readonly Remark[] };

const checkSchema = async (source: Source): Promise<void> => {
  const versions = await source.rows('alembic_version').catch(() => {
    throw new SourceFault('The database has no table alembic_version that can be read: it is none of Ironic’s.');
  });
  const found = versions.map(({ version_num }) => String(version_num)).join(', ') || 'none';
  if (found !== understood.revision)
    throw new SourceFault(
      `The database’s schema is ${found}; this release imports from ${understood.release} only (${understood.revision}). Upgrade Ironic first.`,
    );
};

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

const times = ({ created_at, updated_at }: SourceRow) => ({ created_at: created_at ?? new Date(0), updated_at });

const object = (kind: Kind, row: SourceRow, values: Readonly<Record<string, unknown>>): Taken => ({
  kind,
  uuid: String(row.uuid),
  name: text(row.name),
  values: { uuid: row.uuid, ...values, ...times(row) },
});

const picked = (row: SourceRow, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

const portgroupOf = (row: SourceRow, node_uuid: string): Taken =>
  object('portgroup', row, {
    node_uuid,
    ...picked(row, ['name', 'physical_network', 'category']),
    address: text(row.address)?.toLowerCase() ?? null,
    mode: row.mode ?? 'active-backup',
    standalone_ports_supported: row.standalone_ports_supported !== false,
    dynamic_portgroup: row.dynamic_portgroup === true,
    extra: documentOf(row, 'extra'),
    internal_info: documentOf(row, 'internal_info'),
    properties: documentOf(row, 'properties'),
  });

/** Throws RowFault. */
const addressOf = (row: SourceRow): string => {
  const address = text(row.address);
  if (address === null) throw new RowFault(`it has no address: ${fixHint}`);
  return address.toLowerCase();
};

const portOf = (row: SourceRow, node_uuid: string, portgroup_uuid: string | null): Taken =>
  object('port', row, {
    node_uuid,
    portgroup_uuid,
    ...picked(row, ['name', 'physical_network', 'description', 'vendor', 'category']),
    address: addressOf(row),
    pxe_enabled: row.pxe_enabled !== false,
    is_smartnic: row.is_smartnic === true,
    available_for_dynamic_portgroup: row.available_for_dynamic_portgroup !== false,
    extra: documentOf(row, 'extra'),
    internal_info: documentOf(row, 'internal_info'),
    local_link_connection: documentOf(row, 'local_link_connection'),
  });

const connectorOf = (row: SourceRow, node_uuid: string): Taken =>
  object('volume connector', row, {
    node_uuid,
    ...picked(row, ['type', 'connector_id']),
    extra: documentOf(row, 'extra'),
  });

const targetOf = (row: SourceRow, node_uuid: string): Taken =>
  object('volume target', row, {
    node_uuid,
    ...picked(row, ['volume_type', 'volume_id', 'boot_index']),
    extra: documentOf(row, 'extra'),
    properties: documentOf(row, 'properties'),
  });

const allocationOf = (row: SourceRow, node_uuid: string, uuidOf: ReadonlyMap<string, string>): Taken =>
  object('allocation', row, {
    node_uuid,
    ...picked(row, ['name', 'state', 'owner', 'last_error', 'resource_class']),
    traits: listOf(row, 'traits'),
    candidate_nodes: listOf(row, 'candidate_nodes').flatMap(
      (ident) => uuidOf.get(asUuid(String(ident)) ?? String(ident)) ?? [],
    ),
    extra: documentOf(row, 'extra'),
  });

const groupedBy = (rows: readonly SourceRow[], column: string): ReadonlyMap<unknown, readonly SourceRow[]> => {
  const found = new Map<unknown, SourceRow[]>();
  for (const row of rows) {
    const known = found.get(row[column]);
    if (known) known.push(row);
    else found.set(row[column], [row]);
  }
  return found;
};

const tables = [
  'chassis',
  'nodes',
  'node_traits',
  'node_tags',
  'portgroups',
  'ports',
  'volume_connectors',
  'volume_targets',
  'allocations',
  'runbooks',
  'runbook_steps',
  'runbook_traits',
  'deploy_templates',
  'deploy_template_steps',
] as const;
const nodeTables = [
  ['portgroup', 'portgroups'],
  ['port', 'ports'],
  ['volume connector', 'volume_connectors'],
  ['volume target', 'volume_targets'],
  ['allocation', 'allocations'],
] as const;
type Tables = Readonly<Record<(typeof tables)[number], readonly SourceRow[]>>;

/** Ironic keeps a UUID as given: any case, with or without dashes. */
const canonicalUuid = (row: SourceRow): SourceRow => {
  const uuid = typeof row.uuid === 'string' ? asUuid(row.uuid) : undefined;
  return uuid === undefined ? row : { ...row, uuid };
};

/** MariaDB's invalid times of zeros count as null. */
const timed = (row: SourceRow): SourceRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date && Number.isNaN(value.getTime()) ? null : value,
    ]),
  );

const readTables = async (source: Source): Promise<Tables> => {
  const found: Partial<Record<(typeof tables)[number], readonly SourceRow[]>> = {};
  // The reads are sequential, because one connection has one snapshot.
  for (const table of tables) found[table] = (await source.rows(table)).map(timed).map(canonicalUuid);
  return found as Tables;
};

const remarkOf = (kind: Kind, row: SourceRow, is: Remark['is'], reason: string): Remark => ({
  kind,
  uuid: text(row.uuid),
  name: text(row.name),
  is,
  reason,
});

const orRefused = <T>(read: () => T): T | { readonly refused: string } => {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof RowFault) return { refused: thrown.message };
    throw thrown;
  }
};

/** Reads a row's object, or adds a remark if it is unreadable. */
const readRow = (remarks: Remark[], kind: Kind, row: SourceRow, read: () => Taken): Taken[] => {
  const found = orRefused(() => {
    const taken = read();
    refuseReserved(taken.values);
    return taken;
  });
  if (!('refused' in found)) return [found];
  remarks.push(remarkOf(kind, row, 'refused', found.refused));
  return [];
};

/** Objects without a node cannot be imported. */
const strayRemarks = (all: Tables): Remark[] => {
  const homes = new Set(all.nodes.map(({ id }) => id));
  const stray = (kind: Kind, rows: readonly SourceRow[]) =>
    rows
      .filter(({ node_id }) => !homes.has(node_id))
      .map((row) => remarkOf(kind, row, 'refused', 'it belongs to no node'));
  return [
    ...stray('portgroup', all.portgroups),
    ...stray('port', all.ports),
    ...stray('volume connector', all.volume_connectors),
    ...stray('volume target', all.volume_targets),
    ...all.allocations
      .filter(({ node_id }) => !homes.has(node_id))
      .map((row) =>
        remarkOf('allocation', row, 'refused', `it is ${String(row.state)} and has no node: ask Temper for a new one`),
      ),
  ];
};

/** They are independent, except that two runbooks may claim the same trait. */
const readLists = (all: Tables): Found => {
  const runbookSteps = groupedBy(all.runbook_steps, 'runbook_id');
  const runbookTraits = groupedBy(all.runbook_traits, 'runbook_id');
  const templateSteps = groupedBy(all.deploy_template_steps, 'deploy_template_id');
  const traitsOf = ({ id }: SourceRow) => (runbookTraits.get(id) ?? []).map(({ trait }) => String(trait)).sort();
  const judged = [
    ...all.runbooks.map(
      (row) =>
        ['runbook', row, orRefused(() => judgeRunbook(row, runbookSteps.get(row.id) ?? [], traitsOf(row)))] as const,
    ),
    ...all.deploy_templates.map(
      (row) => ['deploy template', row, orRefused(() => judgeTemplate(row, templateSteps.get(row.id) ?? []))] as const,
    ),
  ];
  return {
    together: [
      judged.flatMap(([kind, row, verdict]) =>
        'refused' in verdict ? [] : [{ first: [], main: object(kind, row, verdict.values), below: [] }],
      ),
    ],
    remarks: judged.flatMap(([kind, row, verdict]) =>
      'refused' in verdict
        ? [remarkOf(kind, row, 'refused', verdict.refused)]
        : verdict.warnings.map((reason) => remarkOf(kind, row, 'warning', reason)),
    ),
  };
};

/**
 * Throws SourceFault for another release.
 * @param ironicStopped no conductor runs, so nodes need no maintenance
 */
export const readIronic = async (source: Source, ironicStopped: boolean): Promise<Found> => {
  await checkSchema(source);
  const all = await readTables(source);
  const remarks: Remark[] = strayRemarks(all);
  const read = (kind: Kind, row: SourceRow, make: () => Taken) => readRow(remarks, kind, row, make);
  const chassis = new Map(
    all.chassis.flatMap((row) =>
      read('chassis', row, () =>
        object('chassis', row, { ...picked(row, ['description']), extra: documentOf(row, 'extra') }),
      ).map((taken) => [row.id, taken] as const),
    ),
  );
  const uuidOf = new Map(
    all.nodes.flatMap(({ uuid, name }) =>
      [uuid, name].flatMap((ident) => (ident ? [[String(ident), String(uuid)] as const] : [])),
    ),
  );
  const portgroupUuid = new Map(all.portgroups.map(({ id, uuid }) => [id, String(uuid)]));
  const of = Object.fromEntries(tables.map((table) => [table, groupedBy(all[table], 'node_id')])) as Record<
    keyof Tables,
    ReturnType<typeof groupedBy>
  >;
  const groups: Group[] = [];
  for (const row of all.nodes) {
    const below = (table: keyof Tables) => of[table].get(row.id) ?? [];
    const traits = below('node_traits')
      .map(({ trait }) => String(trait))
      .sort();
    const facts = { traits, tags: below('node_tags').length, ironicStopped };
    const verdict = orRefused(() => judgeNode(row, facts));
    if ('refused' in verdict) {
      remarks.push(remarkOf('node', row, 'refused', verdict.refused));
      for (const [kind, table] of nodeTables)
        remarks.push(...below(table).map((each) => remarkOf(kind, each, 'refused', 'its node is not taken')));
      continue;
    }
    remarks.push(...verdict.changes.map((reason) => remarkOf('node', row, 'changed', reason)));
    const node = String(row.uuid);
    const home = chassis.get(row.chassis_id);
    groups.push({
      first: home ? [home] : [],
      main: { ...object('node', row, { ...verdict.values, chassis_uuid: home?.uuid ?? null }) },
      below: [
        ...below('portgroups').flatMap((each) => read('portgroup', each, () => portgroupOf(each, node))),
        ...below('ports').flatMap((each) =>
          read('port', each, () => portOf(each, node, portgroupUuid.get(each.portgroup_id) ?? null)),
        ),
        ...below('volume_connectors').flatMap((each) => read('volume connector', each, () => connectorOf(each, node))),
        ...below('volume_targets').flatMap((each) => read('volume target', each, () => targetOf(each, node))),
        ...below('allocations').flatMap((each) => read('allocation', each, () => allocationOf(each, node, uuidOf))),
      ],
    });
  }
  const lists = readLists(all);
  return {
    together: [...groups.map((group) => [group]), ...lists.together],
    remarks: [...remarks, ...lists.remarks],
  };
};
