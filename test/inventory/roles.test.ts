/** What each process's role may do in the database, and that none of them runs code with the rights of the database's owner. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Sql } from '../../src/inventory/database';
import { migrate } from '../../src/inventory/migrate';
import { type OwnedPostgres, passwords, type Role, startOwnedPostgres } from '../support/owned-postgres';

const roles = Object.keys(passwords) as Role[];

let cluster: OwnedPostgres;
let superuser: Sql;
let owner: Sql;
beforeAll(async () => {
  cluster = await startOwnedPostgres();
  ({ superuser, owner } = cluster);
  await migrate(owner, passwords);
});
afterAll(() => cluster?.close());

const words = { SELECT: 'read', INSERT: 'add', UPDATE: 'change', DELETE: 'delete' };

/** What a role may do with a table: words for rights on all columns, and the columns of other rights. */
const rightsOf = (rows: readonly Granted[]): string =>
  Object.entries(words)
    .flatMap(([privilege, word]) => {
      const columns = rows.filter((row) => row.privilege === privilege);
      if (columns.length === 0) return [];
      if (columns.some(({ column }) => column === '*')) return [word];
      return [`${word} ${columns.map(({ column }) => `\`${column}\``).join(' ')}`];
    })
    .join('; ') || '–';

type Granted = { table: string; role: Role; privilege: keyof typeof words; column: string };

/** The table of docs/security-reference.md as the catalogue has it. */
const tableOfRights = async (): Promise<string[]> => {
  const granted = await owner<Granted[]>`
    select c.relname as table, r.rolname as role, p.name as privilege, coalesce(a.attname, '*') as column
    from pg_class c
      cross join pg_roles r
      cross join unnest(${Object.keys(words)}::text[]) p (name)
      left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and not has_table_privilege(r.oid, c.oid, p.name)
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and r.rolname = any (${roles})
      and (has_table_privilege(r.oid, c.oid, p.name)
        or p.name <> 'DELETE' and has_column_privilege(r.oid, c.oid, a.attname, p.name))
    order by 1, 2, 3, a.attnum`;
  const tables = await owner<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition order by 1`;
  const cells = (table: string) =>
    roles.map((role) => rightsOf(granted.filter((one) => one.table === table && one.role === role)));
  return tables.map(({ name }) => `| \`${name}\` | ${cells(name).join(' | ')} |`);
};

/** Types that bodies of functions name, each as a domain of the caller's whose check runs the caller's code. */
const shadowedTypes = ['record', 'text', 'timestamptz', 'uuid', 'jsonb'];
const shadowedTables = ['ports', 'portgroups', 'volume_targets', 'secrets', 'runs', 'events', 'nodes'];
const reveal = `create function pg_temp.reveal() returns trigger language plpgsql as
  $$ begin perform pg_temp.tell(); return null; end $$`;
const tell = `create function pg_temp.tell() returns boolean language plpgsql as
  $$ begin raise exception using message = 'code of the caller runs as ' || current_user; end $$`;

/** @returns what became of `statement` by `role`, with `made` in its temporary schema; rolled back */
const attempt = async (role: Role, made: readonly string[], statement: string): Promise<string> => {
  const sql = connect(cluster.urlOf(role, passwords[role]), { max: 1 });
  try {
    return await sql
      .begin(async (tx) => {
        for (const one of made) await tx.unsafe(one);
        await tx.unsafe(statement);
        throw new Error('went through');
      })
      .catch((error: Error) => error.message);
  } finally {
    await sql.end();
  }
};

const node = '0d5a6f5e-7e14-4f4b-8a52-0000000000a1';
const writesForLease = `select set_config('temper.lease', '${node}', true)`;
const group = '0d5a6f5e-7e14-4f4b-8a52-0000000000a2';

