/** A lessee's lists in a small and in a large fleet: what a hundred nodes cost among thousands of others, with the store's plan. */
import { nodeColumns } from '../src/api/resource/visibility';
import { connect } from '../src/inventory/database';
import type { Line } from '../src/inventory/lines';
import { nodes } from '../src/inventory/nodes/nodes';
import type { Page } from '../src/inventory/pages';
import { anonymous } from '../src/model/access/callers';
import { and, type Predicate } from '../src/model/predicates';
import { createPolicy } from '../src/policy';
import { percentile } from './stats';
import type { Signed, System } from './system';
import { ms, table } from './table';

/** Nodes that the lessee has, however large the fleet is. */
const leased = 100;
/** Nodes of one owner, and of one other lessee: what makes one project like another to the store's statistics. */
const [perOwner, perLessee] = [250, 100];

const lists = {
  'GET /v1/nodes': '/v1/nodes',
  'GET /v1/nodes/detail': '/v1/nodes/detail',
  'GET /v1/nodes, by state': '/v1/nodes?provision_state=active',
  'GET /v1/nodes, newest first': '/v1/nodes?sort_key=created_at&sort_dir=desc&limit=20',
  'GET /v1/ports': '/v1/ports',
} as const;
type ListName = keyof typeof lists;

type Timed = { readonly list: ListName; readonly fleet: number; readonly p50: number; readonly p99: number };
export type Lists = {
  readonly leased: number;
  readonly timed: readonly Timed[];
  /** Of the middle time in the largest fleet, by that in the smallest. */
  readonly ratios: readonly { readonly list: ListName; readonly ratio: number }[];
  /** How the store finds the lessee's nodes in the largest fleet. */
  readonly plans: readonly { readonly list: string; readonly lines: readonly string[] }[];
};

const name = 'bench-lists-';

/** A fleet of this size in place of what was there; the leased nodes lie scattered among those of others. */
const fill = async ({ sql }: System, lessee: string, fleet: number): Promise<void> => {
  await empty(sql);
  const every = fleet / leased;
  await sql`
    with enrolled as (
      insert into nodes (name, driver, provision_state, power_state, resource_class, properties, owner, lessee)
      select ${name} || n, 'fake-hardware', 'active', 'power on', 'bench-lists',
        '{"cpus": 64, "memory_mb": 262144, "cpu_arch": "x86_64"}', 'bench-owner-' || n / ${perOwner}::int,
        case when n % ${every}::int = 0 then ${lessee} when n % 2 = 1 then 'bench-lessee-' || n / ${2 * perLessee}::int end
      from generate_series(1, ${fleet}::int) n returning uuid, id)
    insert into ports (node_uuid, address)
    select uuid, regexp_replace(lpad(to_hex(id), 12, '0'), '(..)(..)(..)(..)(..)(..)', '\\1:\\2:\\3:\\4:\\5:\\6') from enrolled`;
  // As the store's own housekeeping leaves it: no remains of the fleet before, and statistics.
  await sql`vacuum analyze`;
  await sql`checkpoint`;
};

const empty = async (sql: System['sql']): Promise<void> => {
  await sql`delete from ports where node_uuid in (select uuid from nodes where name like ${`${name}%`})`;
  await sql`delete from nodes where name like ${`${name}%`}`;
};

const look = async (system: System, { headers }: Signed, path: string): Promise<number> => {
  const began = performance.now();
  const response = await fetch(`${system.api}${path}`, { headers });
  const body = (await response.json()) as { nodes?: unknown[]; ports?: unknown[] };
  const took = performance.now() - began;
  const found = (body.nodes ?? body.ports ?? []).length;
  const wanted = path.includes('limit=') ? 20 : leased;
  if (found !== wanted) throw new Error(`GET ${path} answered ${response.status} with ${found} rows, not ${wanted}`);
  return took;
};

/** Looks at each list so often, in turn, so that what else the machine does falls on all alike. */
const timedIn = async (system: System, signed: Signed, fleet: number, looks: number): Promise<Timed[]> => {
  const times = new Map<ListName, number[]>();
  // More than a few: the store plans a prepared statement anew for its first five uses on each connection.
  for (let at = -20; at < looks; at++)
    for (const [list, path] of Object.entries(lists) as [ListName, string][]) {
      const took = await look(system, signed, path);
      if (at >= 0) times.set(list, [...(times.get(list) ?? []), took]);
    }
  return [...times].map(([list, all]) => ({ list, fleet, p50: percentile(all, 0.5), p99: percentile(all, 0.99) }));
};

