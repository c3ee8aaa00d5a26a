/** A database set back to an earlier moment while its clients stay connected: every table's rows are kept beside it, and put back. */
import type { Sql } from '../../src/inventory/database';

type Table = { readonly name: string; readonly columns: readonly string[] };

// What a restore leaves alone: the procedure itself writes it afterwards.
const ownOfRestore: readonly string[] = ['recovery', 'migrations'];

const tablesOf = async (sql: Sql): Promise<Table[]> => {
  const rows = await sql<Table[]>`
    select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname`;
  return rows.filter(({ name }) => !ownOfRestore.includes(name));
};

/** Keeps what all tables hold now. @param sql as the database's owner. @returns what puts it back, any number of times */
export const keepTables = async (sql: Sql): Promise<() => Promise<void>> => {
  const tables = await tablesOf(sql);
  await sql.begin(async (tx) => {
    await tx.unsafe('drop schema if exists kept cascade; create schema kept');
    for (const { name, columns } of tables)
      await tx.unsafe(`create table kept.${name} as select ${columns.join(', ')} from public.${name}`);
  });
  const putBack = () =>
    sql.begin(async (tx) => {
      // Without triggers and foreign keys, as a restore loads its tables.
      await tx.unsafe('set local session_replication_role = replica');
      await tx.unsafe(`lock table ${tables.map(({ name }) => `public.${name}`).join(', ')} in access exclusive mode`);
      for (const { name, columns } of tables) {
        const list = columns.join(', ');
        await tx.unsafe(`delete from public.${name}`);
        await tx.unsafe(
          `insert into public.${name} (${list}) overriding system value select ${list} from kept.${name}`,
        );
      }
    }) as Promise<unknown> as Promise<void>;
  // Statements of clients that are still connected lock the same tables in orders of their own: one of two has to give way.
  const untilLocked = (): Promise<void> =>
    putBack().catch((thrown: unknown) => {
      if ((thrown as { code?: unknown }).code === '40P01') return untilLocked();
      throw thrown;
    });
  return untilLocked;
};
