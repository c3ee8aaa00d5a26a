/** What a year of work costs: the first pages of history, runs, events and audit beside those after one month, and retention. */
import { createInventory, type Inventory } from '../src/inventory';
import { connect, type Sql } from '../src/inventory/database';
import type { NodeUuid } from '../src/model/ids';
import { addFleet, addMonth, eventsARun, firstNode, growing, runsAMonth, sizesOf } from './growth-fill';
import { withDatabase } from './plans/beside';
import { type Plan, planWith } from './plans/explain';
import type { Statement } from './plans/statements';
import { median } from './stats';
import type { System } from './system';
import { ms, table } from './table';

const months = 12;
/** Half of the year goes. */
const keptMonths = 6;
const rowsInBatch = 5_000;

const seen = { is: 'true' } as const;
const all = { ofRuns: seen, ofNodes: seen, ofRollouts: seen, ofTargets: seen };
const node = firstNode as NodeUuid;

// Each page is full after a month already, so that as many rows are read in both databases.
const pages = {
  'history of a node': ({ history }: Inventory) => history.ofNode(node, { limit: 20, sort_dir: 'desc' }),
  'all runs': ({ runList }: Inventory) => runList.page({ visible: seen, states: ['any'], limit: 100 }),
  'runs that failed': ({ runList }: Inventory) => runList.page({ visible: seen, states: ['failed'], limit: 100 }),
  'runs of a node': ({ runs }: Inventory) => runs.ofNode(node, { limit: runsAMonth }),
  'events of all nodes': ({ allEvents }: Inventory) => allEvents.page({ ...all, limit: 100 }),
  audit: ({ auditList }: Inventory) => auditList.page({ limit: 100 }),
  'audit of a node': ({ auditList }: Inventory) => auditList.page({ node, limit: runsAMonth }),
} as const satisfies Record<string, (inventory: Inventory) => Promise<readonly unknown[]>>;
type PageName = keyof typeof pages;
const pageNames = Object.keys(pages) as PageName[];

type Cost = { readonly ms: number; readonly rows: number; readonly storePages: number; readonly shape: string };
type Batches = { readonly rows: number; readonly batches: number; readonly batch_ms: number; readonly most_ms: number };
export type Growth = {
  readonly nodes: number;
  readonly events: number;
  readonly runs: number;
  readonly paged: readonly { readonly page: PageName; readonly month: Cost; readonly year: Cost }[];
  /** Bytes in a year, of a node. */
  readonly bytes: Readonly<Record<(typeof growing)[number], number>>;
  readonly forgotten: { readonly events: Batches; readonly runs: Batches };
  /** Of the three tables after half of their rows went. */
  readonly vacuum_ms: number;
  readonly dead_rows: number;
};

/** A database with so many months, read as the API reads: one connection that notes what it sends. */
const opened = async (url: string, nodes: number, count: number, say: (line: string) => void) => {
  const owner = connect(url, { max: 1 });
  await addFleet(owner, nodes);
  for (let ago = count - 1; ago >= 0; ago--) {
    say(`growth: month ${count - ago} of ${count}`);
    await addMonth(owner, nodes, ago);
  }
  await owner`vacuum analyze`;
  const sent: Statement[] = [];
  const reader = connect(url, { max: 1 });
  reader.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  const inventory = createInventory(reader);
  const close = async (): Promise<void> => {
    await inventory.close();
    await owner.end({ timeout: 5 });
  };
  return { owner, inventory, sent, close };
};
type Opened = Awaited<ReturnType<typeof opened>>;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

const costOf = async ({ owner, inventory, sent }: Opened, page: PageName, times: number[]): Promise<Cost> => {
  sent.length = 0;
  const { length: rows } = await pages[page](inventory);
  const plans: Plan[] = [];
  for (const statement of sent.filter(({ text }) => /\b(events|runs|audit)\b/.test(text)))
    plans.push(await planWith(owner, statement));
  const storePages = plans.reduce((sum, plan) => sum + plan.pages, 0);
  return { ms: median(times), rows, storePages, shape: plans.map(({ shape }) => shape).join('; ') };
};