const noParent: Predicate = { is: 'null', column: 'parent_node' };
const inState: Predicate = { is: 'equals', column: 'provision_state', value: 'active' };
const byId: Page = { limit: 1_000, sort_key: 'id', sort_dir: 'asc' };

const twoFields: Line = { parts: [{ columns: ['uuid', 'name'] }] };

/** What the inventory is asked for these lists. */
const asked: Readonly<Partial<Record<ListName, { readonly filter: Predicate; readonly page: Page }>>> = {
  'GET /v1/nodes': { filter: noParent, page: byId },
  'GET /v1/nodes, by state': { filter: and(noParent, inState), page: byId },
  'GET /v1/nodes, newest first': { filter: noParent, page: { limit: 20, sort_key: 'created_at', sort_dir: 'desc' } },
};

/** The plans of the statements that the inventory sends for this lessee's lists. */
const plansOf = async ({ postgresUrl }: System, project_id: string): Promise<Lists['plans']> => {
  const sent: { text: string; values: unknown[] }[] = [];
  const sql = connect(postgresUrl, { max: 1 });
  sql.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  const who = { ...anonymous, project_id, roles: ['reader'] };
  const visible = createPolicy({ set: 'temper' }).filter('baremetal:node:get', who, nodeColumns);
  const plans: { list: string; lines: string[] }[] = [];
  for (const [list, { filter, page }] of Object.entries(asked)) {
    await nodes(sql).lines(twoFields, '', { visible, filter }, page);
    const { text, values } = sent.at(-1)!;
    const rows = await sql.unsafe(`explain (analyze, costs off) ${text}`, values as never);
    plans.push({ list, lines: rows.map((row) => String(row['QUERY PLAN'])) });
  }
  await sql.end({ timeout: 5 });
  return plans;
};

/** Lists of a lessee, in fleets of growing size. Takes its nodes away again. */
export const measureLists = async (
  system: System,
  { fleets, looks, rounds }: { readonly fleets: readonly number[]; readonly looks: number; readonly rounds: number },
  say: (line: string) => void,
): Promise<Lists> => {
  const signed = await system.signIn('lessee-reader');
  const timed: Timed[] = [];
  try {
    // In turn, so that a busy minute of the machine does not fall on one size alone.
    for (let round = 0; round < rounds; round++)
      for (const fleet of fleets) {
        say(`a fleet of ${fleet}`);
        await fill(system, signed.project!, fleet);
        timed.push(...(await timedIn(system, signed, fleet, looks)));
      }
    return {
      leased,
      timed: bestOf(timed),
      ratios: ratiosOf(bestOf(timed), fleets),
      plans: await plansOf(system, signed.project!),
    };
  } finally {
    await empty(system.sql);
    await system.sql`vacuum analyze nodes`;
  }
};

/** The round in which a list was quickest, for each size: what is added to it is other work of the machine. */
const bestOf = (timed: readonly Timed[]): Timed[] => {
  const best = new Map<string, Timed>();
  for (const one of timed) {
    const key = `${one.fleet} ${one.list}`;
    const known = best.get(key);
    if (!known || one.p50 < known.p50) best.set(key, one);
  }
  return [...best.values()];
};

const ratiosOf = (timed: readonly Timed[], fleets: readonly number[]): Lists['ratios'] => {
  const p50 = (list: ListName, fleet: number): number =>
    timed.find((one) => one.list === list && one.fleet === fleet)!.p50;
  return (Object.keys(lists) as ListName[]).map((list) => ({
    list,
    ratio: p50(list, Math.max(...fleets)) / p50(list, Math.min(...fleets)),
  }));
};

export const listsTables = ({ leased: count, timed, ratios, plans }: Lists): string[] => [
  `Lists of a lessee with ${count} nodes, by the size of the fleet; ms at p50 and p99, and the largest fleet by the smallest`,
  table(
    ['list', 'nodes in all', 'p50', 'p99', 'ratio'],
    timed.map(({ list, fleet, p50, p99 }, at) => [
      list,
      fleet.toLocaleString('en'),
      ms(p50),
      ms(p99),
      at < ratios.length ? '' : ratios.find((one) => one.list === list)!.ratio.toFixed(2),
    ]),
  ),
  ...plans.flatMap(({ list, lines }) => [
    `${list}, as the store finds it in the largest fleet:`,
    ...lines.map((line) => `  ${line}`),
  ]),
];
