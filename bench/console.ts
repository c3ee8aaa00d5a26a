/** The console's pages before the API in a large fleet: how long each takes, and how soon a change is on the screen. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { emptyAfterConsole, type Fleet, fillForConsole } from './console-fleet';
import { cpuByGroup, cpuSince } from './processes';
import { percentile } from './stats';
import { ask, type Signed, type System } from './system';
import { cpu, ms, table } from './table';

type Effort = { readonly nodes: number; readonly looks: number; readonly changes: number };

type PageTimes = {
  readonly page: string;
  readonly as: string;
  readonly p50: number;
  readonly p95: number;
  /** Processor ms a page: of the console, of the API, of PostgreSQL; undefined where the machine does not tell. */
  readonly cpu: { readonly [Name in (typeof servers)[number]]: number | undefined };
};
export type ConsoleFigures = {
  readonly nodes: number;
  readonly pages: readonly PageTimes[];
  /** From the request that makes an event until the page's stream says so, and until the page's part is there; p95 in ms. */
  readonly changes: { readonly count: number; readonly pushed: number; readonly shown: number };
};

const servers = ['console', 'api', 'postgres'] as const;

/** Signs in as the page does. @returns the Cookie header */
const signIn = async ({ console: url }: System, { headers }: Signed): Promise<string> => {
  const cookieOf = (reply: Response): string => reply.headers.getSetCookie().at(-1)?.split(';')[0] ?? '';
  const page = await fetch(`${url}/sign-in`);
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const reply = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookieOf(page) },
    body: new URLSearchParams({ csrf, kind: 'token', token: headers['X-Auth-Token']! }),
  });
  if (reply.status !== 303) throw new Error(`the console answered ${reply.status} to a login`);
  return cookieOf(reply);
};

/** ms until the whole page is there. */
const look = async (url: string, cookie: string): Promise<number> => {
  const began = performance.now();
  const reply = await fetch(url, { headers: { cookie }, redirect: 'manual' });
  const text = await reply.text();
  const took = performance.now() - began;
  if (reply.status !== 200 || !text.includes('</html>')) throw new Error(`GET ${url} answered ${reply.status}`);
  return took;
};

const timesOf = async (system: System, cookie: string, path: string, looks: number) => {
  const url = `${system.console}${path}`;
  // More than a few: the store plans a prepared statement anew for its first five uses on each connection.
  for (let at = 0; at < 20; at++) await look(url, cookie);
  const processes = system.processes.filter((one) => (servers as readonly string[]).includes(one.name));
  const before = cpuByGroup(processes);
  const times: number[] = [];
  while (times.length < looks) times.push(await look(url, cookie));
  const used = cpuSince(before, processes);
  const each = (name: (typeof servers)[number]) => (used[name] === undefined ? undefined : used[name] / looks);
  return {
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    cpu: { console: each('console'), api: each('api'), postgres: each('postgres') },
  };
};

const operatorsPages = ({ last, node, run }: Fleet): Readonly<Record<string, string>> => ({
  Overview: '/',
  'Overview by class': '/?by=class',
  Inbox: '/inbox',
  Search: '/search?q=bench-console-5',
  Nodes: '/nodes',
  'Nodes, the last page': `/nodes?marker=${last}`,
  'Nodes by state': '/nodes?provision_state=available',
  'Nodes in maintenance': '/nodes?maintenance=true',
  'Nodes of an owner': '/nodes?owner=bench-owner-3',
  'Nodes, longest in their state': '/nodes?sort_key=provision_updated_at&sort_dir=asc',
  'Nodes by class, sorted': '/nodes?resource_class=class-3&sort_key=name&sort_dir=asc',
  'a node': `/nodes/${node}`,
  Runs: '/runs',
  'Runs, all': '/runs?state=any',
  'Runs that failed': '/runs?state=failed',
  'Runs that try again': '/runs?state=retrying',
  'a run': `/runs/${run}`,
  Rollouts: '/rollouts',
  Runbooks: '/runbooks',
  Allocations: '/allocations',
  Audit: '/audit',
  System: '/system',
});
const lesseesPages = { Overview: '/', Inbox: '/inbox', Nodes: '/nodes', Runs: '/runs?state=any' } as const;

/** The stream of the Overview, as a browser follows it: `change` is emitted for each push. */
const follow = async ({ console: url }: System, cookie: string, signal: AbortSignal): Promise<EventEmitter> => {
  const pushes = new EventEmitter();
  const reply = await fetch(`${url}/live`, { headers: { cookie, accept: 'text/event-stream' }, signal });
  if (!reply.ok || !reply.body) throw new Error(`GET /live answered ${reply.status}`);
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>)
      if (decoder.decode(chunk, { stream: true }).includes('event: change')) pushes.emit('change');
  };
  read().catch(() => undefined); // called off at the end
  return pushes;
};

const changesOf = async (system: System, cookie: string, { node }: Fleet, count: number) => {
  const leaving = new AbortController();
  const [pushed, shown]: [number[], number[]] = [[], []];
  try {
    const pushes = await follow(system, cookie, leaving.signal);
    for (let at = 0; at < count; at++) {
      // Another place within the reader's interval each time; what the change before has left is done.
      await pause(1_000 + ((at * 137) % 400));
      const push = once(pushes, 'change', { signal: AbortSignal.timeout(30_000) });
      const began = performance.now();
      const [method, body] = at % 2 === 0 ? (['PUT', { reason: 'bench' }] as const) : (['DELETE', undefined] as const);
      await Promise.all([push, ask(system, method, `/v1/nodes/${node}/maintenance`, body)]);
      pushed.push(performance.now() - began);
      await look(`${system.console}/`, cookie);
      shown.push(performance.now() - began);
    }
  } finally {
    leaving.abort();
  }
  return { count, pushed: percentile(pushed, 0.95), shown: percentile(shown, 0.95) };
};

/** Fills the inventory first, and takes its nodes away again. */
export const measureConsole = async (
  system: System,
  { nodes, looks, changes }: Effort,
  say: (line: string) => void,
): Promise<ConsoleFigures> => {
  const [operator, lessee] = [await system.signIn('operator'), await system.signIn('lessee-reader')];
  try {
    const fleet = await fillForConsole(system, lessee.project!, nodes);
    const asked = [
      { as: 'operator', cookie: await signIn(system, operator), paths: operatorsPages(fleet) },
      { as: 'lessee', cookie: await signIn(system, lessee), paths: lesseesPages },
    ];
    const pages: PageTimes[] = [];
    for (const { as, cookie, paths } of asked)
      for (const [page, path] of Object.entries(paths)) {
        pages.push({ page, as, ...(await timesOf(system, cookie, path, looks)) });
        say(`${page} for the ${as}: ${pages.at(-1)!.p95.toFixed(0)} ms at p95`);
      }
    return { nodes, pages, changes: await changesOf(system, asked[0]!.cookie, fleet, changes) };
  } finally {
    await emptyAfterConsole(system);
  }
};

export const consoleTables = ({ nodes, pages, changes }: ConsoleFigures): string[] => [
  `Pages of the console among ${nodes.toLocaleString('en')} nodes, one request after the other: ms, and processor ms a page`,
  table(
    ['page', 'for', 'p50', 'p95', ...servers],
    pages.map((one) => [
      one.page,
      one.as,
      ms(one.p50),
      ms(one.p95),
      ...servers.map((server) => cpu(one.cpu[server] ?? null)),
    ]),
  ),
  `A change, ms at p95 of ${changes.count}: pushed on the page's stream after ${ms(changes.pushed)}, on the Overview after ${ms(changes.shown)}`,
];