describe('with temporary objects of its own', () => {
  beforeAll(async () => {
    // The migration takes this right away. It is given back here, so that the functions are seen to hold without it.
    await owner.unsafe('grant temporary on database temper to public');
    await owner`insert into nodes (uuid, name, driver, lessee) values (${node}, 'n', 'redfish', 'lessee')`;
    await owner`insert into portgroups (uuid, node_uuid) values (${group}, ${node})`;
    await owner`insert into ports (node_uuid, address, portgroup_uuid) values (${node}, '52:54:00:00:00:01', ${group})`;
  });
  afterAll(() => owner.unsafe('revoke temporary on database temper from public'));

  const calls: readonly (readonly [Role, string])[] = [
    ['temper_boot', `select * from public.give_network_boot('52:54:00:00:00:01', '192.0.2.1', null, 'x')`],
    ['temper_boot', `select public.is_undiscovered('52:54:00:00:00:01')`],
    ['temper_control', 'select public.audit_keep(24)'],
    ['temper_control', 'select * from public.forget_events(24, 0, 10)'],
    ['temper_control', `select * from public.forget_runs(24, '-infinity', '${node}', 10)`],
    ['temper_control', `update public.nodes set lessee = null, lease_id = null where uuid = '${node}'`],
    // Each session may say that it writes for a lease, and the trigger fires.
    ['temper_bmc', `${writesForLease}; update public.nodes set power_state = 'power on' where uuid = '${node}'`],
    ['temper_api', `${writesForLease}; update public.nodes set description = 'x' where uuid = '${node}'`],
    ['temper_api', `${writesForLease}; update public.ports set extra = '{"a": 1}' where node_uuid = '${node}'`],
    ['temper_api', `insert into public.audit (requester, action, resource, resource_id) values ('{}', 'x', 'x', 'x')`],
    // The foreign key changes the port with the rights of the owner of `ports`.
    ['temper_api', `delete from public.portgroups where uuid = '${group}'`],
  ];
  test.each(calls)('%s runs no type of its own as the owner: %s', async (role, statement) => {
    for (const type of shadowedTypes) {
      const domain = `create domain pg_temp.${type} as pg_catalog.${type === 'record' ? 'int4' : type} check (pg_temp.tell())`;
      const outcome = await attempt(role, [tell, domain], statement);
      expect({ type, outcome: outcome.replace(`as ${role}`, 'as the caller') }).not.toEqual({
        type,
        outcome: expect.stringContaining('temper_owner'),
      });
    }
  });

  test.each(calls)('%s runs no table of its own as the owner: %s', async (role, statement) => {
    const tables = shadowedTables.flatMap((table) => [
      `create temporary table ${table} (like public.${table} including defaults)`,
      `create trigger reveal before insert or update or delete on pg_temp.${table} for each statement execute function pg_temp.reveal()`,
    ]);
    expect(await attempt(role, [tell, reveal, ...tables], statement)).not.toContain('as temper_owner');
  });
});

test('the attack itself works: a function without a search_path of its own runs the type of its caller', async () => {
  await owner.unsafe(`
    create function open_to_attack() returns void language plpgsql security definer set search_path = pg_catalog, public as
      $$ declare some text := 'x'; begin end $$;
    grant temporary on database temper to public`);
  const domain = 'create domain pg_temp.text as pg_catalog.text check (pg_temp.tell())';
  expect(await attempt('temper_boot', [tell, domain], 'select public.open_to_attack()')).toBe(
    'code of the caller runs as temper_owner',
  );
  await owner.unsafe('drop function open_to_attack; revoke temporary on database temper from public');
});

test('every function of the schema searches pg_temp last', async () => {
  const open = await owner`
    select p.oid::regprocedure::text as name, p.proconfig from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      and not coalesce('search_path=pg_catalog, public, pg_temp' = any (p.proconfig), false)`;
  expect([...open]).toEqual([]);
});

test('a function with the rights of the owner names every table and function of the schema with the schema', async () => {
  const functions = await owner<{ name: string; body: string }[]>`
    select proname as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`;
  expect(functions.map(({ name }) => name).sort()).toEqual([
    ...['audit_keep', 'end_rows_of_lease', 'follow_lease_writes', 'forget_events', 'forget_runs', 'give_network_boot'],
    ...['is_undiscovered', 'keep_remains', 'note_work', 'show_vif'],
  ]);
  const named = await owner<{ name: string; called: boolean }[]>`
    select relname as name, false as called from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S')
    union all select proname, true from pg_proc where pronamespace = 'public'::regnamespace`;
  const bare = functions.flatMap(({ name, body }) => {
    const code = body
      .replace(/--.*$/gm, '')
      .replace(/'[^']*'/g, (text) => (/\b(from|update)\b/.test(text) ? text : "''"));
    const names = named.filter((one) =>
      one.called
        ? new RegExp(`(?<![.\\w])${one.name}\\s*\\(`).test(code)
        : new RegExp(`\\b(from|join|into|update|using)\\s+(only\\s+)?${one.name}\\b`).test(code),
    );
    const dynamic = /\b(from|join|into|update)\s+%\d?\$?I/.test(code) ? ['%I'] : [];
    return [...names.map((one) => one.name), ...dynamic].map((what) => `${name}: ${what}`);
  });
  expect(bare).toEqual([]);
});

