/** Many open event streams of many callers in one API process: its memory and processor time, and how late events are at their readers. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Helper, startHelper } from './child';
import { cpuMs, residentMiB } from './processes';
import { type SecondApi, startSecondApi } from './second-api';
import { percentile } from './stats';
import type { ReadersAnswer, ReadersQuestion, StreamAsked } from './streams-readers';
import type { System } from './system';
import { amount, cpu, ms, rate, table } from './table';

/** `each`: streams of one caller. */
type Effort = { readonly callers: number; readonly each: number; readonly seconds: number };

export type StreamFigures = {
  readonly callers: number;
  readonly streams: number;
  readonly opened_s: number;
  /** Of the API process, resident: without a stream, and the most that was seen with all. */
  readonly mib_before: number;
  readonly mib: number;
  /** Cores of the API process while nothing happens, and while events are written. */
  readonly idle_cores: number;
  readonly cores: number;
  readonly written: number;
  readonly written_per_s: number;
  /** Events of all readers together. */
  readonly expected: number;
  readonly received: number;
  /** From the row to the reader, ms. */
  readonly late_p50: number;
  readonly late_p99: number;
  readonly late_most: number;
  readonly closed: number;
};

const perSecond = 100;
const name = 'bench-streams-';
const projectOf = (caller: number): string => createHash('md5').update(`${name}${caller}`).digest('hex');
const tokenOf = (caller: number): string => createHash('sha256').update(`${name}${caller}`).digest('hex');

type Tenant = { readonly node: string; readonly run: string; readonly project: string };

/** A node of each caller's with a run that goes on; its time keeps it from the reconciler, for it has no workflow. */
const addTenants = async ({ sql }: System, callers: number): Promise<Tenant[]> => {
  const projects = Array.from({ length: callers }, (_, caller) => projectOf(caller));
  await sql`
    insert into nodes (name, driver, conductor_group, provision_state, power_state, owner)
    select ${name} || n, 'fake-hardware', 'bench-streams', 'active', 'power on', project
    from unnest(${projects}::text[]) with ordinality as given (project, n)`;
  return sql<Tenant[]>`
    insert into runs (id, node_uuid, node_name, fence, kind, verb, state, cursor, input, owner, requester, rule_set, workflow_id, created_at, started_at, updated_at)
    select gen_random_uuid(), uuid, name, 1, 'clean', 'clean', 'running', 0, '{}', owner, '{"user_id": "u"}', 'temper', ${name} || id, now(), now(), now() + interval '1 day'
    from nodes where name like ${`${name}%`} order by id
    returning node_uuid as node, id as run, owner as project`;
};

/** Its events stay: they are append-only. */
const removeTenants = async ({ sql }: System): Promise<void> => {
  await sql`delete from runs where workflow_id like ${`${name}%`}`;
  await sql`delete from nodes where name like ${`${name}%`}`;
};

/** Of each caller one stream of its run and one of its node; the others are of all that it may see. */
const streamsOf = (tenants: readonly Tenant[], each: number): StreamAsked[] =>
  tenants.flatMap(({ node, run }, caller) =>
    Array.from({ length: each }, (_, at) => {
      const token = tokenOf(caller);
      if (at === 0) return { token, path: `/temper/v1/runs/${run}/events` };
      return { token, path: at === 1 ? `/temper/v1/events?node=${node}` : '/temper/v1/events' };
    }),
  );

const writeTokens = (dir: string, callers: number): string => {
  const file = join(dir, 'tokens.yaml');
  const line = (_: unknown, caller: number): string =>
    `  - {user: ${name}${caller}, token: "${tokenOf(caller)}", roles: [member], project: "${projectOf(caller)}"}`;
  writeFileSync(file, `tokens:\n${Array.from({ length: callers }, line).join('\n')}\n`);
  return file;
};

/** One event a statement, as a run writes them, evenly over the time. @returns how many, and how many a second */
const write = async ({ sql }: System, tenants: readonly Tenant[], seconds: number) => {
  const began = performance.now();
  const under: Promise<unknown>[] = [];
  for (let at = 0; at < perSecond * seconds; at++) {
    await pause(Math.max(0, began + (at * 1_000) / perSecond - performance.now()));
    const { node, run, project } = tenants[at % tenants.length]!;
    const data = { index: at % 5, interface: 'management', step: 'set_boot_device', attempt: 1, state: 'running' };
    under.push(
      sql`
      insert into events (kind, node_uuid, run_id, project, data)
      values (${at % 2 === 0 ? 'step.begun' : 'step.done'}, ${node}, ${run}, ${project}, ${sql.json(data)})`.execute(),
    );
  }
  await Promise.all(under);
  return { written: under.length, written_per_s: under.length / ((performance.now() - began) / 1_000) };
};

