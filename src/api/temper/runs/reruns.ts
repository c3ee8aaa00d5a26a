/** Reruns: a new run continues the steps of a failed run, under the present rules. */

import { z } from 'zod';
import { maintenanceHint } from '../../../admission/obstacles';
import { planRun } from '../../../admission/order';
import { askedBy } from '../../../admission/requester';
import { runRunbook, usableRunbook, useRules } from '../../../admission/runbook';
import { planStored, refuseDisallowed, requireStepRules, stepRuleNames, stepRules } from '../../../admission/steps';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { RunRow } from '../../../inventory/runs/runs';
import { secretRefs } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import { next, type ProvisionState } from '../../../model/lifecycle/states';
import type { GivenStep, PlannedStep, StepVerb } from '../../../model/lifecycle/step-types';
import { insteadOf, isVerb, type VerbRow, verbRow } from '../../../model/lifecycle/verbs';
import { maxMinor } from '../../../model/resources/microversions';
import type { RunInput } from '../../../model/runs/runs';
import { nodeTarget, stepTarget } from '../../../policy';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { type ApiRequest, type Route, route } from '../../server/route';
import { targetOfRun, visibleRun } from './runs';

const runRerunRule = 'temper:run:rerun';

const runRerunBody = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; it stands in the audit trail' }).max(1_000),
  /** Default: the step in which the run stopped. */
  from: z.int().min(0).optional(),
});
type RerunRequest = ApiRequest<{ run: string }, unknown, z.output<typeof runRerunBody>>;

/** Throws Conflict if the verb has no list of steps. */
const listedVerb = (run: RunRow): { verb: 'clean' | 'service'; row: VerbRow } => {
  if (!run.finished_at || run.state === 'succeeded')
    return raise('Conflict', {
      reason: `Run ${run.id} is ${run.state}; only a run that failed or was aborted is taken up.`,
    });
  const row = isVerb(run.verb) ? verbRow(run.verb) : undefined;
  if (!row?.runbook)
    return raise('Conflict', {
      reason: `Run ${run.id} is ${run.verb}, which has no list of steps; ask for ${run.verb} again.`,
    });
  return { verb: run.verb as 'clean' | 'service', row };
};

type Left = Pick<PlannedStep, 'index' | 'step' | 'args'> & { readonly interface: string };

/** Only a new request checks who may run steps on other nodes. Throws Conflict. */
const refuseElsewhere = ({ id }: RunRow, input: RunInput | undefined, from: number): void => {
  if (input?.steps.some((step) => step.on && step.index >= from))
    raise('Conflict', { reason: `Run ${id} has steps on child nodes; ask for them again.` });
};

/** Secrets are deleted a week after their run. Throws Conflict. */
const requireSecrets = async (ctx: ApiContext, run: RunRow, steps: readonly GivenStep[]): Promise<void> => {
  const wanted = new Set(secretRefs(steps.map(({ args }) => args)));
  if ((await ctx.inventory.secrets.count([...wanted])) < wanted.size)
    raise('Conflict', {
      reason: `Secrets in the arguments of run ${run.id} are no longer kept; give the steps again.`,
    });
};

/**
 * The caller's steps from `from` on. Runbook steps come as accepted: a retry may have had arguments that are not approved for the runbook's
 * users. Free steps come with their last arguments.
 */
const stepsLeft = async (ctx: ApiContext, run: RunRow, from: number): Promise<GivenStep[]> => {
  const [rows, input] = await Promise.all([ctx.inventory.runSteps.ofRun(run.id), ctx.inventory.runs.input(run.id)]);
  refuseElsewhere(run, input, from);
  const all: readonly (Left & { readonly system?: boolean })[] =
    run.runbook_uuid === null ? rows : (input?.steps ?? []);
  const left = all.filter((step) => !step.system && step.index >= from);
  if (left.length === 0)
    raise('InvalidInput', { field: 'from', reason: `the run has no step from ${from} on; it has ${rows.length}` });
  const steps = left.map((step) => ({
    interface: step.interface as GivenStep['interface'],
    step: step.step,
    args: step.args,
    ...stepSettings(input, step.index),
  }));
  await requireSecrets(ctx, run, steps);
  return steps;
};

