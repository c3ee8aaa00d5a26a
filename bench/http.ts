/** Requests per second of single rows and of lists, each beside a bare process that answers the same bytes from the same statement. */
import type { BareRead, Samples } from './bare';
import { type Helper, startHelper } from './child';
import { emptyForRoutes, fillForRoutes, type Route, readsFor, routesOn } from './http-routes';
import type { Job, Load } from './load';
import { cpuMs } from './processes';
import { median } from './stats';
import type { System } from './system';

export type Effort = { readonly rounds: number; readonly seconds: number };

/** Medians over the rounds; `cpu` is processor time of the serving process alone, in ms a request. */
type Side = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpu: number | null;
  readonly failed: number;
};
export type Cell = {
  readonly route: string;
  readonly kind: Route['kind'];
  readonly connections: number;
  readonly real: Side;
  readonly bare: Side;
  /** Requests per second of the real one by those of the bare one: the median of the rounds. */
  readonly ratio: number;
};

export const connections = [1, 8, 32] as const;
/** `TEMPER_DATABASE_POOL` of a system that says nothing. */
const pool = 10;

/** Everything about HTTP. Fills the inventory first. */
export const measureHttp = async (system: System, effort: Effort, say: (line: string) => void): Promise<Cell[]> => {
  const routes = routesOn(await fillForRoutes(system));
  const reads = await readsFor(system, routes);
  const [show] = reads as [BareRead, ...BareRead[]];
  const bare = startHelper<Samples, number>('bare', [], {
    BENCH_DATABASE_URL: system.postgresUrl,
    BENCH_BASE: system.api,
    BENCH_POOL: String(pool),
  });
  const load = startHelper<Job, Load>('load');
  try {
    const port = await bare.ask({ reads, node: show.sample, find: show.statements[0]! });
    const sides: Sides = {
      real: { url: system.api, pid: system.processes.find(({ name }) => name === 'api')!.pid },
      bare: { url: `http://127.0.0.1:${port}`, pid: bare.pid },
    };
    await checkSame(system, sides, routes);
    const cells: Cell[] = [];
    for (const route of routes)
      cells.push(...(await measureRoute(route, { system, sides, load, effort, idle: show.path }, say)));
    return cells;
  } finally {
    await Promise.all([bare.stop(), load.stop()]);
    await emptyForRoutes(system);
  }
};

type Sides = Readonly<Record<'real' | 'bare', { readonly url: string; readonly pid: number }>>;
type Bench = {
  readonly system: System;
  readonly sides: Sides;
  readonly load: Helper<Job, Load>;
  readonly effort: Effort;
  /** A small request that both sides know. */
  readonly idle: string;
};

// What differs between two nodes that were created one after the other.
const withoutIdentity = (text: string): string =>
  text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|bench-same-\w+|"\d{4}-[^"]*\+00:00"/g, '*');

/** A comparison of different answers would say nothing. */
const checkSame = async (system: System, sides: Sides, routes: readonly Route[]): Promise<void> => {
  for (const { name, method, paths, body } of routes) {
    const texts: string[] = [];
    for (const [side, { url }] of Object.entries(sides)) {
      const sent = body?.replace('%id%', `same-${side}`);
      const response = await fetch(`${url}${paths[0]}`, {
        method,
        headers: system.headers,
        ...(sent && { body: sent }),
      });
      texts.push(await response.text());
    }
    const [real, bare] = method === 'GET' ? texts : texts.map(withoutIdentity);
    if (real !== bare) throw new Error(`${name}: the bare process answers something else:\n${real}\n${bare}`);
  }
};

const measureRoute = async (route: Route, bench: Bench, say: (line: string) => void): Promise<Cell[]> => {
  const { effort } = bench;
  for (const side of ['real', 'bare'] as const) await once(route, side, 8, Math.min(2, effort.seconds), bench);
  const cells: Cell[] = [];
  for (const count of connections) {
    const rounds: Record<'real' | 'bare', Sample[]> = { real: [], bare: [] };
    for (let round = 0; round < effort.rounds; round++)
      for (const side of ['real', 'bare'] as const)
        rounds[side].push(await once(route, side, count, effort.seconds, bench));
    const ratio = median(rounds.real.map(({ perSecond }, index) => perSecond / rounds.bare[index]!.perSecond));
    cells.push({
      route: route.name,
      kind: route.kind,
      connections: count,
      real: merged(rounds.real),
      bare: merged(rounds.bare),
      ratio,
    });
    say(`${route.name}, ${count} connections: ${ratio.toFixed(2)} of bare`);
  }
  return cells;
};

type Sample = Load & { readonly cpu: number | undefined };

const once = async (
  { method, paths, body }: Route,
  side: 'real' | 'bare',
  count: number,
  seconds: number,
  { system, sides, load, idle }: Bench,
): Promise<Sample> => {
  const { url, pid } = sides[side];
  // Whatever the measurement before has left in the queues is done before the next begins.
  await (await fetch(`${url}${idle}`, { headers: system.headers })).arrayBuffer();
  const before = cpuMs(pid);
  const answer = await load.ask({
    url,
    method,
    paths,
    headers: system.headers,
    ...(body !== undefined && { body }),
    connections: count,
    seconds,
  });
  const after = cpuMs(pid);
  return {
    ...answer,
    cpu: before === undefined || after === undefined ? undefined : (after - before) / answer.requests,
  };
};

const merged = (samples: readonly Sample[]): Side => {
  const of = (value: (sample: Sample) => number) => median(samples.map(value));
  return {
    perSecond: of((sample) => sample.perSecond),
    p50: of((sample) => sample.p50),
    p99: of((sample) => sample.p99),
    cpu: samples[0]?.cpu === undefined ? null : of((sample) => sample.cpu!),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  };
};
