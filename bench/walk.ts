/** All nodes of a large fleet, page by page: what the last pages cost beside the first, and what memory the API takes for it. */
import { residentMiB } from './processes';
import { median } from './stats';
import type { System } from './system';
import { amount, ms, table } from './table';

const forms = {
  'default fields': '',
  'two fields': '&fields=uuid,name',
  'in detail': '&detail=True',
} as const;

export type Walk = {
  readonly form: keyof typeof forms;
  readonly nodes: number;
  readonly pages: number;
  readonly seconds: number;
  /** The first page and the last full one, asked for in turn; medians in ms. */
  readonly first: number;
  readonly last: number;
  readonly ratio: number;
  /** Resident memory of the API in MiB, before the walk and at most during it. */
  readonly before: number;
  readonly most: number;
};

const name = 'bench-walk-';
const limit = 1_000;
/** How often the first and the last full page are asked for, to compare them. */
const compared = 20;

/** At rest in `enroll`, where no process watches a node's power. */
const fill = async ({ sql }: System, nodes: number): Promise<void> => {
  await sql`
    insert into nodes (name, driver, driver_info, properties, extra, resource_class, owner, description)
    select ${name} || n, 'fake-hardware', '{"redfish_address": "https://10.0.0.1", "redfish_username": "operator"}',
      '{"cpus": 64, "memory_mb": 262144, "local_gb": 1787, "cpu_arch": "x86_64", "vendor": "A vendor"}',
      jsonb_build_object('rack', 'r' || n / 40, 'unit', n % 40, 'note', repeat('lorem ipsum ', 12)), 'bench-walk',
      'bench-owner-' || n / 250, 'In row ' || n / 1000
    from generate_series(1, ${nodes}::int) n`;
  await sql`vacuum analyze nodes`;
};

const apiOf = ({ processes }: System): number => processes.find((one) => one.name === 'api')!.pid;

type Page = { readonly next?: string; readonly nodes: readonly unknown[] };

const pageAt = async ({ headers }: System, url: string): Promise<Page & { readonly took: number }> => {
  const asked = performance.now();
  const response = await fetch(url, { headers });
  const page = (await response.json()) as Page;
  if (!response.ok) throw new Error(`GET ${url} answered ${response.status}`);
  return { ...page, took: performance.now() - asked };
};

/** Two pages in turn, so that what else the machine does falls on both; medians in ms. */
const inTurn = async (system: System, first: string, last: string): Promise<Pick<Walk, 'first' | 'last' | 'ratio'>> => {
  const times: [number[], number[]] = [[], []];
  for (let at = 0; at < compared; at++)
    for (const [index, url] of [first, last].entries()) times[index]!.push((await pageAt(system, url)).took);
  const [ofFirst, ofLast] = times.map(median) as [number, number];
  return { first: ofFirst, last: ofLast, ratio: ofLast / ofFirst };
};

const walk = async (system: System, form: keyof typeof forms): Promise<Walk> => {
  const pid = apiOf(system);
  const before = residentMiB(pid);
  const sizes = [before];
  const full: string[] = [];
  let [nodes, pages] = [0, 0];
  const began = performance.now();
  for (let url: string | undefined = `${system.api}/v1/nodes?limit=${limit}${forms[form]}`; url; pages++) {
    const page: Page = await pageAt(system, url);
    nodes += page.nodes.length;
    if (page.next) full.push(url);
    if (pages % 10 === 9) sizes.push(residentMiB(pid));
    url = page.next;
  }
  const seconds = (performance.now() - began) / 1_000;
  const ends = await inTurn(system, full[0]!, full.at(-1)!);
  return { form, nodes, pages, seconds, ...ends, before, most: Math.max(...sizes, residentMiB(pid)) };
};

/** Each form of the list, one walk after the other. Takes its nodes away again. */
export const measureWalks = async (
  system: System,
  { nodes }: { readonly nodes: number },
  say: (line: string) => void,
): Promise<Walk[]> => {
  try {
    await fill(system, nodes);
    const walks: Walk[] = [];
    for (const form of Object.keys(forms) as (keyof typeof forms)[]) {
      const done = await walk(system, form);
      say(`${done.nodes} nodes, ${form}: ${done.seconds.toFixed(1)} s, at most ${done.most.toFixed(0)} MiB`);
      walks.push(done);
    }
    return walks;
  } finally {
    await system.sql`delete from nodes where name like ${`${name}%`}`;
    await system.sql`vacuum analyze nodes`;
  }
};

export const walksTables = (walks: readonly Walk[]): string[] => [
  `All nodes in pages of ${limit.toLocaleString('en')}, one after the other; ms of the first page and of the last full one, and memory of the API in MiB`,
  table(
    ['form', 'nodes', 'seconds', 'first', 'last', 'ratio', 'before', 'at most'],
    walks.map((one) => [
      one.form,
      one.nodes.toLocaleString('en'),
      one.seconds.toFixed(1),
      ...[ms(one.first), ms(one.last), one.ratio.toFixed(2)],
      ...[amount(one.before), amount(one.most)],
    ]),
  ),
];