/** Both databases in turn, so that what else the machine does falls on both alike. */
const pagedIn = async (month: Opened, year: Opened, looks: number): Promise<Growth['paged']> => {
  const paged: Growth['paged'][number][] = [];
  for (const page of pageNames) {
    const times: { month: number[]; year: number[] } = { month: [], year: [] };
    // More than a few before: the store plans a prepared statement anew for its first five uses on each connection.
    for (let at = -10; at < looks; at++)
      for (const [name, one] of [['month', month] as const, ['year', year] as const]) {
        const took = await timed(() => pages[page](one.inventory));
        if (at >= 0) times[name].push(took);
      }
    const costs = { month: await costOf(month, page, times.month), year: await costOf(year, page, times.year) };
    if (costs.month.rows !== costs.year.rows)
      throw new Error(`${page}: ${costs.month.rows} rows after a month, ${costs.year.rows} after a year`);
    paged.push({ page, ...costs });
  }
  return paged;
};

/** Every batch until no older row follows. */
const inBatches = async <Place>(
  batch: (past?: Place) => Promise<{ readonly forgotten: number; readonly next?: Place }>,
): Promise<Batches> => {
  const times: number[] = [];
  let rows = 0;
  let past: Place | undefined;
  do {
    const began = performance.now();
    const done = await batch(past);
    times.push(performance.now() - began);
    rows += done.forgotten;
    past = done.next;
  } while (past !== undefined);
  return { rows, batches: times.length, batch_ms: median(times), most_ms: Math.max(...times) };
};

const forgotten = async ({ owner, inventory: { retention } }: Opened) => {
  const events = await inBatches<number>((past) => retention.events(keptMonths, rowsInBatch, past));
  const runs = await inBatches<{ at: string; id: string }>((past) => retention.runs(keptMonths, rowsInBatch, past));
  const vacuum_ms = await timed(() => owner.unsafe('vacuum events, runs, run_steps'));
  return { forgotten: { events, runs }, vacuum_ms, dead_rows: await deadRows(owner) };
};

const deadRows = async (sql: Sql): Promise<number> => {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ dead: number }[]>`
    select sum(n_dead_tup)::int as dead from pg_stat_user_tables where relname in ('events', 'runs', 'run_steps')`;
  return row!.dead;
};

/** Makes two databases beside the system's own, and drops them again. */
export const measureGrowth = async (
  system: System,
  { nodes, looks, root }: { readonly nodes: number; readonly looks: number; readonly root: string },
  say: (line: string) => void,
): Promise<Growth> =>
  withDatabase(system, { database: 'temper_growth_month', root }, (monthUrl) =>
    withDatabase(system, { database: 'temper_growth_year', root }, async (yearUrl) => {
      const month = await opened(monthUrl, nodes, 1, say);
      const year = await opened(yearUrl, nodes, months, say);
      try {
        const sizes = await sizesOf(year.owner);
        const bytes = Object.fromEntries(growing.map((name) => [name, sizes[name] / nodes])) as typeof sizes;
        const runs = nodes * runsAMonth * months;
        const paged = await pagedIn(month, year, looks);
        say('growth: half a year goes');
        return { nodes, runs, events: runs * eventsARun, paged, bytes, ...(await forgotten(year)) };
      } finally {
        await month.close();
        await year.close();
      }
    }),
  );

const times = (later: number, first: number): string => (later / first).toFixed(2);
const batchesText = (what: string, { rows, batches, batch_ms, most_ms }: Batches): string =>
  `  ${what}: ${rows.toLocaleString('en')} in ${batches} batches of ${rowsInBatch}; ${ms(batch_ms)} ms each, ${ms(most_ms)} at most`;

export const growthTables = ({ nodes, events, runs, paged, bytes, forgotten, ...rest }: Growth): string[] => [
  `First pages of ${nodes.toLocaleString('en')} nodes after a month and after a year (${events.toLocaleString('en')} events, ${runs.toLocaleString('en')} runs); ms and pages of the store`,
  table(
    ['page', 'ms', 'a year', 'times', 'pages', 'a year', 'times'],
    paged.map(({ page, month, year }) => [
      page,
      ...[ms(month.ms), ms(year.ms), times(year.ms, month.ms)],
      ...[String(month.storePages), String(year.storePages), times(year.storePages, month.storePages)],
    ]),
  ),
  ...paged
    .filter(({ month, year }) => year.storePages > month.storePages * 2)
    .flatMap(({ page, month, year }) => [`  ${page}, a month: ${month.shape}`, `  ${page}, a year: ${year.shape}`]),
  `  kB of a node in a year: ${growing.map((name) => `${name} ${(bytes[name] / 1_000).toFixed(0)}`).join(', ')}`,
  batchesText('events that went by age', forgotten.events),
  batchesText('runs that went by age', forgotten.runs),
  `  a vacuum after it: ${ms(rest.vacuum_ms)} ms; it left ${rest.dead_rows} dead rows`,
];
