/** Events of all nodes, runs and rollouts, in feed order and in pages. */
import type { RolloutUuid, RunUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { Db } from './database';
import { type EventSelection, eventPage, eventsWithNodes, type SeenEvent, seenEventColumns } from './event-pages';
import type { FeedPlace } from './feed';
import { roundLimit } from './first-rows';
import { conditionOf } from './predicates';

type EventsOf = { readonly run: RunUuid } | { readonly rollout: RolloutUuid };

/** A caller's view of a rollout that is only partly visible. */
export type RolloutPart = {
  /** Kinds of visible events without a node. */
  readonly kinds: readonly string[];
  /** Visible events of nodes, over the columns of `EventSelection.ofTargets`. */
  readonly ofTargets: Predicate;
};

const isOf = (sql: Db, of: EventsOf) => ('run' in of ? sql`e.run_id = ${of.run}` : sql`e.rollout_id = ${of.rollout}`);

export const allEvents = (sql: Db) => ({
  /** Newest first. */
  page: (selection: EventSelection): Promise<SeenEvent[]> => eventPage(sql, selection),

  /** In feed order. */
  missed: (selection: EventSelection & Required<Pick<EventSelection, 'between'>>): Promise<SeenEvent[]> =>
    eventPage(sql, selection),

  /** The next events in feed order, for all callers. Events that cannot be placed yet come later. */
  async after(place: FeedPlace, limit: number, of?: EventsOf): Promise<SeenEvent[]> {
    const rows = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where (e.tx, e.seq) > (${place.tx}::xid8, ${place.seq}) and e.tx < pg_snapshot_xmin(pg_current_snapshot())
        and ${of ? isOf(sql, of) : sql`(e.node_uuid is not null or e.rollout_id is not null)`}
      order by e.tx, e.seq ${roundLimit(sql, limit)}`;
    return rows.slice(0, limit);
  },

  /** True if there are later events, including those that cannot be placed yet. @param part only these kinds or visible nodes */
  async follow(of: EventsOf, { tx, seq }: FeedPlace, part?: RolloutPart): Promise<boolean> {
    const later = sql`${isOf(sql, of)} and (coalesce(e.tx, '0'::xid8), e.seq) > (${tx}::xid8, ${seq})`;
    const rows = part
      ? await sql`
          select 1 from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where ${later}) seen
          where (node_uuid is null and kind in ${sql([...part.kinds])}) or (node_uuid is not null and ${conditionOf(sql, part.ofTargets, 'seen')})
          limit 1`
      : await sql`select 1 from events e where ${later} limit 1`;
    return rows.length > 0;
  },

  /** The place after all events that can be placed now. */
  async end(): Promise<FeedPlace> {
    const [row] = await sql<{ tx: string }[]>`select pg_snapshot_xmin(pg_current_snapshot()) as tx`;
    return { tx: row!.tx, seq: -1 };
  },

  async find(seq: number): Promise<SeenEvent | undefined> {
    const [row] = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where e.seq = ${seq} and (e.node_uuid is not null or e.rollout_id is not null)`;
    return row;
  },
});
