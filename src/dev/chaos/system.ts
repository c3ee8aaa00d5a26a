/** The system that chaos is let loose on: its people, its rack, its store, and its processes that can be killed. */
import postgres from 'postgres';
import { z } from 'zod';
import { type Person, readSystem, signIn } from '../demo/system';
import { chaosRack } from './rack';
import { until } from './until';

/** Who is killed, by the names that the supervisor gave. */
export const victims = {
  'BMC worker': ['worker-bmc-default'],
  'control worker': ['worker-control'],
  API: ['api'],
  Temporal: ['temporal'],
  Postgres: ['postgres'],
  all: ['worker-bmc-default', 'worker-control', 'api', 'temporal', 'postgres'],
} as const satisfies Record<string, readonly string[]>;
export type Victim = keyof typeof victims;

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
    /** Kills with -9, all at once. @returns resolves when all of them run again */
    kill(victim: Victim): () => Promise<void> {
      const killed = victims[victim].map((name) => [name, pidOf(name)] as const);
      for (const [, pid] of killed) if (pid) process.kill(pid, 'SIGKILL');
      return async () => {
        await until('the killed processes to run again', async () =>
          killed.every(([name, pid]) => pidOf(name) !== pid),
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
