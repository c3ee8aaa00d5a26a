/** The system that chaos is let loose on: its people, its rack, its store, and its processes that can be killed. */
import postgres from 'postgres';
import { z } from 'zod';
import { type Person, readSystem, signIn } from '../../demo/system';
import { pauseAll } from './pause';
import { chaosRack } from './rack';
import { until } from './until';

/** Which processes are killed, by the names that the supervisor gave. */
const killed = {
  'BMC worker': ['worker-bmc-default'],
  'control worker': ['worker-control'],
  API: ['api'],
  Temporal: ['temporal'],
  Postgres: ['postgres'],
  all: ['worker-bmc-default', 'worker-control', 'api', 'temporal', 'postgres'],
} as const satisfies Record<string, readonly string[]>;
/** Which are paused. Of workers there are two of each kind then, and one of them is paused. */
const paused = {
  'BMC worker': ['worker-bmc-default'],
  'control worker': ['worker-control'],
  API: ['api'],
  Temporal: ['temporal'],
  Postgres: ['postgres'],
  rack: ['rack'],
} as const satisfies Record<string, readonly string[]>;

/** Shorter and longer than a heartbeat timeout, the lease of a lane, and a minute's silence after which a worker counts as gone. */
const pauseSeconds = [10, 25, 45, 120] as const;

export type Victim = keyof typeof killed | `${keyof typeof paused} ${(typeof pauseSeconds)[number]} s`;

/** What is done to processes: killed with -9, or stopped for so many seconds and let go on. */
type Blow = { readonly processes: readonly string[]; readonly seconds?: number };

const pauses = (Object.keys(paused) as (keyof typeof paused)[]).flatMap((name) =>
  pauseSeconds.map((seconds) => [`${name} ${seconds} s` as const, { processes: paused[name], seconds }] as const),
);
const kills = Object.entries(killed).map(([name, processes]) => [name, { processes }] as const);
const blows: Readonly<Record<string, Blow>> = Object.fromEntries([...kills, ...pauses]);

export const allKills = kills.map(([name]) => name) as readonly Victim[];
export const allPauses: readonly Victim[] = pauses.map(([name]) => name);

/** Whether a victim holds the connections to BMCs. */
export const holdsBmcs = (victim: Victim): boolean => blows[victim]!.processes.includes('worker-bmc-default');

const Addresses = z.looseObject({ postgresUrl: z.string() });

/** Where a run is, from the store. `begun` counts first attempts of acts. */
export type Standing = {
  readonly id: string;
  readonly state: string;
  readonly finished_at: Date | null;
  readonly last_error: string | null;
  readonly begun: number;
  readonly step: string | null;
  readonly act: string | null;
  readonly step_state: string | null;
  readonly step_error: string | null;
};

export type System = Awaited<ReturnType<typeof openSystem>>;

/** @param file the record of a running system */
export const openSystem = async (file: string) => {
  const record = readSystem(file);
  const rack = chaosRack(record);
  const sql = postgres(Addresses.parse(record.addresses).postgresUrl, {
    max: 2,
    onnotice: () => {},
    connect_timeout: 5,
  });
  const operator = patient(await signIn(record, 'operator'));
  const pidOf = (name: string): number | undefined =>
    readSystem(file).processes.find((process) => process.name === name)?.pid;
  return {
    rack,
    operator,
    bmcs: await rack.bmcs(),
    /** Undefined while the store does not answer. */
    async standing(runs: readonly string[]): Promise<Map<string, Standing> | undefined> {
      if (runs.length === 0) return new Map();
      try {
        const rows = await sql<Standing[]>`
          select r.id, r.state, r.finished_at, r.last_error, s.interface || '.' || s.step as step, s.act,
            s.state as step_state, s.last_error as step_error,
            (select count(*)::int from events e
              where e.run_id = r.id and e.kind = 'step.begun' and e.data->>'attempt' = '1') as begun
          from runs r left join run_steps s on s.run_id = r.id and s.index = r.cursor
          where r.id in ${sql(runs)}`;
        return new Map(rows.map((row) => [row.id, row]));
      } catch {
        return undefined;
      }
    },
    /** Kills or pauses, all at once. @returns resolves when all of them run again */
    strike(victim: Victim): () => Promise<void> {
      const { processes, seconds } = blows[victim]!;
      const struck = processes.map((name) => [name, pidOf(name)] as const);
      const pids = struck.flatMap(([, pid]) => pid ?? []);
      const resumed = seconds === undefined ? undefined : pauseAll(pids, seconds);
      if (!resumed) for (const pid of pids) process.kill(pid, 'SIGKILL');
      return async () => {
        if (resumed) await resumed;
        else
          await until('the killed processes to run again', async () =>
            struck.every(([name, pid]) => pidOf(name) !== pid),
          );
        await operator.must('GET', '/v1/nodes?limit=1');
      };
    },
    close: () => sql.end({ timeout: 5 }),
  };
};

/** Somebody who asks again where nobody answers, or 503 does; for requests that are harmless twice. */
const patient = (person: Person): Person => {
  const ask: Person['ask'] = (method, path, body) =>
    until(`an answer to ${method} ${path}`, async () => {
      const reply = await person.ask(method, path, body).catch(() => undefined);
      return reply?.status === 503 ? undefined : reply;
    });
  return {
    ...person,
    ask,
    async must(method, path, body) {
      const { status, says, body: told } = await ask(method, path, body);
      if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${says}`);
      return told;
    },
  };
};
