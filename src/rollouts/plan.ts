/** A plan: every selected node with what would run or what refuses it, waves, bounds, and a name by its content. Writes nothing. */
import type { Inventory, Queries } from '../inventory';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { NewRollout, Planned, RolloutRow } from '../inventory/rollouts/rollouts';
import type { PlannedTarget } from '../inventory/rollouts/targets';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import { asksItself, tenantOf } from '../model/rollouts/consent';
import type { SelectedNode } from '../model/rollouts/domains';
import type { Counter } from '../model/rollouts/layout';

import { layOut, worstWaves } from '../model/rollouts/layout';
import { planHash } from '../model/rollouts/plan-hash';
import type { WaveSpec } from '../model/rollouts/waves';
import type { Requester } from '../model/runs/runs';
import type { PinnedRunbook, Prepared, PrepareFor, Refused, RolloutSpec, Work } from './contract';

export type PlanOrder = {
  readonly who: Caller;
  readonly requester: Requester;
  readonly spec: RolloutSpec;
  readonly seed: string;
  /** How many plans of the rollout there are with this one: each has a hash of its own, so that no vote is for two. */
  readonly number: number;
  readonly runbook: PinnedRunbook | null;
  readonly nodes: readonly NodeUuid[];
  /** Reads some of them as they are now, without those that are gone. */
  readonly read: (nodes: readonly NodeUuid[]) => Promise<readonly NodeRow[]>;
  /** Hash of the policy that was asked. */
  readonly rule_set: string;
  /** Whether the caller needs no word of the tenant whose node's power is interrupted. */
  readonly withoutConsent: (node: NodeRow) => boolean;
};

export type RolloutPlan = {
  readonly planned: Planned;
  readonly waves: readonly (WaveSpec & { readonly size: number })[];
  readonly counters: readonly Counter[];
  readonly targets: readonly PlannedTarget[];
};

/** What is done on each node by what a rollout was asked for. */
export const workFor = (
  { verb, power, baseline, parameters }: Pick<RolloutSpec, 'verb' | 'power' | 'baseline' | 'parameters'>,
  runbook: PinnedRunbook | null,
): Work => ({
  verb,
  runbook,
  ...(power && { power }),
  ...(baseline && { baseline }),
  ...(parameters && { parameters }),
});

/** Of what would run, what it does to the node: the order itself is made anew when the node is begun. */
type Outlook = Omit<Prepared, 'order'>;
/** A node as the plan needs it. */
type PlannedNode = SelectedNode & Pick<NodeRow, 'uuid' | 'lease_id'>;
type Judged = {
  /** Without what only the checks ask: of 100,000 nodes at once no more is in memory than the plan needs. */
  readonly node: PlannedNode;
  readonly refused?: Refused;
  readonly prepared?: Outlook;
  /** Its tenant is asked first. */
  readonly leased?: boolean;
};

const selectedOf = ({
  uuid, name, owner, lessee, lease_id, conductor_group, chassis_uuid, shard, resource_class, parent_node, properties,
}: NodeRow): PlannedNode => ({
  uuid, name, owner, lessee, lease_id, conductor_group, chassis_uuid, shard, resource_class, parent_node, properties,
}); // biome-ignore format: one row of names

// What all of them ask is read at once; between two of these groups other requests have their turn.
const judgedAtOnce = 250;

/** What plans are made with. */
type PlanDeps = {
  readonly inventory: Inventory;
  readonly prepareFor: PrepareFor;
};

/** A tenant's node whose power is interrupted, by a rollout that is not this tenant's own. */
const needsConsent = (
  { spec: { project, consent }, requester, withoutConsent }: PlanOrder,
  node: NodeRow,
  { power_cycles }: Outlook,
): boolean => {
  const tenant = tenantOf(node);
  if (tenant === null || asksItself(tenant, { project, requester }) || power_cycles === 0) return false;
  // One that passes over silence by that rule asks first all the same.
  return consent?.force === 'rule' || !withoutConsent(node);
};

/** Other requests have their turn after so many nodes. */
const judgedInTurn = 25;

