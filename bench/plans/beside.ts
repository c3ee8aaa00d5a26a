/** A database beside the system's own, with the same schema, for as long as a part of the bench works in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/inventory/database';
import type { System } from '../system';

const migrate = async (url: string, database: string, root: string): Promise<void> => {
  const sql = connect(url, { max: 1 });
  const folder = join(root, 'src', 'inventory', 'migrations');
  await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`;
  for (const name of readdirSync(folder).sort()) await sql.unsafe(readFileSync(join(folder, name), 'utf8'));
  // As the role of the API plans; here everything is done as the owner.
  await sql.unsafe(`alter database ${database} set random_page_cost = 1.1`);
  await sql.end();
};

/** Makes it, gives its URL (as the owner) to `work`, and drops it when that has ended. @param root of the checkout */
export const withDatabase = async <Result>(
  { sql: admin, postgresUrl }: Pick<System, 'sql' | 'postgresUrl'>,
  { database, root }: { readonly database: string; readonly root: string },
  work: (url: string) => Promise<Result>,
): Promise<Result> => {
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href;
  await admin.unsafe(`create database ${database}`);
  try {
    await migrate(url, database, root);
    return await work(url);
  } finally {
    await admin.unsafe(`drop database ${database} with (force)`);
  }
};
