/** Plans of rollouts: work or refusals of nodes, waves, bounds and a content hash. Planning writes nothing. */
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
import type { RolloutSpec, RolloutSummary } from '../model/rollouts/spec';
import type { WaveSpec } from '../model/rollouts/waves';
import type { Requester } from '../model/runs/runs';
import type { PinnedRunbook, Prepared, PrepareFor, Refused, Work } from './contract';

export type PlanOrder = {
  readonly who: Caller;
  readonly requester: Requester;
  readonly spec: RolloutSpec;
  readonly seed: string;
  /** Makes every plan's hash unique, so that no vote counts for two plans. */
  readonly number: number;
  readonly runbook: PinnedRunbook | null;
  readonly nodes: readonly NodeUuid[];
  /** Missing nodes are left out. */
  readonly read: (nodes: readonly NodeUuid[]) => Promise<readonly NodeRow[]>;
  readonly rule_set: string;
  /** The caller needs no consent of the tenant. */
  readonly withoutConsent: (node: NodeRow) => boolean;
};

export type RolloutPlan = {
  readonly planned: Planned;
  readonly waves: readonly (WaveSpec & { readonly size: number })[];
  readonly counters: readonly Counter[];
  readonly targets: readonly PlannedTarget[];
};

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

/** The order is prepared again at admission. */
type Outlook = Omit<Prepared, 'order'>;
type PlannedNode = SelectedNode & Pick<NodeRow, 'uuid' | 'lease_id'>;
type Judged = {
  /** A subset, because 100,000 nodes may be in memory. */
  readonly node: PlannedNode;
  readonly refused?: Refused;
  readonly prepared?: Outlook;
  readonly leased?: boolean;
};

const selectedOf = ({
  uuid, name, owner, lessee, lease_id, conductor_group, chassis_uuid, shard, resource_class, parent_node, properties,
}: NodeRow): PlannedNode => ({
  uuid, name, owner, lessee, lease_id, conductor_group, chassis_uuid, shard, resource_class, parent_node, properties,
}); // biome-ignore format: one row of names

// Size of a batch of checks. Other requests run between batches.
const judgedAtOnce = 250;

type PlanDeps = {
  readonly inventory: Inventory;
  readonly prepareFor: PrepareFor;
};

/** A rollout that is not the tenant's interrupts the power of its node. */
const needsConsent = (
  { spec: { project, consent }, requester, withoutConsent }: PlanOrder,
  node: NodeRow,
  { power_cycles }: Outlook,
): boolean => {
  const tenant = tenantOf(node);
  if (tenant === null || asksItself(tenant, { project, requester }) || power_cycles === 0) return false;
  // A rollout that may force still waits for the answer first.
  return consent?.force === 'rule' || !withoutConsent(node);
};

/** Nodes between turns of other requests. */
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

/** The most frequent first, with one reason as an example. */
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
  worst: RolloutSummary['worst'],
): RolloutSummary => {
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

// With one node, the default's `rest` wave is empty, which is no error.
const wavesFor = (waves: RolloutSpec['waves'], nodes: number): RolloutSpec['waves'] =>
  nodes === 1 && waves.length === 2 && waves[1]!.size === 'rest' ? waves.slice(0, 1) : waves;

/** Each refusal follows a space. */
const mainRefusals = (judged: readonly Judged[]): string =>
  refusalsOf(judged)
    .slice(0, 3)
    .map(({ code, reason, nodes }) => ` ${nodes} ${code}: ${reason}`)
    .join('');

/** Throws NothingToDo if no node would run, InvalidInput for waves that do not fit. */
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

/** In a transaction. */
export const storePlan = async (
  store: Queries,
  { planned, ...laid }: RolloutPlan,
  of: Pick<NewRollout, 'name' | 'project' | 'requester' | 'reverts' | 'approvers'>,
): Promise<RolloutRow> => {
  const row = await store.rollouts.create({ ...of, ...planned });
  await store.rolloutTargets.insert(row.id, laid);
  return row;
};

/** In a transaction. False if the plan has changed since it was read. */
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
