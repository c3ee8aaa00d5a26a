/** The least that could answer the same: Express and postgres.js, the API's own statements, no identity, no rules, no checks. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import { auditInsert } from '../src/inventory/audit';
import { connect } from '../src/inventory/database';
import { eventInsert } from '../src/inventory/events';
import { columnOf } from '../src/model/resources/fields';
import { nodeTable } from '../src/model/resources/nodes';
import { answerParent } from './child';
import type { Statement } from './plans/statements';

/** A path with its query, the statements that the API answers it with, and an answer of its, for the fields it has. */
export type BareRead = { readonly path: string; readonly statements: readonly Statement[]; readonly sample: Body };
export type Samples = {
  readonly reads: readonly BareRead[];
  /** A node, as it is shown, made and changed. */
  readonly node: Body;
  /** How the API finds one: the UUID is its only text. */
  readonly find: Statement;
};
type Body = Readonly<Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;
type Shape = (row: Row) => Body;

const base = process.env.BENCH_BASE ?? '';
const sql = connect(process.env.BENCH_DATABASE_URL ?? '', { max: Number(process.env.BENCH_POOL), name: 'bare' });

const timestamp = (date: Date): string => {
  const iso = date.toISOString();
  const millis = iso.slice(20, 23);
  return `${iso.slice(0, 19)}${millis === '000' ? '' : `.${millis}000`}+00:00`;
};

/** One reader per field of the sample: links, or a column with what stands for its null. */
const shapeOf = (sample: Body): Shape => {
  const readers = Object.entries(sample).map(([name, value]) => [name, readerOf(name, value, sample)] as const);
  return (row) => {
    const out: Record<string, unknown> = {};
    for (const [name, read] of readers) out[name] = read(row);
    return out;
  };
};

const readerOf = (name: string, value: unknown, sample: Body): ((row: Row) => unknown) => {
  const made = Array.isArray(value) ? (value as { href?: string; rel?: string }[]) : [];
  if (made[0]?.href) {
    const parts = made.map(({ href, rel }) => ({ around: href!.split(String(sample.uuid)), rel }));
    return ({ uuid }) => parts.map(({ around: [before, after], rel }) => ({ href: `${before}${uuid}${after}`, rel }));
  }
  if (name.endsWith('_at')) return (row) => (row[name] instanceof Date ? timestamp(row[name]) : null);
  const empty = typeof value === 'object' && value !== null ? (Array.isArray(value) ? [] : {}) : null;
  return (row) => row[name] ?? empty;
};

/** Sends the statements one after the other. @returns the rows of the last */
const ask = async (statements: readonly Statement[], uuid?: string): Promise<Row[]> => {
  let rows: Row[] = [];
  for (const { text, values } of statements)
    rows = await sql.unsafe(
      text,
      (uuid === undefined ? values : values.map((value) => (isUuid(value) ? uuid : value))) as never,
      { prepare: true },
    );
  return rows;
};

const isUuid = (value: unknown): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value));

/** A list, or one object. */
const readsOf = ({ statements, sample }: BareRead): ((response: Response) => Promise<void>) => {
  const [collection] = Object.entries(sample).find(([, value]) => Array.isArray(value) && value[0]?.uuid) ?? [];
  if (!collection) {
    const shape = shapeOf(sample);
    return async (response) => {
      const [row] = await ask(statements);
      if (row) send(response, 200, shape(row));
      else send(response, 404, {});
    };
  }
  return passOn(statements, collection, String(sample.next ?? ''));
};

/** A list as it comes: the same shortcut that the API takes, so that what is compared is what it does beside that. */
const passOn = (
  statements: readonly Statement[],
  collection: string,
  next: string,
): ((response: Response) => Promise<void>) => {
  const [{ text, values }] = statements as [Statement];
  const [before] = next.split('marker=');
  const head = Buffer.from(`{"${collection}":[`);
  return async (response) => {
    const answer = await sql.unsafe(text, values as never, { prepare: true }).raw();
    const [lines, , last] = (answer as unknown as Buffer[][])[0]!;
    const end = Buffer.from(next === '' ? ']}' : `],"next":${JSON.stringify(`${before}marker=${last}`)}}`);
    sendPieces(response, [head, lines!, end]);
  };
};

const writable = [...nodeTable.fields.filter((row) => row.create !== undefined).map(columnOf), 'provision_state'];

