/** The store: one object of queries per resource, on a pool or inside a transaction. */

import { allEvents } from './all-events';
import { allocationPasses } from './allocation-passes';
import { allocationBell, allocations } from './allocations';
import { audit } from './audit';
import { auditList } from './audit-list';
import { alone, clockOf, type Db, type Sql } from './database';
import { deployTemplates } from './deploy-templates';
import { discoveredMachines } from './discovered-machines';
import { discoveryBoots } from './discovery-boots';
import { disruptionBudgets } from './disruption-budgets';
import { events } from './events';
import { feed } from './feed';
import { idempotency } from './idempotency';
import { images } from './images';
import { imports } from './imports';
import { inspectionRules } from './inspection-rules';
import { bmcLeases } from './leases';
import { levels } from './levels';
import { agents } from './nodes/agents';
import { bootCapabilities } from './nodes/boot-capabilities';
import { chassis } from './nodes/chassis';
import { consoleTickets } from './nodes/console-tickets';
import { details } from './nodes/details';
import { firmwareVersions } from './nodes/firmware-versions';
import { freezes } from './nodes/freezes';
import { history } from './nodes/history';
import { imageCapabilities } from './nodes/image-capabilities';
import { leaseWrites } from './nodes/lease-writes';
import { networkBoots } from './nodes/network-boots';
import { nodes } from './nodes/nodes';
import { sightings } from './nodes/observed-facts';
import { portgroups } from './nodes/portgroups';
import { ports } from './nodes/ports';
import { powerSync } from './nodes/power-sync';
import { ramdiskBoots } from './nodes/ramdisk-boots';
import { ruleEffects } from './nodes/rule-effects';
import { shards } from './nodes/shards';
import { vifs } from './nodes/vifs';
import { volumeConnectors, volumeTargets } from './nodes/volumes';
import { policyLoads } from './policy-loads';
import { projectWindows } from './project-windows';
import { quotas } from './quotas';
import { ramdisks } from './ramdisks';
import { retention } from './retention';
import { rolloutAdmission } from './rollouts/admission';
import { rolloutConsents } from './rollouts/consents';
import { rolloutDue } from './rollouts/due';
import { rollouts } from './rollouts/rollouts';
import { rolloutSelection } from './rollouts/selection';
import { rolloutTargets } from './rollouts/targets';
import { rolloutVotes } from './rollouts/votes';
import { rolloutWakes } from './rollouts/wakes';
import { runbookRevisions } from './runbook-revisions';
import { runbookTraits } from './runbook-traits';
import { runbooks } from './runbooks';
import { calls } from './runs/calls';
import { contacts } from './runs/contacts';
import { runList } from './runs/list';
import { recovery } from './runs/recovery';
import { resumes } from './runs/resumes';
import { runSteps } from './runs/run-steps';
import { runs } from './runs/runs';
import { expectations } from './runs/step-durations';
import { turns } from './runs/turns';
import { watches } from './runs/watches';
import { resealing } from './secrets/resealing';
import { secrets } from './secrets/secrets';
import { summary } from './summary';
import { webhooks } from './webhooks';
import { workers } from './workers';

const queries = (sql: Db) => ({
  nodes: nodes(sql),
  ports: ports(sql),
  runbooks: runbooks(sql),
  runbookRevisions: runbookRevisions(sql),
  runbookTraits: runbookTraits(sql),
  runs: runs(sql),
  runSteps: runSteps(sql),
  recovery: recovery(sql),
  resealing: resealing(sql),
  resumes: resumes(sql),
  secrets: secrets(sql),
  events: events(sql),
  feed: feed(sql),
  allEvents: allEvents(sql),
  history: history(sql),
  idempotency: idempotency(sql),
  expectations: expectations(sql),
  webhooks: webhooks(sql),
  audit: audit(sql),
  auditList: auditList(sql),
  retention: retention(sql),
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
  images: images(sql),
  imports: imports(sql),
  imageCapabilities: imageCapabilities(sql),
  ramdisks: ramdisks(sql),
  bootCapabilities: bootCapabilities(sql),
  discoveryBoots: discoveryBoots(sql),
  networkBoots: networkBoots(sql),
  details: details(sql),
  calls: calls(sql),
  firmwareVersions: firmwareVersions(sql),
  freezes: freezes(sql),
  powerSync: powerSync(sql),
  levels: levels(sql),
  runList: runList(sql),
  summary: summary(sql),
  allocations: allocations(sql),
  allocationPasses: allocationPasses(sql),
  chassis: chassis(sql),
  consoleTickets: consoleTickets(sql),
  portgroups: portgroups(sql),
  volumeConnectors: volumeConnectors(sql),
  volumeTargets: volumeTargets(sql),
  deployTemplates: deployTemplates(sql),
  disruptionBudgets: disruptionBudgets(sql),
  discoveredMachines: discoveredMachines(sql),
  projectWindows: projectWindows(sql),
  inspectionRules: inspectionRules(sql),
  ruleEffects: ruleEffects(sql),
  shards: shards(sql),
  vifs: vifs(sql),
  rollouts: rollouts(sql),
  rolloutTargets: rolloutTargets(sql),
  rolloutDue: rolloutDue(sql),
  rolloutAdmission: rolloutAdmission(sql),
  rolloutWakes: rolloutWakes(sql),
  rolloutConsents: rolloutConsents(sql),
  rolloutVotes: rolloutVotes(sql),
  rolloutSelection: rolloutSelection(sql),
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
   * Runs `work` in one transaction whose parts may fail each by itself: what a part did is undone then, and the rest stands.
   * Constraints are checked by each part. @param keep false to undo everything in the end
   */
  stepwise<T>(work: (attempt: Attempt) => Promise<T>, keep: boolean): Promise<T>;
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

/** Runs a part of a transaction; throws what it throws, and has undone it then. */
type Attempt = <T>(part: (inventory: Queries) => Promise<T>) => Promise<T>;

class Undone<T> extends Error {
  constructor(readonly result: T) {
    super('undone');
  }
}

const stepwise = async <T>(sql: Sql, work: (attempt: Attempt) => Promise<T>, keep: boolean): Promise<T> => {
  try {
    return (await sql.begin(async (tx) => {
      await tx`set constraints all immediate`;
      const result = await work((part) => tx.savepoint((savepoint) => part(queries(savepoint))) as never);
      if (!keep) throw new Undone(result);
      return result;
    })) as T;
  } catch (thrown) {
    if (thrown instanceof Undone) return thrown.result;
    throw thrown;
  }
};

/** The store on a pool. */
export const createInventory = (sql: Sql): Inventory => ({
  ...queries(sql),
  watches: watches(sql),
  allocationBell: allocationBell(sql),
  transaction: (work) => sql.begin((tx) => work(queries(tx))) as never,
  stepwise: (work, keep) => stepwise(sql, work, keep),
  alone: (what, work) => alone(sql, what, work),
  ping: async () => {
    await sql`select 1`;
  },
  clock: () => clockOf(sql),
  close: () => sql.end({ timeout: 5 }),
});
