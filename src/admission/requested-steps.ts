/** Steps of a provision request: its own, a runbook's, or the node's own list. */
import type { NodeRow } from '../inventory/nodes/nodes';
import { invalidInput } from '../model/errors';
import { planDeploySteps } from '../model/lifecycle/plan-deploy';
import { automaticPlan } from '../model/lifecycle/plans';
import type { Equipment, PlannedStep, StepVerb } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import { type NodeFacts, resolveSteps } from '../model/resources/runbook-parameters';
import type { Runbook } from '../model/resources/runbooks';
import type { Checks } from './checks';
import { planWithChildren } from './children';
import type { AdmissionContext } from './context';
import { cleaningRunbook, hashedPassword } from './deploy';
import type { ProvisionAsked, WantedVerb } from './request';
import { checkRawSteps, planStored, refuseDisallowed, type WireStep } from './steps';
import { templateSteps } from './templates';

type Planning = {
  readonly ctx: AdmissionContext;
  readonly want: WantedVerb;
  readonly request: ProvisionAsked;
  readonly node: NodeRow & Equipment;
  readonly checks: Checks;
};

/** The node with the steps that its ramdisk reported, which differ by hardware. */
export const equipped = async (ctx: AdmissionContext, node: NodeRow): Promise<NodeRow & Equipment> => {
  const reported_steps = await ctx.inventory.details.reported(node.uuid);
  return reported_steps.length > 0 ? { ...node, reported_steps } : node;
};

const rawSteps = async ({
  ctx,
  want: { verb, row },
  request: { who, version, body },
  node,
  checks,
}: Planning): Promise<PlannedStep[]> => {
  const key = row.stepsKey!;
  const steps: readonly WireStep[] | undefined = body[key];
  if (steps === undefined) return invalidInput(key, `is missing; ${verb} needs ${key} or a runbook`);
  // The firmware matches the baseline; driftOf refused this before.
  if (steps.length === 0 && body.temper?.baseline) return [];
  if (steps.length === 0) return invalidInput(key, 'must hold at least one step');
  checks.try(() => checkRawSteps(steps));
  checks.try(() => refuseDisallowed(ctx, steps));
  return planWithChildren(ctx, { who, version, checks }, node, steps, row.kind as StepVerb);
};

/** Template steps and the caller's own steps. */
const deploySteps = async ({ ctx, want: { row }, request, node, checks }: Planning): Promise<PlannedStep[]> => {
  const own: readonly WireStep[] = (row.stepsKey && request.body[row.stepsKey]) || [];
  checks.try(() => checkRawSteps(own));
  checks.try(() => refuseDisallowed(ctx, own));
  const asking = { who: request.who, checks };
  return [...(await templateSteps(ctx, asking, node, own.map(nameOf))), ...planDeploySteps(own, node)];
};

/** Planned steps and further parts of the plan. */
export type PlanListed = {
  readonly steps: readonly PlannedStep[];
  readonly runbook?: Runbook | null;
  /** Runbook parameters as shown; null without any. */
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  /** The node's own list, which its ramdisk reports in part. */
  readonly automatic?: true;
  /** Arguments for steps that the plan adds. */
  readonly args?: Readonly<Record<string, string>>;
};

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Facts for choices in a runbook. */
export const factsOf = ({ properties, resource_class, traits }: NodeRow): NodeFacts => ({
  vendor: text(properties.vendor),
  model: text(properties.model),
  resource_class,
  traits,
});

const noParameters = {};

/** A runbook's resolved steps. Throws ParameterInvalid and planning errors. */
const byRunbook = ({ request, node, checks }: Planning, runbook: Runbook, verb: StepVerb): PlanListed => {
  const given = request.body.temper?.parameters ?? noParameters;
  const { steps, parameters } = resolveSteps(runbook, given, factsOf(node), checks.try);
  return { steps: planStored(steps, verb, node, checks), runbook, parameters };
};

/** The node's setting for automated cleaning, else the installation's. */
const cleansItself = (ctx: AdmissionContext, node: NodeRow): boolean =>
  node.automated_clean ?? ctx.settings.automatedClean;

const automatic = async (planning: Planning): Promise<PlanListed> => {
  const { ctx, node } = planning;
  if (!cleansItself(ctx, node)) return { steps: [] };
  const runbook = await cleaningRunbook(ctx, node);
  return runbook ? byRunbook(planning, runbook, 'clean') : { steps: automaticPlan(node), automatic: true };
};

const listedSteps = async (planning: Planning, runbook: Runbook | null): Promise<PlanListed> => {
  const { ctx, want, checks } = planning;
  if (runbook) {
    checks.try(() => refuseDisallowed(ctx, runbook.steps));
    return byRunbook(planning, runbook, want.row.kind as StepVerb);
  }
  if (want.row.steps === 'automatic') return automatic(planning);
  if (want.row.kind === 'deploy') return { steps: await deploySteps(planning) };
  return { steps: want.row.stepsKey ? await rawSteps(planning) : [] };
};

/** Steps from the request, its runbook, or the node's own list. Throws planning errors. */
export const requestedSteps = async (planning: Planning, given: Runbook | null): Promise<PlanListed> => {
  const { want, request } = planning;
  const steps = await listedSteps(planning, given);
  const { rescue_password } = request.body;
  // A missing password was refused before.
  if (!want.row.rescuePassword || rescue_password === undefined) return steps;
  return { ...steps, args: { rescue_password: await hashedPassword(rescue_password) } };
};
