/** Steps of a provision request: its own, a runbook's, an earlier run's, the node's own list, or those of a firmware baseline. */
import type { NodeRow } from '../inventory/nodes/nodes';
import { invalidInput } from '../model/errors';
import { planDeploySteps } from '../model/lifecycle/plan-deploy';
import { automaticPlan } from '../model/lifecycle/plans';
import type { Equipment, PlannedStep, StepVerb } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import { type FirmwareDrift, firmwareDrift } from '../model/resources/firmware-baselines';
import { type NodeFacts, resolveSteps } from '../model/resources/runbook-parameters';
import type { Runbook } from '../model/resources/runbooks';
import { nodeTarget } from '../policy';
import type { Checks } from './checks';
import { planWithChildren } from './children';
import type { AdmissionContext } from './context';
import { cleaningRunbook, hashedPassword } from './deploy';
import type { Admission, ProvisionAsked, Resumed, WantedVerb } from './request';
import { checkRawSteps, planStored, refuseDisallowed, stepKeys, type WireStep } from './steps';
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

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Facts for choices in a runbook. */
export const factsOf = ({ properties, resource_class, traits }: NodeRow): NodeFacts => ({
  vendor: textOrNull(properties.vendor),
  model: textOrNull(properties.model),
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

/** Stored arguments may refer to secrets, so the checks of raw steps do not apply. */
const ofEarlierRun = ({ ctx, want, node, checks }: Planning, { steps, parameters }: Resumed): PlanListed => {
  checks.try(() => refuseDisallowed(ctx, steps));
  return { steps: planStored(steps, want.row.kind as StepVerb, node, checks), parameters };
};

const listedSteps = async (planning: Planning, runbook: Runbook | null): Promise<PlanListed> => {
  const { ctx, want, request, checks } = planning;
  if (request.resumed) return { ...ofEarlierRun(planning, request.resumed), runbook };
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

/** The rule comes before the comparison of versions, because a difference reveals them. */
export const readsFirmware = 'baremetal:node:firmware:get';

const updateOf = (drift: readonly FirmwareDrift[]) => ({
  interface: 'firmware' as const,
  step: 'update',
  args: { settings: drift.map(({ component, url }) => ({ component, url })) },
});

/**
 * The firmware that differs from the request's baseline; undefined without a baseline or after a collected refusal.
 * Throws PolicyDenied, FirmwareCurrent, InvalidInput.
 */
export const driftOf = async ({
  ctx,
  request: { who, body },
  node,
  ident,
  checks,
}: Admission): Promise<FirmwareDrift[] | undefined> => {
  const baseline = body.temper?.baseline;
  if (!baseline) return undefined;
  checks.rule(ctx.policy(), readsFirmware, who, nodeTarget(node));
  if (!ctx.policy().allows(readsFirmware, who, nodeTarget(node))) return undefined;
  const seen = await ctx.inventory.details.firmware(node.uuid);
  return checks.try(() => firmwareDrift(baseline, factsOf(node), seen, ident));
};

/** The request with the steps of its baseline, which follow the rules of the caller's own steps. Throws InvalidInput. */
export const withBaseline = async (admission: Admission, { row, verb }: WantedVerb): Promise<ProvisionAsked> => {
  const { request } = admission;
  const { body } = request;
  if (!body.temper?.baseline) return request;
  if (!row.runbook || !row.stepsKey)
    return invalidInput('temper.baseline', `is not possible with ${verb}, only with clean and service`);
  if (body.runbook !== undefined || stepKeys.some((key) => body[key] !== undefined))
    return invalidInput('temper.baseline', 'comes without a runbook and without steps');
  const drift = (await driftOf(admission)) ?? [];
  return { ...request, body: { ...body, [row.stepsKey]: drift.length > 0 ? [updateOf(drift)] : [] } };
};
