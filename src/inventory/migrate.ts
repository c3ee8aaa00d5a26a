/** Brings a database to the newest schema: numbered SQL files, each once, in order, under one lock. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db, Sql } from './database';
import { narrowDatabase, roles } from './database-rights';
import { placeRestored } from './runs/restored';

/** A role without a password here is made, and cannot log in. */
export type RolePasswords = Readonly<Partial<Record<(typeof roles)[number], string>>>;

// Any number will do; it must only be the same for all processes that migrate.
const migrationLock = 7_241_386;

const schemaFolder = join(__dirname, 'migrations');

/**
 * Makes the roles (with login where a password is given), applies what is missing, and says what it did.
 * @param sql a pool of the owner of the database
 * @param auditMinimumMonths how many months of the audit trail are kept at least; left as it is when absent
 * @param folder of the SQL files; another than the product's only in tests of upgrades
 */
export const migrate = async (
  sql: Sql,
  passwords: RolePasswords,
  { auditMinimumMonths, folder = schemaFolder }: { auditMinimumMonths?: number; folder?: string } = {},
): Promise<string[]> =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${migrationLock})`;
    await makeRolesIn(tx as unknown as Sql, passwords);
    await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const applied = new Set((await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name));
    const missing = migrationFiles(folder).filter((name) => !applied.has(name));
    for (const name of missing) {
      await tx.unsafe(readFileSync(join(folder, name), 'utf8'));
      await tx`insert into migrations (name) values (${name})`;
    }
    await narrowDatabase(tx);
    await placeRestored(tx);
    await makeAuditMonths(tx);
    if (auditMinimumMonths !== undefined) await keepAuditAtLeast(tx, auditMinimumMonths);
    return missing;
  }) as Promise<string[]>;

const makeRolesIn = async (sql: Sql, passwords: RolePasswords): Promise<void> => {
  for (const role of roles) await makeRole(sql, role, passwords[role]);
};

/** The roles alone, for a new cluster that a dump is restored into: what the dump grants them would be lost without them. */
export const makeRoles = (sql: Sql, passwords: RolePasswords): Promise<void> =>
  sql.begin((tx) => makeRolesIn(tx as unknown as Sql, passwords)) as Promise<unknown> as Promise<void>;

/**
 * Months of the audit trail that are missing: of a backup that is older than the months ahead, into which no change could be written,
 * nor the end of its recovery, before which no control worker makes them.
 */
const makeAuditMonths = async (tx: Db): Promise<void> => {
  await tx`select audit_make_month(audit_month(now()) + ahead * interval '1 month') from generate_series(0, 6) ahead`;
};

/** Only the owner of the database may; that it was lowered stands in the trail. */
const keepAuditAtLeast = async (tx: Db, months: number): Promise<void> => {
  const [before] = await tx<{ months: number }[]>`select months from audit_minimum for update`;
  if (before?.months === months) return;
  await tx`
    insert into audit_minimum (months) values (${months}) on conflict (single) do update set months = excluded.months`;
  await tx`
    insert into audit (requester, action, resource, resource_id, data)
    values (${tx.json({ user_name: 'migrate', strategy: 'command', system_scope: 'all' })}, 'audit.minimum', 'audit', '',
      ${tx.json({ from: before?.months ?? null, to: months })})`;
};

/** Names of all migrations, in order. */
export const migrationFiles = (folder = schemaFolder): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();

/** Migrations of this release that the database has not had, in order. */
export const missingMigrations = async (sql: Db): Promise<string[]> => {
  const applied = new Set((await sql<{ name: string }[]>`select name from migrations`).map(({ name }) => name));
  return migrationFiles().filter((name) => !applied.has(name));
};

// Roles belong to the whole server, so another database's migration may be making them at this moment.
const makeRole = async (sql: Sql, role: string, password: string | undefined): Promise<void> => {
  const login = password ? `login password ${literal(password)}` : 'nologin';
  await sql.unsafe(`do $$ begin
    create role ${role} nologin;
  exception when duplicate_object or unique_violation then null; end $$`);
  if (password) {
    await sql.unsafe(`do $$ begin
      if not exists (select from pg_roles where rolname = '${role}' and rolcanlogin) then alter role ${role} ${login}; end if;
    end $$`);
    await sql.unsafe(`alter role ${role} ${login}`);
  }
};

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
