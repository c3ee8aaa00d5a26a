/** Events of all nodes, runs and rollouts, in the order of the feed, and pages of them. */
import type { RolloutUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import type { Db } from './database';
import { type EventSelection, eventPage, eventsWithNodes, type SeenEvent, seenEventColumns } from './event-pages';
import type { FeedPlace } from './feed';
import { roundLimit } from './first-rows';
import { conditionOf } from './predicates';

/** What of a rollout's events a caller sees who does not see it as a whole. */
export type RolloutPart = {
  /** Of those that are about none of its nodes. */
  readonly kinds: readonly string[];
  /** Of those about a node, over the columns of `EventSelection.ofTargets`. */
  readonly ofTargets: Predicate;
};

export const allEvents = (sql: Db) => ({
  /** Newest first. */
  page: (selection: EventSelection): Promise<SeenEvent[]> => eventPage(sql, selection),

  /** The first ones after a place and up to another that a caller may see, in the order of the feed. */
  missed: (selection: EventSelection & Required<Pick<EventSelection, 'between'>>): Promise<SeenEvent[]> =>
    eventPage(sql, selection),

  /**
   * The next ones in the order of the feed, for all callers alike; those that cannot be placed yet come later.
   * @param rollout of this one alone
   */
  async after(place: FeedPlace, limit: number, rollout?: RolloutUuid): Promise<SeenEvent[]> {
    const rows = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where (e.tx, e.seq) > (${place.tx}::xid8, ${place.seq}) and e.tx < pg_snapshot_xmin(pg_current_snapshot())
        and ${rollout ? sql`e.rollout_id = ${rollout}` : sql`(e.node_uuid is not null or e.rollout_id is not null)`}
      order by e.tx, e.seq ${roundLimit(sql, limit)}`;
    return rows.slice(0, limit);
  },

  /**
   * Whether a rollout has events after a place, also such as cannot be placed yet.
   * @param part only of these: of the rollout itself those of some kinds, and of its nodes those that a caller may see
   */
  async follow(rollout: RolloutUuid, { tx, seq }: FeedPlace, part?: RolloutPart): Promise<boolean> {
    const later = sql`e.rollout_id = ${rollout} and (coalesce(e.tx, '0'::xid8), e.seq) > (${tx}::xid8, ${seq})`;
    const rows = part
      ? await sql`
          select 1 from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where ${later}) seen
          where (node_uuid is null and kind in ${sql([...part.kinds])}) or (node_uuid is not null and ${conditionOf(sql, part.ofTargets, 'seen')})
          limit 1`
      : await sql`select 1 from events e where ${later} limit 1`;
    return rows.length > 0;
  },

  /** The place after all that can be placed now. */
  async end(): Promise<FeedPlace> {
    const [row] = await sql<{ tx: string }[]>`select pg_snapshot_xmin(pg_current_snapshot()) as tx`;
    return { tx: row!.tx, seq: -1 };
  },

  /** An event that the stream of all has, which is its place as well; undefined where there is none of this number. */
  async find(seq: number): Promise<SeenEvent | undefined> {
    const [row] = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where e.seq = ${seq} and (e.node_uuid is not null or e.rollout_id is not null)`;
    return row;
  },

  /** An event of this rollout, which is its place as well; undefined where it has none of this number. */
  async ofRollout(rollout: RolloutUuid, seq: number): Promise<SeenEvent | undefined> {
    const [row] = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where e.seq = ${seq} and e.rollout_id = ${rollout}`;
    return row;
  },
});