const judgeSome = async (
  { inventory, prepareFor }: PlanDeps,
  order: PlanOrder,
  nodes: readonly NodeRow[],
): Promise<Judged[]> => {
  const { who, requester, spec, runbook } = order;
  const [prepare, frozen] = await Promise.all([
    prepareFor(nodes),
    inventory.rolloutSelection.frozen(nodes.map(({ uuid }) => uuid)),
  ]);
  const work = workFor(spec, runbook);
  const judge = async (node: NodeRow): Promise<Judged> => {
    const { refusals, prepared } = await prepare({ who, requester, work, node, want: 'every' });
    const held = frozen.has(node.uuid) ? { code: 'frozen', reason: 'The node is frozen.' } : undefined;
    const refused = refusals[0] ?? held;
    if (refused || !prepared) return { node: selectedOf(node), refused };
    const { order: _, ...outlook } = prepared;
    return { node: selectedOf(node), prepared: outlook, leased: needsConsent(order, node, outlook) };
  };
  const judged: Judged[] = [];
  for (let from = 0; from < nodes.length; from += judgedInTurn) {
    judged.push(...(await Promise.all(nodes.slice(from, from + judgedInTurn).map(judge))));
    await new Promise(setImmediate);
  }
  return judged;
};

/** What a single run's admission says of each node, with every refusal. */
const judgeNodes = async (deps: PlanDeps, order: PlanOrder): Promise<Judged[]> => {
  const judged: Judged[] = [];
  for (let from = 0; from < order.nodes.length; from += judgedAtOnce) {
    const nodes = await order.read(order.nodes.slice(from, from + judgedAtOnce));
    judged.push(...(await judgeSome(deps, order, nodes)));
  }
  return judged;
};

const rowOf = (position: number, { node, refused, prepared }: Judged): PlannedTarget => ({
  position,
  node_uuid: node.uuid,
  node_name: node.name,
  owner: node.owner,
  lessee: node.lessee,
  lease_id: node.lease_id,
  wave: null,
  counters: [],
  state: refused ? 'refused' : 'pending',
  code: refused?.code ?? null,
  rule: refused?.rule ?? null,
  reason: refused?.reason ?? null,
  power_cycles: prepared?.power_cycles ?? 0,
  erases: prepared?.erases ?? false,
  also_nodes: prepared?.also_nodes ?? [],
  expected_ms: prepared?.expected_ms ?? null,
  p95_ms: prepared?.p95_ms ?? null,
});

/** How many nodes are refused for what, the most frequent first; one reason stands for its like. */
const refusalsOf = (judged: readonly Judged[]) => {
  const groups = new Map<string, { code: string; rule: string | null; reason: string; nodes: number }>();
  for (const { refused } of judged) {
    if (!refused) continue;
    const { code, rule = null, reason } = refused;
    const group = groups.get(`${code} ${rule}`) ?? { code, rule, reason, nodes: 0 };
    group.nodes++;
    groups.set(`${code} ${rule}`, group);
  }
  return [...groups.values()].sort((one, other) => other.nodes - one.nodes);
};

const timeOf = (
  targets: readonly PlannedTarget[],
  which: 'expected_ms' | 'p95_ms',
  atOnce: number | null,
): number | null => {
  const known = targets.flatMap((target) => target[which] ?? []);
  if (known.length < targets.length) return null;
  const [all, longest] = known.reduce(([sum, most], ms) => [sum + ms, Math.max(most, ms)], [0, 0]);
  return Math.round(Math.max(longest, all / Math.max(1, Math.min(atOnce ?? targets.length, targets.length))));
};

type Laid = {
  readonly sizes: readonly number[];
  readonly counters: readonly Counter[];
  readonly targets: readonly PlannedTarget[];
};

const summaryOf = (
  { spec }: PlanOrder,
  judged: readonly Judged[],
  { sizes, counters, targets }: Laid,
  worst: unknown,
) => {
  const running = targets.filter(({ wave }) => wave !== null);
  const [total] = counters;
  const bounds = [total?.budget, total?.most].filter((bound) => typeof bound === 'number');
  const atOnce = spec.ramp || bounds.length === 0 ? null : Math.min(...bounds);
  return {
    selected: judged.length,
    will_run: running.length,
    need_consent: running.filter(({ code }) => code === 'leased').length,
    refused: refusalsOf(judged),
    waves: sizes,
    worst,
    restarts: running.filter(({ power_cycles }) => power_cycles > 0).length,
    erased: running.filter(({ erases }) => erases).length,
    projects: [...new Set(running.flatMap(({ owner, lessee }) => [owner, lessee]))]
      .filter((project) => project !== null)
      .sort(),
    harmed_at_most: total?.budget ?? null,
    expected_ms: timeOf(running, 'expected_ms', atOnce),
    p95_ms: timeOf(running, 'p95_ms', atOnce),
  };
};

