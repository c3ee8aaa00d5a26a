/** Where a secret could have left a trace in a system: files, tables, histories. Each as named texts, to be searched. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { z } from 'zod';
import type { Json, Person } from '../../../demo/system';
import { temporalNamespace } from '../../support/servers';
import type { System } from './system';

/** `where` names the place for people; `text` is searched. Bytes are read one to a character, so that binary files count too. */
export type Trace = { readonly where: string; readonly text: string };

const Addresses = z.object({ postgresUrl: z.string(), temporal: z.string() });

/** Everything that can be read through the API, by a caller who may read everything. */
export const repliesOf = async (person: Person): Promise<Trace[]> => {
  const { nodes } = await person.must('GET', '/v1/nodes');
  const { runbooks } = await person.must('GET', '/v1/runbooks');
  const ofNode = nodes.flatMap(({ uuid }: Json) => [
    ...['', '/states', '/validate', '/traits', '/maintenance', '/history', '/inventory'].map(
      (part) => `/v1/nodes/${uuid}${part}`,
    ),
    ...['runs', 'steps', 'freezes'].map((part) => `/temper/v1/nodes/${uuid}/${part}`),
  ]);
  const lists = ['/v1/nodes/detail', '/v1/runbooks?detail=True', '/v1/drivers', '/v1/conductors', '/v1/ports/detail'];
  const paths = [...lists, ...ofNode, ...runbooks.map(({ uuid }: Json) => `/v1/runbooks/${uuid}`)];
  const ofRuns: string[] = [];
  for (const { uuid } of nodes)
    for (const run of (await person.must('GET', `/temper/v1/nodes/${uuid}/runs`)).runs)
      ofRuns.push(`/temper/v1/runs/${run.uuid}`);
  return Promise.all(
    [...paths, ...ofRuns].map(async (path) => ({
      where: `GET ${path}`,
      text: JSON.stringify((await person.ask('GET', path)).body),
    })),
  );
};

/** All files of the data folder but the emulated BMCs' own memory: logs, the cluster and its log of changes, Temporal's file. */
export const filesOf = (system: System): Trace[] =>
  readdirSync(system.data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => ({ where: relative(system.data, file), file }))
    .filter(({ where }) => !where.startsWith('rack/'))
    .flatMap(({ where, file }) => {
      try {
        return [{ where, text: readFileSync(file, 'latin1') }];
      } catch {
        return []; // the servers are at work: a file may go while we look
      }
    });

export type AuditRow = {
  readonly action: string;
  readonly rule: string | null;
  readonly requester: Json;
  readonly data: Json;
};

/** The audit trail of one run, oldest first. */
export const auditOf = (system: System, run: string): Promise<AuditRow[]> =>
  withStore(
    system,
    async (sql) =>
      await sql<AuditRow[]>`select action, rule, requester, data from audit where run_id = ${run} order by seq`,
  );

const withStore = async <T>(system: System, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = postgres(Addresses.parse(system.record().addresses).postgresUrl, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
};

/** Every row of every table but the one that holds what is encrypted. */
export const tablesOf = (system: System): Promise<Trace[]> =>
  withStore(system, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'secrets'`;
    const rows = tables.map(async ({ name }) => {
      const all = await sql<{ row: string }[]>`select row_to_json(t)::text as row from ${sql(name)} t`;
      return { where: `table ${name}`, text: all.map(({ row }) => row).join('\n') };
    });
    return Promise.all(rows);
  });

/** Work with a client of the system's engine, as its own tools have one. */
export const withEngine = async <T>(system: System, work: (client: Client) => Promise<T>): Promise<T> => {
  const connection = await Connection.connect({ address: Addresses.parse(system.record().addresses).temporal });
  try {
    return await work(new Client({ connection, namespace: temporalNamespace }));
  } finally {
    await connection.close();
  }
};

/** The history of every workflow, payloads as text, with what the list of workflows shows of it. */
export const historiesOf = (system: System): Promise<Trace[]> =>
  withEngine(system, async ({ workflow }) => {
    const traces: Trace[] = [];
    for await (const { workflowId, runId, raw } of workflow.list()) {
      const history = await workflow.getHandle(workflowId, runId).fetchHistory();
      traces.push({ where: `workflow ${workflowId}`, text: textsOf([raw, history]).join('\n') });
    }
    return traces;
  });

/** All texts within a value, bytes as the text that they spell. Not as JSON: there bytes would be base64. */
const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
    : [];
};

/** Spellings under which a secret could be found. */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

/** Places in which one of the secrets can be read. */
export const found = (traces: readonly Trace[], secrets: Readonly<Record<string, string>>): string[] =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    traces
      .filter(({ text }) => spellings(secret).some((spelling) => text.includes(spelling)))
      .map(({ where }) => `${name} in ${where}`),
  );
