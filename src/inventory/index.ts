/** The store: one object of queries per resource, on a pool or inside a transaction. */
import { agents } from './agents';
import { calls } from './calls';
import { contacts } from './contacts';
import type { Db, Sql } from './database';
import { details } from './details';
import { audit, events } from './events';
import { expectations } from './expectations';
import { feed } from './feed';
import { freezes } from './freezes';
import { history } from './history';
import { bmcLeases } from './leases';
import { nodes } from './nodes';
import { ports } from './ports';
import { powerSync } from './power-sync';
import { runList } from './run-list';
import { runSteps } from './run-steps';
import { runbooks } from './runbooks';
import { runs } from './runs';
import { secrets } from './secrets';
import { sightings } from './sightings';
import { turns } from './turns';
import { watches } from './watches';
import { webhooks } from './webhooks';
import { workers } from './workers';

const queries = (sql: Db) => ({
  nodes: nodes(sql),
  ports: ports(sql),
  runbooks: runbooks(sql),
  runs: runs(sql),
  runSteps: runSteps(sql),
  secrets: secrets(sql),
  events: events(sql),
  feed: feed(sql),
  history: history(sql),
  expectations: expectations(sql),
  webhooks: webhooks(sql),
  audit: audit(sql),
  workers: workers(sql),
  bmcLeases: bmcLeases(sql),
  contacts: contacts(sql),
  sightings: sightings(sql),
  turns: turns(sql),
  agents: agents(sql),
  details: details(sql),
  calls: calls(sql),
  freezes: freezes(sql),
  powerSync: powerSync(sql),
  runList: runList(sql),
});

export type Queries = ReturnType<typeof queries>;

export type Inventory = Queries & {
  /** Runs that are watched; listening needs a connection of its own, so it is no part of a transaction. */
  readonly watches: ReturnType<typeof watches>;
  /** Runs `work` in one transaction; its queries see and commit together. Never hold one open across a BMC call. */
  transaction<T>(work: (inventory: Queries) => Promise<T>): Promise<T>;
  /** Whether Postgres answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** The store on a pool. */
export const createInventory = (sql: Sql): Inventory => ({
  ...queries(sql),
  watches: watches(sql),
  transaction: (work) => sql.begin((tx) => work(queries(tx))) as never,
  ping: async () => {
    await sql`select 1`;
  },
  close: () => sql.end({ timeout: 5 }),
});
