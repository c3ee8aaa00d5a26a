/** Rights beyond Temper's tables that PostgreSQL gives every role: revoked, or found and reported. */
import type { Db } from './database';

/** One per kind of process. */
export const roles = ['temper_api', 'temper_control', 'temper_bmc', 'temper_boot', 'temper_notifications'] as const;

/** No table's rights bound large objects, and a dump by another role cannot read them. */
const largeObjects = ['lo_creat(integer)', 'lo_create(oid)', 'lo_from_bytea(oid, bytea)'];

/**
 * Revokes temporary objects and CREATE. Each migration does it, because dumps lack rights on the database itself. Only a superuser can
 * revoke functions of PostgreSQL. Roles keep CONNECT if an administrator revokes it from PUBLIC.
 */
export const narrowDatabase = async (tx: Db): Promise<void> => {
  await tx.unsafe(`do $$ begin
    execute format('revoke temporary, create on database %I from public', current_database());
    execute format('grant connect on database %I to ${roles.join(', ')}', current_database());
    revoke create on schema public from public;
    if (select rolsuper from pg_roles where rolname = current_user) then
      revoke execute on function ${largeObjects.join(', ')} from public;
    end if;
  end $$`);
};

/** The database owner cannot revoke it. */
export type OpenRight = { readonly right: string; readonly statement: string };

const openDatabases = async (sql: Db): Promise<OpenRight[]> => {
  const found = await sql<{ name: string; quoted: string }[]>`
    select d.datname as name, quote_ident(d.datname) as quoted from pg_database d
    where d.datallowconn and d.datname <> current_database() and exists (
      select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
      where a.grantee = 0 and a.privilege_type = 'CONNECT')
    order by 1`;
  if (found.length === 0) return [];
  const names = (key: 'name' | 'quoted') => found.map((one) => one[key]).join(', ');
  return [
    {
      right: `to connect to the databases ${names('name')}`,
      statement: `revoke connect, temporary on database ${names('quoted')} from public`,
    },
  ];
};

const openFunctions = async (sql: Db): Promise<OpenRight[]> => {
  const open = await sql<{ name: string }[]>`
    select name from unnest(${largeObjects}::text[]) name where exists (
      select from pg_roles r where r.rolname = any (${[...roles]}) and has_function_privilege(r.oid, name, 'EXECUTE'))`;
  if (open.length === 0) return [];
  const names = open.map(({ name }) => name).join(', ');
  return [{ right: 'to make large objects', statement: `revoke execute on function ${names} from public` }];
};

/** Rights that `migrate` cannot revoke: users of other databases may need them. */
export const openRights = async (sql: Db): Promise<OpenRight[]> => [
  ...(await openDatabases(sql)),
  ...(await openFunctions(sql)),
];
