/** How many nodes each shard has. */
import type { Db } from './database';

export type ShardRow = { readonly name: string | null; readonly count: number };

export const shards = (sql: Db) => ({
  /** Largest first; nodes without a shard count under null. */
  async list(): Promise<ShardRow[]> {
    return sql<ShardRow[]>`
      select shard as name, count(*)::int as count from nodes group by shard order by count desc, shard nulls last`;
  },
});
