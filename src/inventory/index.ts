/** The store: one object of queries per resource, on a pool or inside a transaction. */
import { agents } from './agents';
import { allocationPasses } from './allocation-passes';
import { allocationBell, allocations } from './allocations';
import { audit } from './audit';
import { auditList } from './audit-list';
import { calls } from './calls';
import { chassis } from './chassis';
import { contacts } from './contacts';
import { alone, clockOf, type Db, type Sql } from './database';
import { deployTemplates } from './deploy-templates';
import { details } from './details';
import { events } from './events';
import { feed } from './feed';
import { freezes } from './freezes';
import { history } from './history';
import { idempotency } from './idempotency';
import { inspectionRules } from './inspection-rules';
import { leaseWrites } from './lease-writes';
import { bmcLeases } from './leases';
import { levels } from './levels';
import { nodes } from './nodes';
import { sightings } from './observed-facts';
import { policyLoads } from './policy-loads';
import { portgroups } from './portgroups';
import { ports } from './ports';
import { powerSync } from './power-sync';
import { quotas } from './quotas';
import { ramdiskBoots } from './ramdisk-boots';
import { recovery } from './recovery';
import { resealing } from './resealing';
import { resumes } from './resumes';
import { ruleEffects } from './rule-effects';
import { runList } from './run-list';
import { runSteps } from './run-steps';
import { runbookTraits } from './runbook-traits';
import { runbooks } from './runbooks';
import { runs } from './runs';
import { secrets } from './secrets';
import { shards } from './shards';
import { expectations } from './step-durations';
import { turns } from './turns';
import { vifs } from './vifs';
import { volumeConnectors, volumeTargets } from './volumes';
import { watches } from './watches';
import { webhooks } from './webhooks';
import { workers } from './workers';

const queries = (sql: Db) => ({
  nodes: nodes(sql),
  ports: ports(sql),
  runbooks: runbooks(sql),
  runbookTraits: runbookTraits(sql),
  runs: runs(sql),
  runSteps: runSteps(sql),
  recovery: recovery(sql),
  resealing: resealing(sql),
  resumes: resumes(sql),
  secrets: secrets(sql),
  events: events(sql),
  feed: feed(sql),
  history: history(sql),
  idempotency: idempotency(sql),
  expectations: expectations(sql),
  webhooks: webhooks(sql),
  audit: audit(sql),
  auditList: auditList(sql),
  policyLoads: policyLoads(sql),
  workers: workers(sql),
  bmcLeases: bmcLeases(sql),
  leaseWrites: leaseWrites(sql),
  contacts: contacts(sql),
  sightings: sightings(sql),
  turns: turns(sql),
  quotas: quotas(sql),
  agents: agents(sql),
  ramdiskBoots: ramdiskBoots(sql),
  details: details(sql),
  calls: calls(sql),
  freezes: freezes(sql),
  powerSync: powerSync(sql),
  levels: levels(sql),
  runList: runList(sql),
  allocations: allocations(sql),
  allocationPasses: allocationPasses(sql),
  chassis: chassis(sql),
  portgroups: portgroups(sql),
  volumeConnectors: volumeConnectors(sql),
  volumeTargets: volumeTargets(sql),
  deployTemplates: deployTemplates(sql),
  inspectionRules: inspectionRules(sql),
  ruleEffects: ruleEffects(sql),
  shards: shards(sql),
  vifs: vifs(sql),
});

export type Queries = ReturnType<typeof queries>;

export type Inventory = Queries & {
  /** Runs that are watched; listening needs a connection of its own, so it is no part of a transaction. */
  readonly watches: ReturnType<typeof watches>;
  /** Likewise, of the passes that give nodes to allocations. */
  readonly allocationBell: ReturnType<typeof allocationBell>;
  /** Runs `work` in one transaction; its queries see and commit together. Never hold one open across a BMC call. */
  transaction<T>(work: (inventory: Queries) => Promise<T>): Promise<T>;
  /**
   * Runs `work` unless another process is at the work of this name; undefined then. The lock goes with its connection, so a
   * process that dies holds it no longer; no transaction is open meanwhile.
   */
  alone<T>(what: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Whether Postgres answers. */
  ping(): Promise<void>;
  /** The time by Postgres' clock, epoch milliseconds. */
  clock(): Promise<number>;
  close(): Promise<void>;
};

/** The store on a pool. */
export const createInventory = (sql: Sql): Inventory => ({
  ...queries(sql),
  watches: watches(sql),
  allocationBell: allocationBell(sql),
  transaction: (work) => sql.begin((tx) => work(queries(tx))) as never,
  alone: (what, work) => alone(sql, what, work),
  ping: async () => {
    await sql`select 1`;
  },
  clock: () => clockOf(sql),
  close: () => sql.end({ timeout: 5 }),
});
