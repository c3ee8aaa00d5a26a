/** What is asked of the API to see how the store finds it: every list by every filter and order, and every object by its names. */
import { runReportsBy } from '../../src/model/reports';
import { allocationTable } from '../../src/model/resources/allocations';
import { chassisTable } from '../../src/model/resources/chassis';
import { templateTable } from '../../src/model/resources/deploy-templates';
import { isSortable, type ResourceTable } from '../../src/model/resources/fields';
import { inspectionRuleTable } from '../../src/model/resources/inspection-rules';
import { nodeTable } from '../../src/model/resources/nodes';
import { portgroupTable } from '../../src/model/resources/portgroups';
import { portTable } from '../../src/model/resources/ports';
import { runbookTable } from '../../src/model/resources/runbooks';
import { summarized } from '../../src/model/resources/summarized';
import { connectorTable, targetTable } from '../../src/model/resources/volumes';
import { owner, seededUuid } from './seed';

/** Whom a request is made for: the operator sees everything, the lessee a hundredth of a hundredth. */
export type Asker = 'operator' | 'lessee';
export type Asked = { readonly as: Asker; readonly path: string };

type Collection = {
  readonly path: string;
  readonly table: ResourceTable;
  /** What its seeded rows are called. */
  readonly kind: string;
  /** Which row pages begin after, by the number of nodes. */
  readonly marker: (nodes: number) => number;
  /** A value for each filter, as it stands in the query. */
  readonly filters?: Readonly<Record<string, string>>;
  /** Not for tenants. */
  readonly systemOnly?: true;
};

/** One in the middle whose number leaves this remainder by this divisor. */
const middle =
  (divisor = 1, remainder = 0) =>
  (nodes: number): number =>
    Math.floor(nodes / 2 / divisor) * divisor + remainder;

// Of no value are there more than the store can find at once, but for those that most nodes have.
const nodeFilters = {
  instance_uuid: seededUuid('instance', 42),
  associated: 'true',
  maintenance: 'true',
  chassis_uuid: seededUuid('chassis', 3),
  provision_state: 'manageable',
  driver: 'ipmi',
  resource_class: 'class-3',
  fault: 'power failure',
  conductor_group: 'rack-7',
  conductor: 'worker-1',
  owner: 'owner-3',
  description_contains: 'row 3',
  retired: 'true',
  lessee: 'lessee-3',
  project: owner,
  shard: 'shard-3,shard-4',
  sharded: 'true',
  include_children: 'true',
  parent_node: seededUuid('node', 90),
  instance_name: 'vm-42',
};

const address = '00:00:00:00:00:2a';
const homes = { node: 'node-000040', shard: 'shard-3', conductor_groups: 'rack-7' };

const collections: readonly Collection[] = [
  { path: '/v1/nodes', table: nodeTable, kind: 'node', marker: middle(1000, 500), filters: nodeFilters },
  {
    path: '/v1/ports',
    table: portTable,
    kind: 'port',
    marker: middle(1000, 500),
    filters: {
      ...homes,
      node_uuid: seededUuid('node', 40),
      address,
      portgroup: seededUuid('portgroup', 40),
      description_contains: 'uplink 40',
    },
  },
  {
    path: '/v1/portgroups',
    table: portgroupTable,
    kind: 'portgroup',
    marker: middle(1000, 500),
    filters: { ...homes, address },
  },
  {
    path: '/v1/volume/connectors',
    table: connectorTable,
    kind: 'connector',
    marker: middle(1000, 500),
    filters: { node: 'node-000040' },
  },
  {
    path: '/v1/volume/targets',
    table: targetTable,
    kind: 'target',
    marker: middle(1000, 500),
    filters: { node: 'node-000040' },
  },
  {
    path: '/v1/allocations',
    table: allocationTable,
    kind: 'allocation',
    marker: middle(10, 1),
    filters: { node: 'node-000041', resource_class: 'class-2', state: 'active', owner: 'owner-3' },
  },
  { path: '/v1/runbooks', table: runbookTable, kind: 'runbook', marker: () => 111, filters: { project: 'owner-15' } },
  { path: '/v1/chassis', table: chassisTable, kind: 'chassis', marker: () => 100, systemOnly: true },
  { path: '/v1/deploy_templates', table: templateTable, kind: 'template', marker: () => 7, systemOnly: true },
  {
    path: '/v1/inspection_rules',
    table: inspectionRuleTable,
    kind: 'rule',
    marker: () => 7,
    filters: { phase: 'main' },
    systemOnly: true,
  },
];

/** Sort keys as a caller names them; `id` is what a list without one has. */
const sortKeys = ({ table }: Collection): string[] => table.fields.filter(isSortable).map(({ name }) => name);

