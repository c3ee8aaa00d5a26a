/** Admission checks for the nodes of a rollout: all refusals for its plan, the first for each admission. */

import { admitProvision } from '../admission/admit';
import { type Checks, everyRefusal, firstRefusal } from '../admission/checks';
import type { AdmissionContext } from '../admission/context';
import { powerOrder, setPower } from '../admission/power';
import { memoized, prefetched } from '../admission/prefetched';
import { kindOfNode, kindOfStep } from '../admission/preview';
import type { AuditContext } from '../admission/requester';
import type { NodeRow } from '../inventory/nodes/nodes';
import { isTemperError, raise, type TemperError } from '../model/errors';
import type { RunbookUuid } from '../model/ids';
import { planOutlook, type StepDuration, stepOutlook, totalDuration } from '../model/lifecycle/outlook';
import { requirePlanSize } from '../model/lifecycle/plan-size';
import { nameOf } from '../model/lifecycle/steps';
import { maxMinor } from '../model/resources/microversions';
import type { Runbook } from '../model/resources/runbooks';
import { tenantOf } from '../model/rollouts/consent';
import { refusalOf } from '../model/runs/verdicts';
import { nodeTarget } from '../policy';
import type { RunOrder } from '../runs/contract';
import type { PinnedRunbook, Prepare, Prepared, PrepareFor, Refused, Work } from './contract';
import { passesTenant } from './overriding';

const seeNode = 'baremetal:node:get';

/** The caller may not see the node. The plan lists only visible nodes, but the rules may change before admission. */
const hidden: Refused = {
  code: 'rule',
  rule: seeNode,
  reason: 'The rules in force hide the node from the person by whose rights the rollout runs.',
};

/**
 * The pinned revision gives the steps; the current runbook gives access and nodes.
 * Throws RevisionNotFound, also for a deleted runbook, and RevisionWithdrawn.
 */
const pinned = async ({ inventory }: AdmissionContext, { uuid, name, revision }: PinnedRunbook): Promise<Runbook> => {
  const of = uuid as RunbookUuid;
  const missing = (): never => raise('RevisionNotFound', { runbook: name, revision });
  const now = (await inventory.runbooks.find(of)) ?? missing();
  const row = (await inventory.runbookRevisions.find(of, revision)) ?? missing();
  if (row.withdrawn_reason !== null)
    raise('RevisionWithdrawn', { runbook: name, revision, reason: row.withdrawn_reason });
  const steps = await inventory.runbookRevisions.steps(of, revision);
  // Publishing a runbook does not publish the revisions that its project wrote before.
  const { owner, public: open } = now.public && !row.public ? row : now;
  const { disable_ramdisk, parameters } = row;
  return { ...now, owner, public: open, revision, steps, disable_ramdisk, parameters };
};

/** A context in which the runbook has its pinned revision. */
const withRunbook = (ctx: AdmissionContext, runbook: Runbook): AdmissionContext => ({
  ...ctx,
  inventory: { ...ctx.inventory, runbooks: { ...ctx.inventory.runbooks, find: async () => runbook } },
});

const preparedOf = (order: RunOrder, runbook: PinnedRunbook | null, duration: StepDuration | null): Prepared => {
  const { power_cycles, erases } = planOutlook({ steps: order.steps, ...order.ramdisk });
  const { uuid, name, revision } = runbook ?? {};
  const pin = runbook && { uuid: uuid as RunbookUuid, name: name!, revision, updated_at: order.runbook!.updated_at };
  const others = order.steps.flatMap(({ on }) => (on && on.node_uuid !== order.node.uuid ? [on.node_uuid] : []));
  const also_nodes = [...new Set(others)];
  // A run erases data unless it certainly keeps it.
  const { expected_ms, p95_ms } = duration ?? { expected_ms: null, p95_ms: null };
  return { order: { ...order, runbook: pin }, power_cycles, erases: erases !== false, also_nodes, expected_ms, p95_ms };
};

/** The power request of this node; undefined after a collected refusal. */
const orderPower = async (
  ctx: AdmissionContext,
  request: AuditContext,
  node: NodeRow,
  { target, timeout_ms }: NonNullable<Work['power']>,
  checks: Checks,
): Promise<RunOrder | undefined> => {
  checks.rule(ctx.policy(), setPower, request.who, nodeTarget(node));
  const wish = { target, ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }) };
  return checks.ask(() => powerOrder(ctx, request, node, identOf(node), wish));
};

type Asked = Pick<Parameters<Prepare>[0], 'who' | 'requester' | 'node'>;