const namedBy = (order: PlanOrder, laid: Laid): string =>
  planHash({
    spec: order.spec,
    seed: order.seed,
    number: order.number,
    runbook: order.runbook,
    targets: laid.targets.map(({ node_uuid, owner, lessee, lease_id, wave, state }) => [
      node_uuid,
      owner,
      lessee,
      lease_id,
      wave,
      state,
    ]),
  });

// One node is a canary of nothing: the rest that the default names is not there, and that is no mistake.
const wavesFor = (waves: RolloutSpec['waves'], nodes: number): RolloutSpec['waves'] =>
  nodes === 1 && waves.length === 2 && waves[1]!.size === 'rest' ? waves.slice(0, 1) : waves;

/** For a refused plan: the most frequent refusals, each with a space before it. */
const mainRefusals = (judged: readonly Judged[]): string =>
  refusalsOf(judged)
    .slice(0, 3)
    .map(({ code, reason, nodes }) => ` ${nodes} ${code}: ${reason}`)
    .join('');

/** Throws NothingToDo where no node would run, InvalidInput for waves that do not fit. */
export const makePlan = async (deps: PlanDeps, order: PlanOrder): Promise<RolloutPlan> => {
  const { spec, seed, runbook } = order;
  const judged = await judgeNodes(deps, order);
  const runnable = judged.filter(({ prepared }) => prepared);
  if (runnable.length === 0) raise('NothingToDo', { selected: judged.length, reasons: mainRefusals(judged) });
  const layout = layOut(
    runnable.map(({ node }) => node),
    { ...spec, waves: wavesFor(spec.waves, runnable.length) },
    seed,
  );
  if ('fault' in layout) {
    const refusals = mainRefusals(judged);
    const reason = refusals
      ? `${layout.fault}. Of ${judged.length} selected nodes are refused:${refusals}`
      : layout.fault;
    return raise('InvalidInput', { field: 'waves', reason });
  }
  const byNode = new Map(runnable.map((one) => [one.node.uuid, one]));
  const running = layout.targets.map(({ node, wave, counters }, position) => {
    const one = byNode.get(node.uuid)!;
    const consent = one.leased ? { code: 'leased', reason: 'A tenant is asked first.' } : {};
    return { ...rowOf(position, one), wave, counters, ...consent };
  });
  const refused = judged.filter((one) => one.refused).map((one, index) => rowOf(running.length + index, one));
  const laid = { sizes: layout.sizes, counters: layout.counters, targets: [...running, ...refused] };
  const domains = [...new Set([...spec.spread, ...spec.budget.each].map(({ by }) => by))];
  return {
    planned: {
      spec: { ...spec },
      summary: summaryOf(order, judged, laid, worstWaves(layout.targets, domains)),
      plan_hash: namedBy(order, laid),
      seed,
      rule_set: order.rule_set,
      verb: spec.verb,
      runbook_uuid: runbook?.uuid ?? null,
      runbook_name: runbook?.name ?? null,
      runbook_revision: runbook?.revision ?? null,
    },
    waves: layout.sizes.map((size, wave) => ({ ...spec.waves[wave]!, size })),
    counters: layout.counters,
    targets: laid.targets,
  };
};

/** Stores a new rollout with its plan. In a transaction. */
export const storePlan = async (
  store: Queries,
  { planned, ...laid }: RolloutPlan,
  of: Pick<NewRollout, 'name' | 'project' | 'requester' | 'reverts' | 'approvers'>,
): Promise<RolloutRow> => {
  const row = await store.rollouts.create({ ...of, ...planned });
  await store.rolloutTargets.insert(row.id, laid);
  return row;
};

/** Puts a new plan in the place of the one that was read. In a transaction; false where it is not there any more. */
export const replacePlan = async (
  store: Queries,
  { id, plan_hash }: RolloutRow,
  { planned, ...laid }: RolloutPlan,
  by: Pick<NewRollout, 'requester' | 'approvers'>,
): Promise<boolean> => {
  if (!(await store.rollouts.replan(id, plan_hash, planned, by))) return false;
  await store.rolloutTargets.insert(id, laid);
  return true;
};
