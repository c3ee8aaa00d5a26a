/** The system that chaos is let loose on: its people, its rack, its store, and its processes that can be killed. */
import postgres from 'postgres';
import { z } from 'zod';
import { type Person, readSystem, signIn } from '../../demo/system';
import { blowOf, type Victim } from './blows';
import { pauseAll } from './pause';
import { type Around, loseAndRestore, loseEngine } from './procedure';
import { chaosRack } from './rack';
import { rolloutStore } from './rollouts/store';
import { storesOf } from './stores';
import { until } from './until';

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

/** What a system is known by. */
export type Place = {
  /** The record of a running system. */
  readonly file: string;
  /** What distinguishes it from systems beside it: a round of clocks. */
  readonly round?: string;
  /** Environment of a `migrate` of its own; needed where databases are set back. */
  readonly migrate?: Readonly<Record<string, string>>;
};

/** @param place a running system, or its record's file */
export const openSystem = async (place: Place | string) => {
  const { file, round = '', migrate = {} } = typeof place === 'string' ? { file: place } : place;
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
  const stores = storesOf(file);
  /** A ramdisk's first call is held on its machine's own side. */
  const callersLeft = async (): Promise<boolean> =>
    (await rack.gates()).every(({ held }) => held.every(({ method }) => method === 'CONTACT'));
  return {
    round,
    rack,
    operator,
    store: rolloutStore(sql),
    person: async (cloud: string) => patient(await signIn(record, cloud)),
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
    /** Does what a victim's row says, while work goes on around it. @returns once all processes run again */
    async strike(victim: Victim, around: Around): Promise<void> {
      const blow = blowOf(victim);
      const desk = { stores, operator, migrate, clouds: record.addresses.clouds };
      if (blow.does === 'restore') return loseAndRestore(desk, blow.backups, around);
      if (blow.does === 'lose') return loseEngine(desk, around);
      const struck = blow.processes.map((name) => [name, pidOf(name)] as const);
      const pids = struck.flatMap(([, pid]) => pid ?? []);
      const resumed = blow.does === 'pause' ? pauseAll(pids, blow.seconds) : undefined;
      if (!resumed) for (const pid of pids) process.kill(pid, 'SIGKILL');
      const again = () => struck.every(([name, pid]) => pidOf(name) !== pid);
      // A command whose gate opens before the rack notices that its sender is gone would be executed, not lost.
      // A worker that runs again may be held, too; by then the rack has noticed.
      if (!resumed && struck.some(([name]) => name.startsWith('worker-bmc')))
        await until('the rack to notice that its callers are gone', async () => again() || callersLeft(), {
          everyMs: 20,
        });
      // A rack that stands still opens its gates when it goes on.
      if (blow.processes.includes('rack')) await resumed;
      await Promise.all([around.open(), resumed]);
      if (!resumed) await until('the killed processes to run again', async () => again());
      await operator.must('GET', '/v1/nodes?limit=1');
    },
    close: () => sql.end({ timeout: 5 }),
  };
};

/** A client that asks again after no answer, or a 503; for requests that are harmless twice. */
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