const stepSettings = (input: RunInput | undefined, index: number): Pick<GivenStep, 'temper'> => {
  const step: PlannedStep | undefined = input?.steps.find((planned) => planned.index === index);
  if (!step) return {};
  return {
    temper: {
      ...(step.timeoutMs && { timeout: Math.ceil(step.timeoutMs / 1_000) }),
      ...(step.attempts && { retry: { attempts: step.attempts } }),
      ...(step.on_failure && { on_failure: step.on_failure }),
    },
  };
};

/** Throws PolicyDenied, Conflict if the runbook has changed since the run. */
const requireRerunAllowed = async (
  ctx: ApiContext,
  request: RerunRequest,
  run: RunRow,
  node: NodeRow,
  row: VerbRow,
  steps: readonly GivenStep[],
) => {
  const policy = ctx.policy();
  const target = nodeTarget(node);
  if (run.runbook_uuid === null) {
    policy.require('baremetal:node:set_provision_state', request.who, target);
    policy.require(stepRules[row.stepsKey!], request.who, target);
    requireStepRules(policy, request.who, stepTarget(node), steps);
    return { rule: 'baremetal:node:set_provision_state', runbook: null, crossing: undefined };
  }
  policy.require(runRunbook, request.who, target);
  const asked = { who: request.who, version: maxMinor, reason: request.body.reason };
  const { runbook, crossing } = await usableRunbook(ctx, { ...asked, node, runbook: run.runbook_uuid });
  if (runbook.updated_at && runbook.updated_at > run.created_at)
    raise('Conflict', { reason: `Runbook ${runbook.name} was changed after the run; run it as it is now.` });
  return { rule: runRunbook, runbook, crossing };
};

/** The state that the run leads to. Throws InvalidState, NodeInMaintenance, both with a remedy. */
const requirePossible = (
  ctx: ApiContext,
  { who }: RerunRequest,
  { verb, row }: { readonly verb: string; readonly row: VerbRow },
  node: NodeRow,
): ProvisionState => {
  const [ident, state] = [node.name ?? node.uuid, node.provision_state];
  const way = node.maintenance ? maintenanceHint(ctx.policy(), who, node) : undefined;
  const instead = [insteadOf(verb, state), way].filter(Boolean).join(' ') || undefined;
  const to = next(state, row.event) ?? raise('InvalidState', { verb, node: ident, state, instead });
  if (row.maintenance === 'refused' && node.maintenance) raise('NodeInMaintenance', { verb, node: ident, way });
  return to;
};

const rerun = async (request: RerunRequest, ctx: ApiContext) => {
  const { run, node: standing } = await visibleRun(ctx, request.who, request.params.run);
  ctx.policy().require(runRerunRule, request.who, targetOfRun(run, standing));
  const { verb, row } = listedVerb(run);
  const node = await visibleNode(ctx, { who: request.who, version: maxMinor }, run.node_uuid);
  const ident = node.name ?? node.uuid;
  const from = request.body.from ?? run.cursor;
  const steps = await stepsLeft(ctx, run, from);
  const { rule: asked, runbook, crossing } = await requireRerunAllowed(ctx, request, run, node, row, steps);
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
  const to = requirePossible(ctx, request, { verb, row }, node);
  refuseDisallowed(ctx, steps);
  const order = await planRun(ctx, {
    who: request.who,
    verb,
    row,
    node,
    ident,
    to,
    asked: askedBy(ctx.policy(), request, asked, crossing),
    steps: async (ready) => ({
      steps: planStored(steps, verb as StepVerb, ready),
      runbook,
      parameters: run.parameters,
    }),
    more: { resumes: { run: run.id, from } },
  });
  const started = await ctx.runs.start(order);
  return { status: 202, body: { run: started.run, resumes: run.id, from } };
};

export const runRerunRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/temper/v1/runs/:run/rerun',
    answers: { 202: shapes.rerun },
    rules: [
      'temper:run:get',
      runRerunRule,
      'baremetal:node:get',
      'baremetal:node:set_provision_state',
      ...Object.values(stepRules),
      ...stepRuleNames,
      runRunbook,
      ...useRules,
    ],
    body: runRerunBody,
    handler: rerun,
  }),
];
