/** Which tables may be read from one end to the other, and which requests must: each with its reason. */
import type { Asked } from './asked';
import type { Plan } from './explain';

/** Tables that do not grow with the fleet. */
export const smallTables: Readonly<Record<string, string>> = {
  workers: 'one row for each process of ours',
  chassis: 'one row for each rack',
  runbooks: 'written by people',
  deploy_templates: 'written by people',
  inspection_rules: 'written by people',
  webhooks: 'written by people',
  project_windows: 'written by people, at most 50 for each project',
};

/** Months of the audit trail that have nothing in them yet. */
const emptyMonth = /^audit_\d{4}_\d{2}$/;

/** Sort keys, beside `id`, that pages of a collection follow an index by. By others all its rows are looked at and sorted. */
export const indexedOrders: Readonly<Record<string, readonly string[]>> = {
  '/v1/nodes': ['uuid', 'name', 'created_at', 'updated_at', 'driver', 'instance_uuid', 'power_state', 'provision_state',
    'provision_updated_at', 'resource_class', 'conductor_group', 'owner', 'lessee', 'shard'],
  '/v1/ports': ['uuid', 'address', 'node_uuid', 'name', 'created_at', 'updated_at'],
  '/v1/portgroups': ['uuid', 'address', 'node_uuid', 'name'],
  '/v1/volume/connectors': ['uuid', 'node_uuid'],
  '/v1/volume/targets': ['uuid', 'node_uuid'],
  '/v1/allocations': ['uuid', 'name', 'node_uuid', 'resource_class', 'state'],
}; // biome-ignore format: one row of names for each collection

const [pathOf, orderOf] = [
  ({ path }: Asked): string => path.split('?')[0]!,
  ({ path }: Asked): string | null => new URL(path, 'http://api').searchParams.get('sort_key'),
];

/** Orders of `/v1/nodes` that an index has within a filter. */
const ordersWithin: Readonly<Record<string, RegExp>> = {
  fault_since: /[?&]fault=/,
  maintenance_since: /[?&]maintenance=true/,
};

/** Whether pages are asked for in an order that no index has. */
export const isSortedWhole = (asked: Asked): boolean => {
  const [order, indexed] = [orderOf(asked), indexedOrders[pathOf(asked)]];
  if (asked.as !== 'operator' || order === null || indexed === undefined) return false;
  return !indexed.includes(order) && !ordersWithin[order]?.test(asked.path);
};

type Exception = { readonly what: string; readonly is: (asked: Asked) => boolean; readonly why: string };

/** Requests that look at more rows than they show, however many there are. */
export const exceptions: readonly Exception[] = [
  {
    what: 'A page by any other sort key',
    is: isSortedWhole,
    why: 'an order that no index has: an index would cost every write of a row, and only people ask for these',
  },
  {
    what: '`description_contains`',
    is: ({ path }) => path.includes('description_contains='),
    why: 'a search within texts, in the order of creation, until the page is full',
  },
  {
    what: 'Ports and portgroups by `shard` or `conductor_groups`',
    is: ({ path }) => /^\/v1\/(ports|portgroups)\?(shard|conductor_groups)=/.test(path),
    why: 'their order is their own and the condition is about their nodes: the store looks at the fewer of both',
  },
  {
    what: 'A rollout, shown as a whole',
    is: ({ as, path }) => as === 'operator' && /^\/temper\/v1\/rollouts\/[^/?]+$/.test(path),
    why: 'its targets are counted by wave and state, at most 100,000; where they are half of all targets, as in what was seeded, all are read',
  },
  {
    what: 'Targets of a rollout by `reason`',
    is: ({ path }) => /\/targets\?reason=/.test(path),
    why: 'looked for in the order of the plan until the page is full, or among all targets where they are half of them',
  },
  { what: '`/v1/shards`', is: ({ path }) => path === '/v1/shards', why: 'counts all nodes, in an index' },
  {
    what: 'Usage of all projects',
    is: ({ as, path }) => as === 'operator' && /\/reports\/usage\?(?!.*project=)/.test(path),
    why: 'adds up every lease of the month',
  },
  {
    what: '`/temper/v1/summary` and `/temper/v1/incidents`',
    is: ({ as, path }) => as === 'operator' && /^\/temper\/v1\/(summary|incidents)/.test(path),
    why: 'counts all nodes, each time in an index',
  },
];

/** Rows that a statement may look at for a page of 1,000: a value that a tenth of them has is found in passing. */
export const mostRows = 12_000;

const grows = (table: string): boolean => !(table in smallTables) && !emptyMonth.test(table);

/** What is wrong with the plans of a statement; nothing where all is as it should be. */
export const faultsOf = (asked: Asked, plans: { readonly withValues: Plan; readonly forAny: Plan }): string[] => {
  if (exceptions.some(({ is }) => is(asked))) return [];
  const whole = (plan: Plan, when: string) =>
    plan.wholeTables.filter(grows).map((table) => `reads all of ${table} ${when}: ${plan.shape}`);
  const { rowsRead, shape } = plans.withValues;
  return [
    ...whole(plans.withValues, 'with these values'),
    ...whole(plans.forAny, 'planned for any values'),
    ...(rowsRead > mostRows ? [`looks at ${rowsRead} rows: ${shape}`] : []),
  ].map((fault) => `GET ${asked.path} as ${asked.as} ${fault}`);
};