type Readers = Helper<ReadersQuestion, ReadersAnswer>;

/** What has come, once as much has as there is, or nothing more does. */
const received = async (readers: Readers, expected: number): Promise<ReadersAnswer> => {
  const late: number[] = [];
  for (let silent = 0; ; ) {
    const seen = await readers.ask({ is: 'look' });
    for (const one of seen.late) late.push(one);
    silent = seen.late.length === 0 ? silent + 1 : 0;
    if (late.length >= expected || silent === 20) return { late, closed: seen.closed };
    await pause(500);
  }
};

/** Cores that the process used while the work was done, and the most memory that was seen meanwhile. */
const watched = async <Out>(pid: number, work: () => Promise<Out>) => {
  let mib = 0;
  const timer = setInterval(() => (mib = Math.max(mib, residentMiB(pid))), 1_000);
  const [began, before] = [performance.now(), cpuMs(pid)];
  try {
    const out = await work();
    const cores = ((cpuMs(pid) ?? Number.NaN) - (before ?? Number.NaN)) / (performance.now() - began);
    return { out, cores, mib: Math.max(mib, residentMiB(pid)) };
  } finally {
    clearInterval(timer);
  }
};

const measure = async (
  system: System,
  api: SecondApi,
  readers: Readers,
  { callers, each, seconds }: Effort,
): Promise<StreamFigures> => {
  const tenants = await addTenants(system, callers);
  const streams = streamsOf(tenants, each);
  const mib_before = residentMiB(api.pid);
  const began = performance.now();
  await readers.ask({ is: 'open', port: api.port, streams });
  const opened_s = (performance.now() - began) / 1_000;
  await pause(2_000);
  const idle = await watched(api.pid, () => pause(seconds * 500));
  const busy = await watched(api.pid, () => write(system, tenants, seconds));
  const expected = busy.out.written * each;
  const { late, closed } = await received(readers, expected);
  return {
    callers,
    streams: streams.length,
    opened_s,
    mib_before,
    mib: Math.max(idle.mib, busy.mib),
    idle_cores: idle.cores,
    cores: busy.cores,
    ...busy.out,
    expected,
    received: late.length,
    late_p50: percentile(late, 0.5),
    late_p99: percentile(late, 0.99),
    late_most: late.reduce((most, one) => Math.max(most, one), 0),
    closed,
  };
};

export const measureStreams = async (
  system: System,
  effort: Effort,
  say: (line: string) => void,
): Promise<StreamFigures> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-streams-'));
  const streams = effort.callers * effort.each;
  const api = await startSecondApi(system, {
    TEMPER_AUTH_STRATEGY: 'static_tokens',
    TEMPER_TOKENS_FILE: writeTokens(dir, effort.callers),
    // Callers of projects may open four fifths of them.
    TEMPER_EVENT_STREAMS: String(Math.ceil((streams * 5) / 4)),
    TEMPER_MAX_CONNECTIONS: String(streams + 100),
    TEMPER_CONNECTIONS_PER_ADDRESS: String(streams + 100),
    TEMPER_ADDRESS_LIMIT_PER_MINUTE: '0',
  });
  const readers = startHelper<ReadersQuestion, ReadersAnswer>('streams-readers');
  try {
    const found = await measure(system, api, readers, effort);
    say(`${found.streams} streams: ${found.mib.toFixed(0)} MiB, ${found.cores.toFixed(2)} cores`);
    return found;
  } finally {
    await readers.stop();
    await api.stop();
    await removeTenants(system);
    rmSync(dir, { recursive: true, force: true });
  }
};

export const streamsTables = (found: StreamFigures): string[] => [
  `${found.streams} event streams of ${found.callers} callers in one API process, ${rate(found.written_per_s)} events written a second: ${found.received} of ${found.expected} were read, ${found.closed} streams ended`,
  table(
    ['opened, s', 'MiB before', 'MiB', 'cores idle', 'cores', 'late p50, ms', 'p99', 'most'],
    [
      [
        found.opened_s.toFixed(1),
        amount(found.mib_before),
        amount(found.mib),
        cpu(found.idle_cores),
        cpu(found.cores),
        ms(found.late_p50),
        ms(found.late_p99),
        ms(found.late_most),
      ],
    ],
  ),
];
