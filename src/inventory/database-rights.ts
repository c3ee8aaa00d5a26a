/** What the roles of the processes may do beyond Temper's tables, which PostgreSQL gives to every role: taken away, or found and said. */
import type { Db } from './database';

/** Roles of the processes, one each. */
export const roles = ['temper_api', 'temper_control', 'temper_bmc', 'temper_boot'] as const;

/** Functions that make large objects, which no table of rights bounds, and which a dump by another role cannot read. */
const largeObjects = ['lo_creat(integer)', 'lo_create(oid)', 'lo_from_bytea(oid, bytea)'];

/**
 * Takes from the roles temporary objects, and a schema to create in. A dump does not hold rights on the database itself, so each
 * migration does it. Functions of PostgreSQL are its superuser's, who alone can take them away. The roles are named for the database, so
 * that they connect to it where an administrator takes that from PUBLIC.
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

/** A right that the roles still have, and that another than the owner of the database has to take from them. */
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

/** Rights of the roles that `migrate` cannot take away: other databases may have users who need them. */
export const openRights = async (sql: Db): Promise<OpenRight[]> => [
  ...(await openDatabases(sql)),
  ...(await openFunctions(sql)),
];
