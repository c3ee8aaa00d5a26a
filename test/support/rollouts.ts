/** Rollouts in a real store, without an engine: planned, admitted by the real acceptance, and their runs ended by hand. */
import { randomUUID } from 'node:crypto';
import type { Inventory, Queries } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { Admission } from '../../src/inventory/rollouts/admission';
import type { RolloutRow } from '../../src/inventory/rollouts/rollouts';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { SelectedNode } from '../../src/model/rollouts/domains';
import { type Limits, layOut } from '../../src/model/rollouts/layout';
import { planHash } from '../../src/model/rollouts/plan-hash';
import type { RolloutSummary } from '../../src/model/rollouts/spec';
import { createPolicy } from '../../src/policy';
import type { RolloutDeps } from '../../src/rollouts/contract';
import { accept } from '../../src/runs/accept';
import type { RunOrder } from '../../src/runs/contract';
import { endRun } from '../../src/runs/ending';
import { quickTiming } from './engine';
import { testVault } from './vault';

const policy = createPolicy({ set: 'temper' });

const requester = {
  user_id: 'u',
  user_name: 'tester',
  project_id: null,
  system_scope: 'all',
  strategy: 'noauth',
  request_id: 'r',
};

/** Nodes in these racks, on which a service can begin. */
export const nodesIn = async (owner: Sql, racks: readonly (string | null)[]): Promise<SelectedNode[]> => {
  const rows = racks.map((rack, index) => ({
    uuid: randomUUID(),
    name: `n-${index}-${randomUUID().slice(0, 8)}`,
    driver: 'fake-hardware',
    provision_state: 'active',
    properties: owner.json(rack === null ? {} : { rack }),
  }));
  return owner<SelectedNode[]>`insert into nodes ${owner(rows)} returning *`;
};

/** A rollout of these nodes, running. */
export const runningRollout = async (
  inventory: Inventory,
  nodes: readonly SelectedNode[],
  limits: Partial<Limits> = {},
): Promise<RolloutRow> => {
  const whole: Limits = {
    waves: [{ size: 'rest', advance: 'auto', soak_ms: 0 }],
    order: 'name',
    spread: [],
    budget: { total: '100%', each: [] },
    ramp: false,
    ...limits,
  };
  const layout = layOut(nodes, whole, 'seed');
  if ('fault' in layout) throw new Error(layout.fault);
  const targets = layout.targets.map(({ node, wave, counters }, position) => ({
    position,
    node_uuid: node.uuid as NodeUuid,
    node_name: node.name,
    owner: node.owner,
    lessee: node.lessee,
    lease_id: node.lease_id as never,
    wave,
    counters,
    state: 'pending' as const,
    code: null,
    rule: null,
    reason: null,
    power_cycles: 0,
    erases: false,
    also_nodes: [],
    expected_ms: null,
    p95_ms: null,
  }));
  const plan_hash = planHash({ targets, nonce: randomUUID() });
  return inventory.transaction(async (store) => {
    const made = await store.rollouts.create({
      name: null,
      project: null,
      requester,
      reverts: null,
      spec: { ...whole, name: null, project: null, verb: 'service', runbook: null, select: {} },
      summary: {} as RolloutSummary,
      plan_hash,
      seed: 'seed',
      rule_set: 'x',
      verb: 'service',
      runbook_uuid: null,
      runbook_name: null,
      runbook_revision: null,
    });
    const waves = layout.sizes.map((size, wave) => ({ ...whole.waves[wave]!, size }));
    await store.rolloutTargets.insert(made.id, { waves, counters: layout.counters, targets });
    await store.rollouts.move(made, ['planned'], 'running', { started_at: new Date() });
    return { ...made, state: 'running' as const };
  });
};

const orderOf = (node_uuid: NodeUuid): RunOrder => ({
  node: { uuid: node_uuid, name: null, driver: 'fake-hardware', conductor_group: '', provision_state: 'active' },
  verb: 'service',
  kind: 'service',
  event: 'service',
  ends: 'done',
  target: 'active',
  fault: 'service failure',
  steps: planSteps([{ interface: 'power', step: 'power_on' }], 'service', { driver: 'fake-hardware' }),
  runbook: null,
  asked: { requester, rule: 'r', rule_set: 'x' },
});

