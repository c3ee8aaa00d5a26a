/** Intents of acts, written before a command leaves for a BMC. */
import type { RunUuid } from '../../model/ids';
import type { Lock } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { type ActLock, heldBy } from '../fence';
import type { ActKey } from './acts';

export type IntentRow = { readonly sent_at: Date; readonly age_ms: number; readonly detail: Record<string, unknown> };

export const actIntents = (sql: Db) => ({
  /** Its age is in milliseconds of PostgreSQL's clock. */
  async lastIntent(run: RunUuid, index: number, act: string): Promise<IntentRow | undefined> {
    const [row] = await sql<IntentRow[]>`
    select sent_at, detail, greatest(extract(epoch from now() - sent_at) * 1000, 0)::float8 as age_ms
    from intents where run_id = ${run} and index = ${index} and act = ${act}`;
    return row;
  },

  /** Call it before sending a command. False if the lock is lost or a later attempt has begun. */
  async recordIntent(
    lock: ActLock,
    index: number,
    act: string,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<boolean> {
    const recorded = await sql`
    with held as (${heldBy(sql, lock)})
    insert into intents (run_id, index, act, detail)
    select ${lock.run}, ${index}, ${act}, ${jsonOf(sql, detail)} from held
    on conflict (run_id, index, act) do update set sent_at = now(),
      detail = excluded.detail || case when intents.detail ? 'doubted' then '{"doubted": true}'::jsonb else '{}' end
    returning 1`;
    return recorded.length === 1;
  },

  /** Holds back attempts of an act: an earlier command may have left without a record in this database. */
  async doubt({ run, node_uuid, fence }: Lock, { index, act }: Pick<ActKey, 'index' | 'act'>): Promise<void> {
    await sql`
    with held as (${heldBy(sql, { run, node_uuid, fence })})
    insert into intents (run_id, index, act, detail)
    select ${run}, ${index}, ${act}, '{"doubted": true}'::jsonb from held
    on conflict (run_id, index, act) do update set detail = intents.detail || excluded.detail`;
  },
});