/**
 * Refuses runs that interrupt nodes of other projects through shared power or steps on children.
 * A rollout requires consent only from the project of the target.
 */
const othersInterrupted = async (
  ctx: AdmissionContext,
  { who, requester, node }: Asked,
  { steps }: RunOrder,
): Promise<Refused | undefined> => {
  const cut = steps.flatMap((step) => (step.on && stepOutlook(step).power_cycles > 0 ? [step.on.node_uuid] : []));
  for (const uuid of new Set(cut)) {
    const other = await ctx.inventory.nodes.find({ uuid });
    const tenant = other ? tenantOf(other) : null;
    if (tenant === null || tenant === tenantOf(node) || tenant === requester.project_id) continue;
    if (!passesTenant(ctx, { granted: who }, other!))
      return { code: 'leased', reason: 'It interrupts the power of a node of another project as well.' };
  }
  return undefined;
};

/** A runbook error for every node. Thrown, it would stop the whole tick of the rollout. */
const refusedRunbook = ({ code, message: reason }: TemperError): Refused | undefined => {
  // The current rules hide it from the caller.
  if (code === 'RunbookNotFound') return { code: 'rule', rule: 'baremetal:runbook:get', reason };
  // A revision disappears only by direct SQL. It counts as withdrawn.
  return code === 'RevisionNotFound' ? { code: 'withdrawn', reason } : undefined;
};

/** @returns the function that plan and admission share */
export const createPrepare = (ctx: AdmissionContext): Prepare => {
  const contextOf = async (runbook: PinnedRunbook | null): Promise<AdmissionContext> =>
    runbook ? withRunbook(ctx, await pinned(ctx, runbook)) : ctx;
  // Used by plans only, and each plan has its own cache. Nodes of one kind share past durations.
  const pastOf = memoized(ctx.inventory.stepDurations.ofSteps);
  const durationOf = async (node: NodeRow, { steps }: RunOrder): Promise<StepDuration | null> => {
    const past = await pastOf(kindOfNode(node), steps.map(kindOfStep));
    return totalDuration(steps.map((step) => past.get(nameOf(step))));
  };
  return async ({ who, requester, work, node, want }) => {
    if (!ctx.policy().allows(seeNode, who, nodeTarget(node))) return { refusals: [hidden] };
    const checks = want === 'every' ? everyRefusal() : undefined;
    const body = {
      target: work.verb,
      ...(work.runbook && { runbook: work.runbook.uuid }),
      ...(work.baseline && { temper: { baseline: [...work.baseline] } }),
      ...(work.parameters && { temper: { parameters: work.parameters } }),
    };
    const request = { who, requestId: requester.request_id, origin: {}, version: maxMinor, body };
    try {
      if (work.power) {
        const order = await orderPower(ctx, request, node, work.power, checks ?? firstRefusal);
        if (checks && checks.refusals.length > 0) return { refusals: checks.refusals };
        requirePlanSize({ steps: order!.steps, ...order!.ramdisk });
        const others = await othersInterrupted(ctx, { who, requester, node }, order!);
        if (others) return { refusals: [others] };
        return { refusals: [], prepared: preparedOf(order!, null, checks ? await durationOf(node, order!) : null) };
      }
      const own = await contextOf(work.runbook);
      const admitted = await admitProvision(own, request, node, identOf(node), checks ?? firstRefusal);
      if (checks && checks.refusals.length > 0) return { refusals: checks.refusals };
      if (admitted.does === 'run') {
        // Acceptance checks this too, but the plan needs it earlier to list the nodes that will run.
        requirePlanSize({ steps: admitted.order.steps, ...admitted.order.ramdisk });
        const others = await othersInterrupted(own, { who, requester, node }, admitted.order);
        if (others) return { refusals: [others] };
        const duration = checks ? await durationOf(node, admitted.order) : null;
        return { refusals: [], prepared: preparedOf(admitted.order, work.runbook, duration) };
      }
      return raise('InvalidInput', { field: 'verb', reason: `${work.verb} cannot be asked for alone` });
    } catch (thrown) {
      const refusal = isTemperError(thrown) ? (refusalOf(thrown) ?? refusedRunbook(thrown)) : undefined;
      if (!refusal) throw thrown;
      return { refusals: [...(checks?.refusals ?? []), refusal] };
    }
  };
};

/** The same for many nodes. @returns the function that plans and coordinators share */
export const createPrepareFor =
  (ctx: AdmissionContext): PrepareFor =>
  async (nodes) =>
    createPrepare(await prefetched(ctx, nodes));

const identOf = ({ name, uuid }: NodeRow): string => name ?? uuid;