test('no role but the owner makes temporary or lasting objects, or connects to another database', async () => {
  const rights = await superuser<{ role: string; rights: string }[]>`
    select r.rolname as role, d.datname || ' ' || p.name as rights
    from pg_roles r, pg_database d, unnest(array['TEMPORARY', 'CREATE', 'CONNECT']) p (name)
    where r.rolname = any (${roles}) and has_database_privilege(r.oid, d.oid, p.name) and d.datallowconn
    order by 1, 2`;
  expect([...rights]).toEqual([...roles].sort().map((role) => ({ role, rights: 'temper CONNECT' })));
  const schemas = await owner`
    select r.rolname, n.nspname from pg_roles r, pg_namespace n
    where r.rolname = any (${roles}) and has_schema_privilege(r.oid, n.oid, 'CREATE')`;
  expect([...schemas]).toEqual([]);
  const attributes = await owner`
    select rolname from pg_roles where rolname = any (${roles})
      and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls)`;
  expect([...attributes]).toEqual([]);
});

test('no role has a right that the table of the threat model has no word for', async () => {
  const rights = await owner`
    select r.rolname as role, c.relname as relation, p.name as right
    from pg_class c, pg_roles r, unnest(array['TRUNCATE', 'REFERENCES', 'TRIGGER']) p (name)
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and r.rolname = any (${roles}) and has_table_privilege(r.oid, c.oid, p.name)`;
  expect([...rights]).toEqual([]);
  // A partition asks no right of the table that it is part of.
  const parts = await owner`
    select r.rolname as role, c.relname as relation from pg_class c, pg_roles r
    where c.relispartition and r.rolname = any (${roles})
      and has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
      or c.relispartition and r.rolname = any (${roles}) and has_table_privilege(r.oid, c.oid, 'DELETE')`;
  expect([...parts]).toEqual([]);
  const passedOn = await owner`
    select c.relname, a.grantee::regrole::text from pg_class c, aclexplode(c.relacl) a
      where c.relnamespace = 'public'::regnamespace and a.is_grantable and a.grantee <> c.relowner
    union all select p.proname, a.grantee::regrole::text from pg_proc p, aclexplode(p.proacl) a
      where p.pronamespace = 'public'::regnamespace and a.is_grantable and a.grantee <> p.proowner`;
  expect([...passedOn]).toEqual([]);
  const kinds = await owner`
    select distinct c.relkind from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('v', 'm', 'f')`;
  expect([...kinds]).toEqual([]);
  const sequences = await owner`
    select c.relname as name, p.name as right, array_agg(r.rolname::text order by r.rolname) as roles
    from pg_class c, pg_roles r, unnest(array['USAGE', 'SELECT', 'UPDATE']) p (name)
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'S' and r.rolname = any (${roles})
      and has_sequence_privilege(r.oid, c.oid, p.name) group by 1, 2`;
  const adding = ['temper_api', 'temper_bmc', 'temper_control'];
  expect([...sequences]).toEqual([{ name: 'audit_seq', right: 'USAGE', roles: adding }]);
});

test('no role is a member of another one, or owns anything', async () => {
  const memberships = await superuser`
    select m.rolname as member, r.rolname as of from pg_auth_members a
      join pg_roles r on r.oid = a.roleid join pg_roles m on m.oid = a.member where m.rolname = any (${roles})`;
  expect([...memberships]).toEqual([]);
  const owned = await superuser`
    select r.rolname, d.classid::regclass from pg_shdepend d join pg_roles r on r.oid = d.refobjid
    where d.refclassid = 'pg_authid'::regclass and d.deptype = 'o' and r.rolname = any (${roles})`;
  expect([...owned]).toEqual([]);
});

test('what each role may do is the table of the page', async () => {
  const page = readFileSync(join(__dirname, '../../docs/security-reference.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('Database roles\n')) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `') && !line.includes('()'));
  expect(rows).toEqual(await tableOfRights());
});

test('which function of the owner each role may call is the second table of the page', async () => {
  const callable = await owner<{ name: string; roles: string[] | null }[]>`
    select p.proname as name, array_agg(r.rolname order by r.rolname) filter (
      where has_function_privilege(r.oid, p.oid, 'EXECUTE')) as roles
    from pg_proc p, pg_roles r
    where p.pronamespace = 'public'::regnamespace and p.prosecdef and r.rolname = any (${roles}) group by 1 order by 1`;
  const page = readFileSync(join(__dirname, '../../docs/security-reference.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('Database roles\n')) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `') && line.includes('()'));
  expect(
    rows.map((row) =>
      row
        .split('|')
        .slice(1, 3)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(callable.map((one) => [`\`${one.name}()\``, (one.roles ?? ['–']).join(', ')]));
});
