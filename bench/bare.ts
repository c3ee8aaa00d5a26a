/** The least that could answer the same: Express and postgres.js, the API's own statements, no identity, no rules, no checks. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express, { type Response } from 'express';
import postgres from 'postgres';
import { columnOf } from '../src/model/fields';
import { nodeTable } from '../src/model/nodes';
import { answerParent } from './child';

/** Bodies of the real API, from which the bare one learns which fields an answer has. */
export type Samples = { readonly show: Body; readonly list: Body };
type Body = Readonly<Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;
type Shape = (row: Row) => Body;

const base = process.env.BENCH_BASE ?? '';
const sql = postgres(process.env.BENCH_DATABASE_URL ?? '', {
  max: Number(process.env.BENCH_POOL),
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
});

const timestamp = (date: Date): string => {
  const iso = date.toISOString();
  const millis = iso.slice(20, 23);
  return `${iso.slice(0, 19)}${millis === '000' ? '' : `.${millis}000`}+00:00`;
};

/** One reader per field of the sample: a link, or a column with what stands for its null. */
const shapeOf = (sample: Body): Shape => {
  const readers = Object.entries(sample).map(([name, value]) => [name, readerOf(name, value, sample)] as const);
  return (row) => {
    const out: Record<string, unknown> = {};
    for (const [name, read] of readers) out[name] = read(row);
    return out;
  };
};

const readerOf = (name: string, value: unknown, sample: Body): ((row: Row) => unknown) => {
  const [link] = Array.isArray(value) ? (value as { href?: string }[]) : [];
  if (link?.href) {
    const below = link.href.slice(`${base}/v1/nodes/${sample.uuid}`.length);
    return ({ uuid }) => [
      { href: `${base}/v1/nodes/${uuid}${below}`, rel: 'self' },
      { href: `${base}/nodes/${uuid}${below}`, rel: 'bookmark' },
    ];
  }
  if (name.endsWith('_at')) return (row) => (row[name] instanceof Date ? timestamp(row[name]) : null);
  const empty = typeof value === 'object' && value !== null ? (Array.isArray(value) ? [] : {}) : null;
  return (row) => row[name] ?? empty;
};

// The fragments of src/inventory/nodes.ts.
const conductor = sql`(
  select w.hostname from workers w
  where w.role = 'bmc' and w.conductor_group = nodes.conductor_group and nodes.driver = any (w.drivers)
    and w.updated_at > now() - ${'60 seconds'}::interval
  order by w.hostname limit 1)`;

const find = async (uuid: string): Promise<Row | undefined> => {
  const [row] = await sql`
    select *, ${conductor} as conductor, xmin::text as revision from nodes where uuid = ${uuid}`;
  return row;
};

const list = (columns: readonly string[], limit: number): Promise<Row[]> => sql`
  select ${sql(columns.map((name) => `nodes.${name}`))} from nodes
  where true and nodes.parent_node is null order by nodes.id limit ${limit}`;

const writable = [...nodeTable.fields.filter((row) => row.create !== undefined).map(columnOf), 'provision_state'];

/** The same three inserts in one statement, with the same columns; what the request leaves out is as in the sample. */
const createLike = (sample: Body) => {
  const defaults = Object.entries(sample).filter(([name]) => writable.includes(name));
  const documents = new Set(defaults.filter(([, value]) => isDocument(value)).map(([name]) => name));
  return async (given: Body): Promise<Row> => {
    const uuid = randomUUID();
    const told = sql.json({ name: given.name, driver: given.driver, given } as never);
    const values: Record<string, unknown> = { ...Object.fromEntries(defaults), ...given, uuid };
    for (const name of documents) values[name] = sql.json(values[name] as never);
    const [row] = await sql`
      with audited as (
        insert into audit (requester, action, rule, rule_set, resource, resource_id, run_id, data) values (
          ${sql.json({ user_id: 'bare', request_id: uuid })}, 'node.create', 'baremetal:node:create', 'bare', 'node', ${uuid}, null, ${told})
      ), told as (
        insert into events (kind, node_uuid, run_id, project, lessee, data) values ('node.created', ${uuid}, null, null, null, ${told})
      )
      insert into nodes ${sql(values as never)} returning *, ${conductor} as conductor, xmin::text as revision`;
    return row!;
  };
};

const isDocument = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const send = (response: Response, status: number, body: unknown): void => {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
};

/** Serves the three routes. @returns the port */
const serve = async ({ show, list: listed }: Samples): Promise<number> => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const full = shapeOf(show);
  const create = createLike(show);
  const [firstListed] = listed.nodes as Body[];
  const short = shapeOf(firstListed!);
  const columns = ['uuid', 'owner', 'lessee', ...Object.keys(firstListed!)].filter((name) => name !== 'links');
  const distinct = [...new Set(columns)];
  app.get('/v1/nodes', async (request, response) => {
    const limit = Number(request.query.limit);
    const rows = await list(distinct, limit);
    const nodes = rows.map(short);
    const next = `${base}/v1/nodes?limit=${limit}&marker=${rows.at(-1)?.uuid}`;
    send(response, 200, rows.length === limit ? { nodes, next } : { nodes });
  });
  app.get('/v1/nodes/:uuid', async (request, response) => {
    const row = await find(request.params.uuid);
    if (row) send(response, 200, full(row));
    else send(response, 404, {});
  });
  app.post('/v1/nodes', express.json(), async (request, response) => {
    send(response, 201, full(await create(request.body)));
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((done, fail) => server.once('listening', done).once('error', fail));
  return (server.address() as AddressInfo).port;
};

answerParent(serve, () => sql.end({ timeout: 1 }));
