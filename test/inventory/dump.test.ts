/**
 * A dump goes into a second, new cluster, as docs/production.md says: events are sent on, once each, roles may what they might, and
 * the restore is noticed. By pg_dump and pg_restore where the system has them beside a server of the same version (the embedded
 * PostgreSQL brings neither); by a copy of each table everywhere.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createInventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { makeRoles, migrate } from '../../src/inventory/migrate';
import type { EventKind } from '../../src/model/resources/event-kinds';
import { readEvents } from '../../src/runs/webhooks';
import { type OwnPostgres, startOwnPostgres, wholePostgres } from '../support/own-postgres';

const exec = promisify(execFile);
const passwords = { temper_api: 'a', temper_control: 'c', temper_bmc: 'b' };
const clusters: OwnPostgres[] = [];
afterAll(() => Promise.all(clusters.map((one) => one.close())));

type Database = { readonly url: string; as(role: keyof typeof passwords): string };

/** @param owner of it; the superuser where its tables are filled past their triggers */
const database = async (cluster: OwnPostgres, owner: 'temper_owner' | undefined): Promise<Database> => {
  const sql = connect(cluster.url, { max: 1 });
  if (owner) await sql.unsafe(`create role ${owner} login createrole password 'owner'`);
  await sql.unsafe(`create database temper ${owner ? `owner ${owner}` : ''}`);
  await sql.end();
  const url = Object.assign(new URL(cluster.url), { pathname: '/temper', ...(owner && { username: owner }) }).href;
  return { url, as: (username) => Object.assign(new URL(url), { username, password: passwords[username] }).href };
};

const within = async <T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> => {
  const sql = connect(url, { max: 2 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
};

/** Moves every row of every table, with its sequences, as a dump's data does. */
const copyTables = async (from: string, to: string): Promise<void> => {
  await within(to, (sql) => migrate(sql, passwords));
  await within(from, (source) =>
    within(to, async (target) => {
      const tables = await source<{ name: string; columns: string }[]>`
        select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by c.oid`;
      await target.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`);
        for (const { name, columns } of tables) {
          const out = await source.unsafe(`copy ${name} (${columns}) to stdout`).readable();
          await pipeline(out, await tx.unsafe(`copy ${name} (${columns}) from stdin`).writable());
        }
        const sequences = await source<{ name: string; at: string | null }[]>`
          select quote_ident(sequencename) as name, last_value::text as at from pg_sequences where schemaname = 'public'`;
        for (const { name, at } of sequences) if (at) await tx.unsafe(`select setval('${name}', ${at})`);
      });
    }),
  );
};

const dumpAndRestore = (bin: string) => async (from: string, to: string) => {
  const dir = mkdtempSync(join(tmpdir(), 'dump-'));
  const file = join(dir, 'temper.dump');
  await within(to, (sql) => makeRoles(sql, passwords));
  await exec(join(bin, 'pg_dump'), ['--format=custom', `--file=${file}`, `--dbname=${from}`]);
  await exec(join(bin, 'pg_restore'), ['--exit-on-error', `--dbname=${to}`, file]);
  rmSync(dir, { recursive: true });
};

/** A cluster that has been used for a while: its transactions have higher numbers than those of a new one. */
const used = async (sql: Sql): Promise<void> => {
  await sql.unsafe('do $$ begin for nth in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$');
};

const happened = async (sql: Sql, ...kinds: readonly EventKind[]): Promise<void> => {
  for (const kind of kinds)
    await createInventory(sql).events.append({
      kind,
      node_uuid: null,
      run_id: null,
      project: null,
      lessee: null,
      data: {},
    });
};

/** What counters and webhooks get, by a control worker: so many at least, for a transaction of the server's own holds events back. */
const kindsRead = (database: Database, least = 0): Promise<string[]> =>
  within(database.as('temper_control'), async (sql) => {
    const kinds: string[] = [];
    do await readEvents({ inventory: createInventory(sql), onEvent: ({ kind }) => void kinds.push(kind) });
    while (kinds.length < least);
    return kinds;
  });

const whole = wholePostgres();
const byDump = whole === undefined ? test.skip : test;

const story = async (
  bin: string | undefined,
  owner: 'temper_owner' | undefined,
  move: (from: string, to: string) => Promise<void>,
): Promise<void> => {
  const [first, second] = await Promise.all([startOwnPostgres(bin), startOwnPostgres(bin)]);
  clusters.push(first, second);
  const [from, to] = await Promise.all([database(first, owner), database(second, owner)]);
  await within(from.url, async (sql) => {
    await migrate(sql, passwords);
    await used(sql);
    await happened(sql, 'node.moved', 'node.power');
  });
  expect(await kindsRead(from, 2)).toEqual(['node.moved', 'node.power']);
  await within(from.url, async (sql) => {
    await happened(sql, 'node.frozen');
    const { recovery } = createInventory(sql);
    await recovery.advance({ ...(await recovery.cluster()), count: 1, mark: randomUUID(), seen: null });
    expect(await recovery.current()).toBeUndefined();
  });
  await move(from.url, to.url);
  await within(to.url, async (sql) => {
    const [ahead] = await sql`select 1 from events where tx >= pg_snapshot_xmax(pg_current_snapshot())`;
    expect(ahead).toBeDefined(); // what makes a dump of another cluster special
    expect(await migrate(sql, passwords)).toEqual([]);
  });
  await within(to.as('temper_api'), async (sql) => {
    expect(await createInventory(sql).recovery.current()).toMatchObject({
      side: 'store',
      reason: expect.stringContaining('another PostgreSQL cluster'),
    });
    await happened(sql, 'node.unfrozen');
  });
  expect(await kindsRead(to, 2)).toEqual(['node.frozen', 'node.unfrozen']);
  expect(await kindsRead(to)).toEqual([]);
  await within(to.as('temper_bmc'), (sql) => happened(sql, 'node.power'));
  expect(await kindsRead(to, 1)).toEqual(['node.power']);
};

test('tables that are copied into another cluster: what was sent stays sent, and what comes follows', () =>
  story(undefined, undefined, copyTables));

byDump(
  'a dump by pg_dump that pg_restore puts into another cluster: the same, with every right that the roles had',
  () => story(whole, 'temper_owner', dumpAndRestore(whole!)),
);
