/** Queries of the runbooks table. */
import { asUuid, type RunbookUuid } from '../model/ids';
import type { Runbook } from '../model/runbooks';
import type { Db } from './database';
import { type PageQuery, page } from './pages';

export type NewRunbook = Pick<
  Runbook,
  'name' | 'steps' | 'disable_ramdisk' | 'extra' | 'public' | 'owner' | 'description' | 'traits'
> & { readonly uuid?: string };

export type RunbookChange = Omit<NewRunbook, 'uuid' | 'traits'>;

/** Columns as the driver must send them: documents as JSON, traits as an array. */
const columnsOf = (sql: Db, runbook: RunbookChange) => ({
  name: runbook.name,
  steps: sql.json(runbook.steps as never),
  disable_ramdisk: runbook.disable_ramdisk,
  extra: sql.json(runbook.extra as never),
  public: runbook.public,
  owner: runbook.owner,
  description: runbook.description,
});

export const runbooks = (sql: Db) => ({
  /** By UUID in any form, or by name. `lock` keeps the row for the transaction it is asked in. */
  async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<Runbook | undefined> {
    const uuid = asUuid(ident);
    const [row] = await sql<Runbook[]>`
      select * from runbooks where ${uuid ? sql`uuid = ${uuid}` : sql`name = ${ident}`} ${lock ? sql`for update` : sql``}`;
    return row;
  },

  /** Stores a new runbook. A duplicate uuid or name breaks a unique constraint (database.ts, brokenUnique). */
  async insert(runbook: NewRunbook): Promise<Runbook> {
    const columns = {
      ...columnsOf(sql, runbook),
      traits: sql.array([...runbook.traits], 25),
      ...(runbook.uuid === undefined ? {} : { uuid: runbook.uuid }),
    };
    const [row] = await sql<Runbook[]>`insert into runbooks ${sql(columns)} returning *`;
    return row!;
  },

  /** Replaces what a patch may change. */
  async update(uuid: RunbookUuid, runbook: RunbookChange): Promise<Runbook> {
    const [row] = await sql<Runbook[]>`
      update runbooks set ${sql(columnsOf(sql, runbook))}, updated_at = now() where uuid = ${uuid} returning *`;
    return row!;
  },

  /** Replaces the trait set. */
  async setTraits(uuid: RunbookUuid, traits: readonly string[]): Promise<void> {
    await sql`update runbooks set traits = ${sql.array([...traits], 25)}, updated_at = now() where uuid = ${uuid}`;
  },

  async delete(uuid: RunbookUuid): Promise<void> {
    await sql`delete from runbooks where uuid = ${uuid}`;
  },

  /** One page; steps are read only where `columns` names them. Throws MarkerNotFound. */
  list: (query: PageQuery): Promise<Partial<Runbook>[]> => page(sql, { table: 'runbooks', alias: 'r', key: 'uuid' }, query),
});
