/** Migrations: numbered SQL files, each applied once, in order, under one lock. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db, Sql } from './database';
import { narrowDatabase, roles } from './database-rights';
import { placeRestored } from './runs/restored';

/** A role without a password cannot log in. */
export type RolePasswords = Readonly<Partial<Record<(typeof roles)[number], string>>>;

// Any number, equal in all processes that migrate.
const migrationLock = 7_241_386;

const schemaFolder = join(__dirname, 'migrations');

/**
 * Makes the roles and applies missing migrations.
 * @param sql a pool of the owner of the database
 * @param auditMinimumMonths months of the audit trail to keep at least; unchanged if absent
 * @param folder of the SQL files; another one only in tests of upgrades
 * @returns names of the applied migrations
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

/** Makes the roles before a restore into a new cluster: without them, the dump's grants would be lost. */
export const makeRoles = (sql: Sql, passwords: RolePasswords): Promise<void> =>
  sql.begin((tx) => makeRolesIn(tx as unknown as Sql, passwords)) as Promise<unknown> as Promise<void>;

/**
 * Makes missing months of the audit trail. A backup older than the months made ahead accepts no change, not even the end of its recovery.
 * Control workers make no months before that end.
 */
const makeAuditMonths = async (tx: Db): Promise<void> => {
  await tx`select audit_make_month(audit_month(now()) + ahead * interval '1 month') from generate_series(0, 6) ahead`;
};

/** Database owner only. The trail records a change. */
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

export const migrationFiles = (folder = schemaFolder): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();

/** In order. */
export const missingMigrations = async (sql: Db): Promise<string[]> => {
  const applied = new Set((await sql<{ name: string }[]>`select name from migrations`).map(({ name }) => name));
  return migrationFiles().filter((name) => !applied.has(name));
};

// Roles belong to the whole server: another database's migration may make them now.
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