/**
 * What a coordinator needs to tend rollouts without an engine: runs are accepted in the store, and stay as they are until a test ends them.
 * @param over what is otherwise
 */
export const tendingDeps = (inventory: Inventory, over: Partial<RolloutDeps> = {}): RolloutDeps => ({
  inventory,
  runs: {
    start: async (order, before) => {
      const accepted = await accept(order, { inventory, vault: testVault, timing: quickTiming, before });
      return { run: accepted.input.lock.run, workflow_id: accepted.workflow_id };
    },
    operate: async () => 'taken',
  },
  prepareFor:
    async () =>
    async ({ node }) => ({
      refusals: [],
      prepared: {
        order: orderOf(node.uuid),
        power_cycles: 0,
        erases: false,
        also_nodes: [],
        expected_ms: null,
        p95_ms: null,
      },
    }),
  authority: async () => 'holds',
  policy: () => policy,
  log: { info() {}, warn() {} },
  ...over,
});

export type Begun = Admission | { readonly is: 'refused'; readonly code: string };

class NotAdmitted extends Error {
  constructor(readonly admission: Admission) {
    super(admission.is);
  }
}

/** Begins one target as a coordinator does. @param fault is called within the transaction, and may throw */
export const begin = async (
  inventory: Inventory,
  rollout: RolloutRow,
  target: { readonly position: number; readonly node_uuid: NodeUuid },
  fault: (store: Queries) => Promise<void> = async () => {},
): Promise<Begun> => {
  try {
    await accept(
      { ...orderOf(target.node_uuid), batch: rollout.id },
      {
        inventory,
        vault: testVault,
        timing: quickTiming,
        before: async (store, run) => {
          const admission = await store.rolloutAdmission.admit({
            rollout: rollout.id,
            plan_hash: rollout.plan_hash,
            ...target,
            run,
          });
          if (admission.is !== 'admitted') throw new NotAdmitted(admission);
          await fault(store);
        },
      },
    );
    return { is: 'admitted' };
  } catch (thrown) {
    if (thrown instanceof NotAdmitted) return thrown.admission;
    return { is: 'refused', code: String((thrown as { code?: unknown }).code) };
  }
};

/** Ends a run in the store as its workflow would. */
export const endOf = async (
  inventory: Inventory,
  run: { readonly id: RunUuid; readonly node_uuid: NodeUuid; readonly fence: number; readonly verb?: string },
  outcome: 'succeeded' | 'failed' | 'aborted',
): Promise<void> => {
  await inventory.transaction((store) =>
    endRun(store, {
      lock: { run: run.id, node_uuid: run.node_uuid, fence: run.fence },
      outcome,
      // A power request leaves the provision state alone.
      ...(run.verb === 'power' ? { ends: null, fault: null } : { ends: 'done', fault: 'service failure' }),
      error: outcome === 'succeeded' ? null : 'it broke',
      cursor: 0,
      power: null,
    }),
  );
};

/** Counters that say something else than the targets do, or more than they may. */
export const brokenCounters = async (owner: Sql, rollout: RolloutRow): Promise<string[]> => {
  const rows = await owner<{ scope: string; value: string }[]>`
    select c.scope, c.value from rollout_counters c
    left join lateral (
      select count(*) filter (where t.state in ('admitted', 'soaking')) as in_flight, count(*) filter (where t.state = 'failed') as failed,
        count(*) filter (where t.state = 'parked') as parked, count(*) filter (where t.state = 'done') as done
      from rollout_targets t where t.rollout = c.rollout and c.number = any (t.counters)
    ) real on true
    where c.rollout = ${rollout.id}
      and ((real.in_flight, real.failed, real.parked, real.done) is distinct from (c.in_flight, c.failed, c.parked, c.done)
        or real.in_flight + real.failed + real.parked > c.budget or real.in_flight > c.most)`;
  return rows.map(({ scope, value }) => `${scope} ${value}`);
};
