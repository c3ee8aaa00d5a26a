/** The inventory: one object of queries per resource, on a pool or in a transaction. */

import { acknowledgements } from './acknowledgements';
import { allEvents } from './all-events';
import { allocationPasses } from './allocation-passes';
import { allocations, allocationsChannel } from './allocations';
import { audit } from './audit';
import { auditList } from './audit-list';
import { alone, clockOf, type Db, type Sql, transacted } from './database';
import { deployTemplates } from './deploy-templates';
import { discoveredMachines } from './discovered-machines';
import { discoveryBoots } from './discovery-boots';
import { disruptionBudgets } from './disruption-budgets';
import { events } from './events';
import { feed } from './feed';
import { idempotency } from './idempotency';
import { images } from './images';
import { imports } from './imports';
import { incidents } from './incidents';
import { inspectionRules } from './inspection-rules';
import { bmcLeases } from './leases';
import { levels } from './levels';
import { missingMigrations } from './migrate';
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
import { observedFacts } from './nodes/observed-facts';
import { portgroups } from './nodes/portgroups';
import { ports } from './nodes/ports';
import { powerSync } from './nodes/power-sync';
import { ramdiskBoots } from './nodes/ramdisk-boots';
import { ruleEffects } from './nodes/rule-effects';
import { shards } from './nodes/shards';
import { vifs } from './nodes/vifs';
import { volumeConnectors, volumeTargets } from './nodes/volumes';
import { notifications } from './notifications';
import { policyLoads } from './policy-loads';
import { powerNotices } from './power-notices';
import { projectWindows } from './project-windows';
import { quotas } from './quotas';
import { ramdisks } from './ramdisks';
import { retention } from './retention';
import { rolloutAdmission } from './rollouts/admission';
import { rolloutConsents } from './rollouts/consents';
import { rolloutDue } from './rollouts/due';
import { rolloutOpenings } from './rollouts/openings';
import { rolloutProgress } from './rollouts/progress';
import { rollouts } from './rollouts/rollouts';
import { rolloutSelection } from './rollouts/selection';
import { rolloutTargets } from './rollouts/targets';
import { rolloutVotes } from './rollouts/votes';
import { rolloutWakes } from './rollouts/wakes';
import { runReports } from './run-reports';
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
import { stepDurations } from './runs/step-durations';
import { turns } from './runs/turns';
import { search } from './search';
import { resealing } from './secrets/resealing';
import { secrets } from './secrets/secrets';
import { summary } from './summary';
import { summaryGroups } from './summary-groups';
import { usage } from './usage';
import { webhooks } from './webhooks';
import { workers } from './workers';

const parts = {
  acknowledgements,
  nodes,
  ports,
  runbooks,
  runbookRevisions,
  runbookTraits,
  runs,
  runSteps,
  recovery,
  resealing,
  resumes,
  secrets,
  events,
  feed,
  allEvents,
  history,
  idempotency,
  stepDurations,
  webhooks,
  powerNotices,
  notifications,
  audit,
  auditList,
  retention,
  policyLoads,
  workers,
  bmcLeases,
  leaseWrites,
  contacts,
  observedFacts,
  turns,
  quotas,
  agents,
  ramdiskBoots,
  images,
  imports,
  imageCapabilities,
  ramdisks,
  bootCapabilities,
  discoveryBoots,
  networkBoots,
  details,
  calls,
  firmwareVersions,
  freezes,
  powerSync,
  levels,
  runList,
  runReports,
  summary,
  summaryGroups,
  incidents,
  search,
  allocations,
  allocationPasses,
  chassis,
  consoleTickets,
  portgroups,
  volumeConnectors,
  volumeTargets,
  deployTemplates,
  disruptionBudgets,
  discoveredMachines,
  projectWindows,
  inspectionRules,
  ruleEffects,
  shards,
  vifs,
  usage,
  rollouts,
  rolloutTargets,
  rolloutDue,
  rolloutOpenings,
  rolloutProgress,
  rolloutAdmission,
  rolloutWakes,
  rolloutConsents,
  rolloutVotes,
  rolloutSelection,
};

export type Queries = { readonly [Part in keyof typeof parts]: ReturnType<(typeof parts)[Part]> };

const ofConnection = Symbol('connection');
type Made = Record<string, unknown> & { readonly [ofConnection]: Db };

const partOf = (made: Made, name: string | symbol): unknown => {
  if (typeof name === 'symbol' || !Object.hasOwn(parts, name)) return undefined;
  made[name] ??= parts[name as keyof typeof parts](made[ofConnection]);
  return made[name];
};

/** Makes parts on first use, because a transaction needs few. They can be listed and spread as usual. */
const lazily: ProxyHandler<Made> = {
  get: partOf,
  ownKeys: () => Object.keys(parts),
  getOwnPropertyDescriptor: (made, name) => ({ value: partOf(made, name), enumerable: true, configurable: true }),
};

const queries = (sql: Db): Queries => new Proxy<Made>({ [ofConnection]: sql }, lazily) as unknown as Queries;

const allQueries = (sql: Db): Queries =>
  Object.fromEntries(Object.entries(parts).map(([name, make]) => [name, make(sql)])) as Queries;

export type Inventory = Queries & {
  /** LISTEN needs its own connection, so this is no part of a transaction. */
  /** Notifies allocation passes. No part of a transaction, either. */
  readonly allocationsChannel: ReturnType<typeof allocationsChannel>;
  /**
   * Runs `work` in one transaction. Never hold one open across a BMC call. After a deadlock or serialization failure, `work` runs again,
   * three times in all. It must do nothing that a rollback does not undo.
   */
  transaction<T>(work: (inventory: Queries) => Promise<T>): Promise<T>;
  /**
   * One transaction with a savepoint per part: only a part that fails is rolled back. Each part checks its constraints.
   * @param keep false rolls back everything at the end
   */
  stepwise<T>(work: (attempt: Attempt) => Promise<T>, keep: boolean): Promise<T>;
  /**
   * Runs `work` under a lock of this name, without a transaction; undefined if another process holds it. The lock ends with its connection,
   * and so with its process.
   */
  alone<T>(what: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Throws if PostgreSQL does not answer. */
  ping(): Promise<void>;
  missingMigrations(): Promise<string[]>;
  /** PostgreSQL's clock in epoch milliseconds. */
  clock(): Promise<number>;
  close(): Promise<void>;
};

/** A part that throws is rolled back. */
export type Attempt = <T>(part: (inventory: Queries) => Promise<T>) => Promise<T>;

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

export const createInventory = (sql: Sql): Inventory => ({
  ...allQueries(sql),
  allocationsChannel: allocationsChannel(sql),
  transaction: (work) => transacted(sql, (tx) => work(queries(tx))),
  stepwise: (work, keep) => stepwise(sql, work, keep),
  alone: (what, work) => alone(sql, what, work),
  ping: async () => {
    await sql`select 1`;
  },
  missingMigrations: () => missingMigrations(sql),
  clock: () => clockOf(sql),
  close: () => sql.end({ timeout: 5 }),
});
