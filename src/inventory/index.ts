/** The store: one object of queries per resource, on a pool or inside a transaction. */
import type { Db, Sql } from './database';
import { audit, events } from './events';
import { bmcLeases } from './leases';
import { nodes } from './nodes';
import { ports } from './ports';
import { runSteps } from './run-steps';
import { runbooks } from './runbooks';
import { runs } from './runs';
import { secrets } from './secrets';
import { workers } from './workers';

const queries = (sql: Db) => ({
  nodes: nodes(sql),
  ports: ports(sql),
  runbooks: runbooks(sql),
  runs: runs(sql),
  runSteps: runSteps(sql),
  secrets: secrets(sql),
  events: events(sql),
  audit: audit(sql),
  workers: workers(sql),
  bmcLeases: bmcLeases(sql),
});

export type Queries = ReturnType<typeof queries>;

export type Inventory = Queries & {
  /** Runs `work` in one transaction; its queries see and commit together. Never hold one open across a BMC call. */
  transaction<T>(work: (inventory: Queries) => Promise<T>): Promise<T>;
  /** Whether Postgres answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** The store on a pool. */
export const createInventory = (sql: Sql): Inventory => ({
  ...queries(sql),
  transaction: (work) => sql.begin((tx) => work(queries(tx))) as never,
  ping: async () => {
    await sql`select 1`;
  },
  close: () => sql.end({ timeout: 5 }),
});
