/** What a dump that was restored into another cluster needs before its events go on. */
import type { Db } from '../database';

/**
 * Places events by a transaction number that this cluster has not reached: they came with a dump from another one, and no event
 * of today would follow them. Those that had been delivered get number 0, the others 1; a cluster's own begin at 3, so that what
 * comes from now on follows both. Only the owner of the database may, in a transaction.
 * @returns how many events were placed anew
 */
export const placeRestored = async (tx: Db): Promise<number> => {
  const ahead = tx`tx >= pg_snapshot_xmax(pg_current_snapshot())`;
  if (
    (await tx`select 1 from events where ${ahead} union all select 1 from event_cursor where ${ahead} limit 1`)
      .length === 0
  )
    return 0;
  // The record is append-only for all roles; this changes no row's content, and no other process writes meanwhile.
  await tx`alter table events disable trigger user`;
  const placed = await tx`
    with cursor as (select tx as upto, seq as seq_upto from event_cursor)
    update events set tx = case when (tx, seq) <= (upto, seq_upto) then '0'::xid8 else '1'::xid8 end
    from cursor where ${ahead} returning 1`;
  await tx`alter table events enable trigger user`;
  await tx`
    update event_cursor set tx = '0', seq = coalesce((select max(seq) from events where tx = '0'::xid8), seq) where ${ahead}`;
  return placed.length;
};