const listsOf = (collection: Collection, nodes: number): string[] => {
  const { path, kind, filters = {} } = collection;
  const marker = `marker=${seededUuid(kind, collection.marker(nodes))}`;
  const orders = sortKeys(collection).flatMap((key) => ['asc', 'desc'].map((dir) => `sort_key=${key}&sort_dir=${dir}`));
  return [
    path,
    `${path}?${marker}`,
    `${path}?sort_dir=desc`,
    `${path}?sort_dir=desc&${marker}`,
    ...(path === '/v1/allocations' ? [] : [`${path}?detail=true`]),
    `${path}?fields=uuid,name`.replace(/,name/, sortKeys(collection).includes('name') ? ',name' : ''),
    ...Object.entries(filters).map(([name, value]) => `${path}?${name}=${encodeURIComponent(value)}`),
    ...orders.flatMap((order) => [`${path}?${order}`, `${path}?${order}&${marker}`]),
  ];
};

/** What a tenant asks: fewer forms, because only the rows that are visible differ. */
const tenantsLists = (collection: Collection): string[] => {
  const { path, systemOnly } = collection;
  if (systemOnly) return [];
  const named = sortKeys(collection).includes('name') ? [`${path}?sort_key=name`] : [];
  return [path, `${path}?sort_key=created_at&sort_dir=desc&limit=20`, ...named];
};

const node = seededUuid('node', 43);
const leased = seededUuid('node', 500);

/** The longest in trouble first. */
const troubled = ['fault=power failure&sort_key=fault_since', 'maintenance=true&sort_key=maintenance_since'].flatMap(
  (asked) => [`/v1/nodes?${asked}`, `/v1/nodes?${asked}&limit=20&marker=${seededUuid('node', 1007)}`],
);

const below = (ident: string): string[] =>
  ['', '/states', '/traits', '/vifs', '/bios', '/firmware', '/inventory', '/history', '/allocation', '/ports', '/portgroups',
    '/volume/connectors', '/volume/targets', '/validate'].map((part) => `/v1/nodes/${ident}${part}`); // biome-ignore format: one row of paths

const lookups: readonly string[] = [
  ...below(node),
  '/v1/nodes/node-000043',
  `/v1/ports/${seededUuid('port', 43)}`,
  '/v1/ports/port-44',
  `/v1/portgroups/${seededUuid('portgroup', 40)}`,
  '/v1/portgroups/bond-40/ports',
  `/v1/volume/connectors/${seededUuid('connector', 40)}`,
  `/v1/volume/targets/${seededUuid('target', 40)}`,
  `/v1/chassis/${seededUuid('chassis', 3)}`,
  `/v1/chassis/${seededUuid('chassis', 3)}/nodes`,
  `/v1/allocations/${seededUuid('allocation', 41)}`,
  '/v1/allocations/allocation-41',
  `/v1/runbooks/${seededUuid('runbook', 11)}`,
  '/v1/runbooks/CUSTOM_RUNBOOK_11',
  '/v1/deploy_templates/CUSTOM_TEMPLATE_7',
  `/v1/inspection_rules/${seededUuid('rule', 7)}`,
  '/v1/shards',
  '/v1/conductors',
  '/v1/drivers',
  `/v1/lookup?addresses=${address}`,
  `/v1/lookup?node_uuid=${seededUuid('node', 203)}`,
];

/** Counts of nodes: of all, and for each value of what they may be counted by. */
export const summaries: readonly string[] = [
  '/temper/v1/summary',
  '/temper/v1/summary?only=trouble',
  ...summarized.map((by) => `/temper/v1/summary?by=${by}`),
  '/temper/v1/summary?by=properties.rack&limit=20&marker=r3',
];

const run = seededUuid('run', 203);

/** Beginnings that many have, that few have and that nothing has; of names, ids, addresses, serial numbers, racks and projects. */
const searches: readonly string[] = [
  ...['no', 'node-00004', 'sn4242', 'sn', 'r3', address, '00:00:00', '000000000', 'custom_runbook_1', 'owner-3', owner, 'nothing'],
  ...[seededUuid('node', 43), run, seededUuid('rollout', 42), seededUuid('runbook', 11)].map((id) => id.slice(0, 4)),
  node,
].map((text) => `/temper/v1/search?q=${text}`); // biome-ignore format: one row of texts

const fewDays = 'since=2026-03-01&until=2026-03-01';
const reports: readonly string[] = [
  ...runReportsBy.map((by) => `/temper/v1/reports/runs?by=${by}&${fewDays}`),
  '/temper/v1/reports/usage?month=2026-03&project=lessee-3',
  '/temper/v1/reports/usage?month=2026-03',
];

