/** Plans of a request on one node: all refusals of its admission, and the steps. Writes nothing. */

import type { NodeRow } from '../inventory/nodes/nodes';
import { quotaProject } from '../model/access/callers';
import {
  planOutlook,
  type StepDuration,
  type StepOutlook,
  stepOutlook,
  totalDuration,
} from '../model/lifecycle/outlook';
import { requirePlanSize } from '../model/lifecycle/plan-size';
import { next } from '../model/lifecycle/states';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import { type Verb, verbRow } from '../model/lifecycle/verbs';
import type { FirmwareDrift } from '../model/resources/firmware-baselines';
import { refuseWithdrawn } from '../model/resources/runbooks';
import type { Refusal } from '../model/runs/verdicts';
import { nodeTarget } from '../policy';
import type { RunOrder } from '../runs/contract';
import { type Admitted, admitProvision } from './admit';
import { type CollectedRefusal, type CollectingChecks, everyRefusal } from './checks';
import type { AdmissionContext } from './context';
import { quotasOf } from './context';
import { refuseFrozen } from './obstacles';
import type { ProvisionAsked } from './request';
import { driftOf, factsOf } from './requested-steps';

export type PlanStep = { readonly step: PlannedStep; readonly outlook: StepOutlook; readonly duration?: StepDuration };

export type NodePlan = {
  /** Complete only without refusals. */
  readonly admitted: Admitted;
  /** Reasons against acceptance. */
  readonly refusals: readonly CollectedRefusal[];
  /** Reasons why the run cannot begin at once, or needs another project's decision. */
  readonly concerns: readonly Refusal[];
  readonly steps: readonly PlanStep[];
  readonly outlook: StepOutlook;
  readonly duration: StepDuration | null;
  /** Differences from the baseline; null without a baseline. */
  readonly firmware: readonly FirmwareDrift[] | null;
};

/** Refusals of the acceptance itself. */
const checkAcceptance = async (
  { inventory, settings }: AdmissionContext,
  { runbook, asked, steps, ramdisk }: RunOrder,
  checks: CollectingChecks,
): Promise<void> => {
  const { runs } = quotasOf({ settings });
  await checks.ask(() => inventory.quotas.require('runs', quotaProject(asked.requester), runs));
  if (runbook?.read_revision !== undefined) {
    const { name, read_revision: revision } = runbook;
    const found = await inventory.runbookRevisions.find(runbook.uuid, revision);
    checks.try(() => refuseWithdrawn(name, revision, found?.withdrawn_reason ?? null));
  }
  checks.try(() => requirePlanSize({ steps, ...ramdisk }));
};

const readsFreezes = 'temper:freeze:get';

/** The rules of a plan beside those of the admission. */
export const planRules: readonly string[] = [readsFreezes];

/** The refusal for another project's node that loses power through this run. */
const leasedFault = (
  { owner, lessee }: NodeRow,
  { who }: ProvisionAsked,
  { power_cycles }: StepOutlook,
): Refusal | undefined => {
  const tenant = lessee ?? owner;
  if (tenant === null || tenant === who.project_id || power_cycles === 0) return undefined;
  const reason = `The node is ${lessee === null ? 'owned' : 'leased'} by another project, and this interrupts its power.`;
  return { code: 'leased', error: 'Conflict', status: 409, reason };
};

const concernsOf = async (
  ctx: AdmissionContext,
  request: ProvisionAsked,
  node: NodeRow,
  ident: string,
  outlook: StepOutlook,
): Promise<Refusal[]> => {
  const checks = everyRefusal();
  if (ctx.policy().allows(readsFreezes, request.who, nodeTarget(node)))
    await checks.ask(() => refuseFrozen(ctx, node, ident));
  const leased = leasedFault(node, request, outlook);
  return [...checks.refusals, ...(leased ? [leased] : [])];
};

export const kindOfStep = ({ interface: of, step }: PlannedStep) => ({ interface: of, step });

export const kindOfNode = (node: NodeRow) => {
  const { vendor, model } = factsOf(node);
  return { vendor, model };
};

/** The verb for a runbook without one: what the node's state admits, or cleaning. */
export const runbookVerb = ({ provision_state }: NodeRow): Verb =>
  (['clean', 'service'] as const).find((verb) => next(provision_state, verbRow(verb).event) !== undefined) ?? 'clean';

/**
 * All refusals on a visible node in the order of an admission, and the steps. Errors that are independent of the
 * node are thrown: an invalid body, a missing or hidden runbook.
 */
export const planProvision = async (
  ctx: AdmissionContext,
  request: ProvisionAsked,
  node: NodeRow,
  ident: string,
): Promise<NodePlan> => {
  const checks = everyRefusal();
  const admitted = await admitProvision(ctx, request, node, ident, checks);
  const order = admitted.does === 'run' ? admitted.order : undefined;
  if (order) await checkAcceptance(ctx, order, checks);
  const steps = order?.steps ?? [];
  const past = await ctx.inventory.stepDurations.ofSteps(kindOfNode(node), steps.map(kindOfStep));
  const outlook = planOutlook({ steps, ...order?.ramdisk });
  return {
    admitted,
    refusals: checks.refusals,
    concerns: await concernsOf(ctx, request, node, ident, outlook),
    steps: steps.map((step) => ({ step, outlook: stepOutlook(step), duration: past.get(nameOf(step)) })),
    outlook,
    firmware: request.body.temper?.baseline
      ? ((await driftOf({ ctx, request, node, ident, checks: everyRefusal() })) ?? [])
      : null,
    duration: totalDuration(steps.map((step) => past.get(nameOf(step)))),
  };
};
