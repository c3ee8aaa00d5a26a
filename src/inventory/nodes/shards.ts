/** Number of nodes per shard. */
import type { Predicate } from '../../model/predicates';
import type { Db } from '../database';
import { conditionOf } from '../predicates';

export type ShardRow = { readonly name: string | null; readonly count: number };

export const shards = (sql: Db) => ({
  /** Largest first; null counts nodes without a shard. */
  async list(visible: Predicate): Promise<ShardRow[]> {
    return sql<ShardRow[]>`
      select shard as name, count(*)::int as count from nodes where ${conditionOf(sql, visible, 'nodes')}
      group by shard order by count desc, shard nulls last`;
  },
});