const recordOf = (uuid: string, act: 'create' | 'update', data: object) => {
  const requester = {
    user_id: 'bare',
    user_name: null,
    project_id: null,
    system_scope: 'all',
    strategy: 'noauth' as const,
  };
  const audit = {
    requester: { ...requester, request_id: uuid },
    origin: {},
    action: `node.${act}`,
    rule: 'baremetal:node:update',
    rule_set: 'bare',
    resource: 'node',
    resource_id: uuid,
    node_uuid: uuid,
    project: null,
    data: data as Body,
  };
  return { audit, event: { kind: `node.${act}d` as const, node_uuid: uuid, data: data as Body } };
};

// The fragment of src/inventory/nodes/nodes.ts.
const conductor = sql`(
  select w.hostname from workers w
  where w.role = 'bmc' and w.conductor_group = nodes.conductor_group and nodes.driver = any (w.drivers)
    and w.updated_at > now() - '60 seconds'::interval
  order by w.hostname limit 1)`;

/** The same three inserts in one statement, with the same columns; what the request leaves out is as in the sample. */
const createLike = (sample: Body) => {
  const defaults = Object.entries(sample).filter(([name]) => writable.includes(name));
  const documents = new Set(defaults.filter(([, value]) => isDocument(value)).map(([name]) => name));
  return async (given: Body): Promise<Row> => {
    const uuid = randomUUID();
    const values: Record<string, unknown> = { ...Object.fromEntries(defaults), ...given, uuid };
    const { audit, event } = recordOf(uuid, 'create', { name: given.name, driver: given.driver, given });
    for (const name of documents) values[name] = sql.json(values[name] as never);
    const [row] = await sql`
      with audited as (${auditInsert(sql, audit)}), told as (${eventInsert(sql, event)})
      insert into nodes ${sql(values as never)} returning *, ${conductor} as conductor, xmin::text as revision`;
    return row!;
  };
};

type Operation = { readonly path: string; readonly value: unknown };

/** The node is found, then changed with its record in one statement, if it still is as it was found. */
const patchLike =
  (find: Statement) =>
  async (uuid: string, [operation]: readonly Operation[]): Promise<Row> => {
    const [node] = (await ask([find], uuid)) as { extra: Body; revision: string }[];
    const extra = { ...node!.extra, [operation!.path.split('/').at(-1)!]: operation!.value };
    const { audit, event } = recordOf(uuid, 'update', { changed: { extra } });
    const [row] = await sql`
      with changed as (
          update nodes set extra = ${sql.json(extra as never)}, updated_at = now()
          where uuid = ${uuid} and xmin::text = ${node!.revision} and reservation is null
          returning *, ${conductor} as conductor, xmin::text as revision),
        audited as (${auditInsert(sql, audit, 'changed')}), told as (${eventInsert(sql, event, 'changed')})
      select * from changed`;
    return row!;
  };

const isDocument = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const send = (response: Response, status: number, body: unknown): void =>
  sendBytes(response, status, JSON.stringify(body));

const sendBytes = (response: Response, status: number, bytes: string): void => {
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) })
    .end(bytes);
};

const sendPieces = (response: Response, pieces: readonly Buffer[]): void => {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length });
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.uncork();
  response.end();
};

/** Serves these routes. @returns the port */
const serve = async ({ reads, node, find }: Samples): Promise<number> => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const full = shapeOf(node);
  const [create, patch] = [createLike(node), patchLike(find)];
  const known = new Map(reads.map((read) => [read.path, readsOf(read)]));
  const read = (request: Request, response: Response) => known.get(request.originalUrl)!(response);
  for (const path of new Set(reads.map(({ path: one }) => one.split('?')[0]!))) app.get(path, read);
  app.post('/v1/nodes', express.json(), async (request, response) => {
    send(response, 201, full(await create(request.body)));
  });
  app.patch('/v1/nodes/:uuid', express.json(), async (request, response) => {
    send(response, 200, full(await patch(request.params.uuid!, request.body)));
  });
  // Requests whose client has gone fail when the bench ends; Express would print each.
  app.use((_error: unknown, _request: Request, response: Response, _next: unknown) => send(response, 500, {}));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((done, fail) => server.once('listening', done).once('error', fail));
  return (server.address() as AddressInfo).port;
};

if (base) answerParent(serve, () => sql.end({ timeout: 1 }));
