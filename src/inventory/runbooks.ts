/** Queries of the runbooks table. */
import { asUuid, type RunbookUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { Runbook } from '../model/resources/runbooks';
import { type Db, jsonOf } from './database';
import { asFound, type Make, type Page, pageOf } from './pages';
import { ownRows } from './resources';

export type NewRunbook = Pick<
  Runbook,
  'name' | 'steps' | 'disable_ramdisk' | 'extra' | 'public' | 'owner' | 'description' | 'traits'
> & { readonly uuid?: string };

export type RunbookChange = Omit<NewRunbook, 'uuid' | 'traits'>;

/** Columns as the driver must send them: documents as JSON, traits as an array. */
const columnsOf = (sql: Db, runbook: RunbookChange) => ({
  name: runbook.name,
  steps: jsonOf(sql, runbook.steps),
  disable_ramdisk: runbook.disable_ramdisk,
  extra: jsonOf(sql, runbook.extra),
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
      traits: sql.array([...runbook.traits], 1009),
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

  /**
   * Keeps a runbook from being changed or deleted for the rest of the transaction; false when that has happened since it
   * was read. An `updated_at` of undefined asks only whether it is there.
   */
  async hold(uuid: string, updated_at: Date | null | undefined): Promise<boolean> {
    // Dates travel in milliseconds, the column has microseconds.
    const held = await sql`
        select 1 from runbooks where uuid = ${uuid}
          and (${updated_at === undefined} or date_trunc('milliseconds', updated_at) is not distinct from ${updated_at ?? null}::timestamptz)
        for share`;
    return held.length === 1;
  },

  /** Replaces the trait set. */
  async setTraits(uuid: RunbookUuid, traits: readonly string[]): Promise<void> {
    await sql`update runbooks set traits = ${sql.array([...traits], 1009)}, updated_at = now() where uuid = ${uuid}`;
  },

  async delete(uuid: RunbookUuid): Promise<void> {
    await sql`delete from runbooks where uuid = ${uuid}`;
  },

  /** Rows of a page with the columns asked for, so that steps are read only where they are wanted. Throws MarkerNotFound. */
  list: <Made = Partial<Runbook>>(
    names: readonly string[],
    selection: { visible: Predicate; filter: Predicate },
    page: Page,
    make: Make<Partial<Runbook>, Made> = asFound,
  ): Promise<Made[]> => pageOf(sql, ownRows(sql, 'runbooks', names, selection), page, make),
});
