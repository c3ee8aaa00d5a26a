/** Events of a dump restored into another cluster. */
import type { Db } from '../database';

/**
 * Moves events with a transaction number that this cluster has not reached, as no new event would follow them. Delivered events get number
 * 0, others 1. A cluster's own numbers begin at 3, so new events follow both. Database owner only, in a transaction. @returns the number of
 * moved events
 */
export const placeRestored = async (tx: Db): Promise<number> => {
  const ahead = tx`tx >= pg_snapshot_xmax(pg_current_snapshot())`;
  if (
    (await tx`select 1 from events where ${ahead} union all select 1 from event_cursor where ${ahead} limit 1`)
      .length === 0
  )
    return 0;
  // Events are append-only for all roles. This changes no content, and no other process writes meanwhile.
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