const ours: readonly string[] = [
  '/temper/v1/runs',
  `/temper/v1/runs?marker=${run}`,
  '/temper/v1/runs?state=running',
  '/temper/v1/runs?state=retrying',
  '/temper/v1/runs?state=ended&limit=1000',
  `/temper/v1/runs?state=any&marker=${run}`,
  '/temper/v1/runs?state=failed',
  '/temper/v1/runs?state=any&verb=inspect',
  '/temper/v1/runs?state=any&runbook=CUSTOM_RUNBOOK_11',
  `/temper/v1/runs?state=any&runbook=${seededUuid('runbook', 11)}`,
  '/temper/v1/runs?state=ended&since=2026-01-01T00:00:00Z',
  `/temper/v1/runs?state=any&run=${run.slice(0, 8)}`,
  `/temper/v1/runs?state=any&node=${node}`,
  `/temper/v1/runs/${run}`,
  `/temper/v1/nodes/${node}/runs`,
  ...summaries,
  ...searches,
  ...reports,
  '/temper/v1/incidents',
  '/temper/v1/freezes',
  `/temper/v1/freezes?marker=${seededUuid('freeze', 101)}`,
  '/temper/v1/freezes?all=True',
  `/temper/v1/nodes/${seededUuid('node', 51)}/freezes`,
  `/temper/v1/freezes/${seededUuid('freeze', 51)}`,
  `/temper/v1/nodes/${node}/steps`,
  '/temper/v1/audit',
  `/temper/v1/audit?node=${node}`,
  '/temper/v1/audit?node=node-000042&since=2026-01-01',
  '/temper/v1/audit?project=owner-3',
  '/temper/v1/audit?verdict=refused',
  '/temper/v1/audit?action=node.update',
  `/temper/v1/audit?run=${run}`,
  '/temper/v1/audit?request=req-2',
  '/temper/v1/audit?action=node.delete',
  '/temper/v1/audit?user=user',
  '/temper/v1/audit?user=rare',
  '/temper/v1/audit?user=rare&project=owner-3',
  '/temper/v1/audit?since=2026-01-01T00:00:00Z',
  '/temper/v1/audit?marker=1000',
  `/temper/v1/audit?marker=1000&node=${node}`,
  '/temper/v1/events',
  '/temper/v1/events?limit=20&marker=1000',
  `/temper/v1/events?node=${node}`,
  '/temper/v1/events?kind=node.created',
  '/temper/v1/webhooks',
  `/temper/v1/webhooks/${seededUuid('webhook', 1)}`,
  `/temper/v1/webhooks/${seededUuid('webhook', 1)}/deliveries`,
];

/** One rollout is of every node, half done. */
const manyNodes = `/temper/v1/rollouts/${seededUuid('rollout', 1)}`;
const fewNodes = `/temper/v1/rollouts/${seededUuid('rollout', 42)}`;
const rollouts = '/temper/v1/rollouts';
const rolloutsAsked = (nodes: number): string[] => [
  rollouts,
  `${rollouts}?marker=${seededUuid('rollout', 500)}`,
  `${rollouts}?state=running`,
  `${rollouts}?state=succeeded`,
  `${rollouts}?project=owner-3`,
  manyNodes,
  fewNodes,
  ...['', `?marker=${nodes / 2}`, '?state=pending', '?state=failed', '?state=done', '?state=done&marker=12000', '?state=refused',
    '?wave=3', `?wave=3&marker=${nodes / 2}`, '?wave=2&state=failed', '?wave=3&state=pending', '?reason=run_failed']
    .map((query) => `${manyNodes}/targets${query}`), // biome-ignore format: one row of queries
  `${fewNodes}/targets`,
];
const tenantsRollouts: readonly string[] = [
  rollouts,
  `${rollouts}?state=running`,
  manyNodes,
  `${manyNodes}/targets`,
  `${manyNodes}/targets?state=done`,
];

/** Every request, for a fleet of so many nodes. */
export const allAsked = (nodes: number): Asked[] => {
  const by = (as: Asker, paths: readonly string[]): Asked[] => paths.map((path) => ({ as, path }));
  return [
    ...collections.flatMap((one) => [...by('operator', listsOf(one, nodes)), ...by('lessee', tenantsLists(one))]),
    ...by('operator', [...troubled, ...lookups, ...ours, ...rolloutsAsked(nodes)]),
    ...by('lessee', [
      ...troubled,
      ...below(leased),
      '/temper/v1/runs',
      '/temper/v1/runs?state=ended',
      ...summaries,
      ...searches,
      ...reports,
      '/temper/v1/incidents',
      '/temper/v1/freezes',
      `/temper/v1/nodes/${leased}/runs`,
      `/temper/v1/audit?node=${leased}`,
      `/temper/v1/audit?node=${leased}&since=2026-01-01&limit=20`,
      ...tenantsRollouts,
    ]),
  ];
};
