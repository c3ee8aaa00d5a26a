/** A PostgreSQL cluster of one test, with the database and its owner that docs/operations.md makes, who is no superuser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Sql } from '../../src/inventory/database';
import type { roles } from '../../src/inventory/database-rights';
import { startOwnPostgres } from './own-postgres';

export type Role = (typeof roles)[number];

/** What each role signs in with. */
export const passwords: Readonly<Record<Role, string>> = {
  temper_api: 'a',
  temper_control: 'c',
  temper_bmc: 'b',
  temper_boot: 'o',
  temper_notifications: 'n',
};

/** The statements of the page, with the password `own`. */
export const saidStatements = (): string[] => {
  const page = readFileSync(join(__dirname, '../../docs/operations.md'), 'utf8');
  const said = /```sql\n(create role temper_owner [^`]*)```/.exec(page)![1]!.replace("'...'", "'own'");
  return said.split(';').filter((text) => text.trim());
};

export type OwnedPostgres = {
  readonly superuser: Sql;
  readonly owner: Sql;
  urlOf(username: string, password: string, database?: string): string;
  close(): Promise<void>;
};

/** @param statements by which the database and its owner are made */
export const startOwnedPostgres = async (statements = saidStatements()): Promise<OwnedPostgres> => {
  const cluster = await startOwnPostgres();
  const superuser = connect(cluster.url, { max: 1 });
  for (const statement of statements) await superuser.unsafe(statement);
  const urlOf = (username: string, password: string, database = 'temper') =>
    Object.assign(new URL(cluster.url), { username, password, pathname: `/${database}` }).href;
  const owner = connect(urlOf('temper_owner', 'own'), { max: 1 });
  const close = async () => {
    await owner.end();
    await superuser.end();
    await cluster.close();
  };
  return { superuser, owner, urlOf, close };
};
