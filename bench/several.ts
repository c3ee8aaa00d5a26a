/** One API on one, two and three processes: requests a second of each, in turn, beside the same API on one. */
import { startHelper } from './child';
import { emptyForRoutes, fillForRoutes, type Route, routesOn } from './http-routes';
import type { Job, Load } from './load';
import { familyCpuMs } from './processes';
import { type SecondApi, startSecondApi } from './second-api';
import { median } from './stats';
import type { System } from './system';
import { ms, rate, table } from './table';

export type Several = {
  readonly connections: number;
  readonly rows: readonly {
    readonly route: string;
    readonly processes: number;
    readonly perSecond: number;
    readonly p50: number;
    readonly p99: number;
    /** Of one process in the same round: the median of the rounds. */
    readonly times: number;
    /** Processors that each used: all processes of the API, the client that asks, PostgreSQL. */
    readonly cores: { readonly api: number; readonly client: number; readonly postgres: number };
    readonly failed: number;
  }[];
};

const counts = [1, 2, 3] as const;
const connections = 32;
/** Of the whole API: what is counted in each process is divided by their number. */
const pool = '12';
const wanted = ['node show', '1,000 nodes', '1,000 nodes, two fields'];

type Sample = Load & { readonly cores: Several['rows'][number]['cores'] };
type Apis = readonly (SecondApi & { readonly processes: number })[];

/** Fills the inventory first, and starts the three, which idle while another is asked. */
export const measureSeveral = async (
  system: System,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  say: (line: string) => void,
): Promise<Several> => {
  const routes = routesOn(await fillForRoutes(system)).filter(({ name }) => wanted.includes(name));
  const load = startHelper<Job, Load>('load');
  const apis: (SecondApi & { readonly processes: number })[] = [];
  const once = async ({ method, paths }: Route, api: SecondApi, time: number): Promise<Sample> => {
    const pids = { api: api.pid, client: load.pid, postgres: pidOf(system, 'postgres') };
    const used = () => Object.entries(pids).map(([name, pid]) => [name, familyCpuMs(pid)] as const);
    const [before, began] = [new Map(used()), performance.now()];
    const url = `http://127.0.0.1:${api.port}`;
    const answer = await load.ask({ url, method, paths, headers: system.headers, connections, seconds: time });
    const wall = performance.now() - began;
    const cores = Object.fromEntries(used().map(([name, after]) => [name, (after - before.get(name)!) / wall]));
    return { ...answer, cores: cores as Sample['cores'] };
  };
  try {
    for (const processes of counts) {
      const settings = { TEMPER_API_PROCESSES: String(processes), TEMPER_DATABASE_POOL: pool };
      apis.push({ ...(await startSecondApi(system, settings)), processes });
    }
    const rows: Several['rows'][number][] = [];
    for (const route of routes) {
      for (const api of apis) await once(route, api, Math.min(2, seconds));
      const taken: Sample[][] = apis.map(() => []);
      for (let round = 0; round < rounds; round++)
        for (const [at, api] of apis.entries()) taken[at]!.push(await once(route, api, seconds));
      rows.push(...rowsOf(route.name, apis, taken));
      const scaled = rows.slice(-apis.length).map(({ processes, times }) => `${processes}: ${times.toFixed(2)}`);
      say(`${route.name}, times one process: ${scaled.join(', ')}`);
    }
    return { connections, rows };
  } finally {
    await Promise.all([load.stop(), ...apis.map(({ stop }) => stop())]);
    await emptyForRoutes(system);
  }
};

const pidOf = ({ processes }: System, wantedName: string): number =>
  processes.find(({ name }) => name === wantedName)!.pid;

const rowsOf = (route: string, apis: Apis, taken: readonly (readonly Sample[])[]): Several['rows'] =>
  apis.map(({ processes }, at) => {
    const samples = taken[at]!;
    const of = (value: (sample: Sample) => number) => median(samples.map(value));
    return {
      route,
      processes,
      perSecond: of(({ perSecond }) => perSecond),
      p50: of(({ p50 }) => p50),
      p99: of(({ p99 }) => p99),
      times: median(samples.map(({ perSecond }, round) => perSecond / taken[0]![round]!.perSecond)),
      cores: {
        api: of(({ cores }) => cores.api),
        client: of(({ cores }) => cores.client),
        postgres: of(({ cores }) => cores.postgres),
      },
      failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    };
  });

export const severalTable = ({ connections: count, rows }: Several): string[] => [
  `One API on several processes at ${count} connections; all of them are on these processors, and so are the client and PostgreSQL`,
  table(
    ['route', 'processes', '/s', 'times one', 'p50', 'p99', 'cores: API', 'client', 'PostgreSQL', 'failed'],
    rows.map(({ route, processes, perSecond, times, p50, p99, cores, failed }) => [
      route,
      ...[String(processes), rate(perSecond), times.toFixed(2), ms(p50), ms(p99)],
      ...[cores.api, cores.client, cores.postgres].map((one) => one.toFixed(2)),
      String(failed),
    ]),
  ),
];
