/** Acts on a live run: abort, pause, resume, and decisions about a parked step. */

import { z } from 'zod';
import { requireStepOrigins } from '../../../admission/images';
import { equipped } from '../../../admission/requested-steps';
import { askedBy } from '../../../admission/requester';
import { document } from '../../../admission/schemas';
import { checkRawSteps, refuseDisallowed, requireStepRules, stepRuleNames, stepRules } from '../../../admission/steps';
import { visibleNode } from '../../../admission/visibility';
import type { RunRow } from '../../../inventory/runs/runs';
import { raise } from '../../../model/errors';
import { planSteps } from '../../../model/lifecycle/plan-steps';
import type { StepInterface, StepVerb } from '../../../model/lifecycle/step-types';
import { isVerb, verbRow } from '../../../model/lifecycle/verbs';
import { maxMinor } from '../../../model/resources/microversions';
import { type RunAct, runActs, willOf } from '../../../model/runs/run-acts';
import { nodeTarget, stepTarget } from '../../../policy';
import type { Delivered } from '../../../runs/contract';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { type ApiRequest, type Route, route } from '../../server/route';
import { targetOfRun, visibleRun } from './runs';

const runActBody = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; it stands in the audit trail' }).max(1_000),
  /** The step that the caller saw; default: the present one. */
  step: z.int().min(0).optional(),
  /** With retry: the step's new arguments. */
  args: document.optional(),
});
type ActRequest = ApiRequest<{ run: string }, unknown, z.output<typeof runActBody>>;

const rulesOfArgs = Object.values(stepRules);

/** Texts for acts that the run did not take at once. */
const deliveryNotices: Readonly<Partial<Record<Delivered, string>>> = {
  kept: 'The workflow engine does not answer now; this is on record and takes effect as soon as it does.',
  restarted: 'The workflow engine had lost this run. It goes on from its record, and this takes effect there.',
  ended: 'The run had ended in the workflow engine already; its node is free.',
};

/**
 * New arguments make a parked step the caller's own, so the rules of free steps apply. Throws InvalidInput, InvalidStepArgs, OriginRefused,
 * PolicyDenied.
 */
const checkedArgs = async (
  { who, body: { args, step: at } }: ActRequest,
  ctx: ApiContext,
  act: RunAct,
  run: RunRow,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  if (args === undefined) return undefined;
  if (act !== 'retry')
    return raise('InvalidInput', { field: 'args', reason: `is only possible with retry, not with ${act}` });
  const step = (await ctx.inventory.runSteps.ofRun(run.id)).find(({ index }) => index === (at ?? run.cursor));
  const row = isVerb(run.verb) ? verbRow(run.verb) : undefined;
  if (!step || step.system || !row?.stepsKey)
    return raise('InvalidInput', {
      field: 'args',
      reason: 'the step is not one whose arguments a caller gives',
    });
  const node = await visibleNode(ctx, { who, version: maxMinor }, run.node_uuid);
  ctx.policy().require(stepRules[row.stepsKey], who, nodeTarget(node));
  const given = { interface: step.interface as StepInterface, step: step.step, args };
  requireStepRules(ctx.policy(), who, stepTarget(node), [given]);
  refuseDisallowed(ctx, [given]);
  checkRawSteps([given]);
  requireStepOrigins(ctx, planSteps([given], row.kind as StepVerb, await equipped(ctx, node)));
  return args;
};

/** Only the effect of an abort depends on the step. */
const stepToAbort = async (ctx: ApiContext, act: RunAct, run: RunRow) =>
  act === 'abort' ? (await ctx.inventory.runSteps.ofRun(run.id)).find(({ index }) => index === run.cursor) : undefined;

const actOnRun = (act: RunAct) => async (request: ActRequest, ctx: ApiContext) => {
  const { who, params, body: given } = request;
  const { run, node } = await visibleRun(ctx, who, params.run);
  const rule = `temper:run:${act}`;
  ctx.policy().require(rule, who, targetOfRun(run, node));
  if (run.finished_at) raise('Conflict', { reason: `Run ${run.id} has ended: ${run.state}.` });
  const args = await checkedArgs(request, ctx, act, run);
  const will = willOf(act, run, await stepToAbort(ctx, act, run));
  const delivered = await ctx.runs.operate({
    run: run.id,
    act,
    cursor: given.step ?? run.cursor,
    reason: given.reason,
    ...(args && { args }),
    asked: askedBy(ctx.policy(), request, rule),
  });
  return { status: 202, body: { will: deliveryNotices[delivered] ?? will } };
};

export const runActRoutes: Route[] = runActs.map((act) =>
  route({
    method: 'POST',
    path: `/temper/v1/runs/:run/${act}`,
    answers: { 202: shapes.will },
    rules: [
      'temper:run:get',
      `temper:run:${act}`,
      ...(act === 'retry' ? ['baremetal:node:get', ...rulesOfArgs, ...stepRuleNames] : []),
    ],
    body: runActBody,
    // An abort is stored with its record. Other acts are sent after the record, under the request's id.
    ...(act !== 'abort' && { cutOff: 'again' as const }),
    handler: actOnRun(act),
  }),
);
