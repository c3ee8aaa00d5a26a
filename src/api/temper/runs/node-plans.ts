/** Dry run of a request on one node: its steps and all refusals. */

import { z } from 'zod';
import { type Admitted, provisionRules } from '../../../admission/admit';
import type { CollectedRefusal } from '../../../admission/checks';
import { prefetched } from '../../../admission/prefetched';
import { type NodePlan, type PlanStep, planProvision, planRules, runbookVerb } from '../../../admission/preview';
import { provisionBody } from '../../../admission/request';
import { reasonHeader } from '../../../admission/runbook';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { Caller } from '../../../model/access/callers';
import { maskSecrets } from '../../../model/access/secrets';
import { invalidInput } from '../../../model/errors';
import { actRow } from '../../../model/lifecycle/steps';
import { maxMinor } from '../../../model/resources/microversions';
import type { Refusal } from '../../../model/runs/verdicts';
import { explainAnswer, nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/runs';
import type { ApiContext } from '../../context';
import { type ApiRequest, ok, type Route, route } from '../../server/route';
import { explanationFor } from '../policy/explanations';

const seesSteps = 'temper:node:steps';
const explains = 'temper:policy:explain';

/** Unlike a provision request, a runbook needs no target. */
const planBody = provisionBody.extend({ target: z.string().optional() });
type PlanBody = z.output<typeof planBody>;
type PlanRequest = ApiRequest<{ node: string }, unknown, PlanBody>;

/** Only for callers who may explain rules. */
const explained = (ctx: ApiContext, who: Caller, { rule, target }: CollectedRefusal) => {
  const policy = ctx.policy();
  if (rule === undefined || !target || !policy.allows(explains, who, target)) return {};
  return { explain: explanationFor(who, explainAnswer(policy, rule, who, target), target) };
};

const refusalView = ({ code, error, status, rule, reason }: Refusal) => ({
  code,
  error,
  status,
  rule: rule ?? null,
  reason,
});

const stepView = ({ step, outlook, duration }: PlanStep, open: boolean) => ({
  index: step.index,
  interface: step.interface,
  step: step.step,
  args: open ? maskSecrets(step.args) : null,
  system: step.system ?? false,
  node_uuid: step.on?.node_uuid ?? null,
  acts: step.acts.map(({ act, effect }) => ({ act, effect, description: actRow(act).says })),
  abortable: step.abortable,
  may_park: step.parks,
  ...outlook,
  expected_ms: duration?.expected_ms ?? null,
  p95_ms: duration?.p95_ms ?? null,
});

const runOf = (admitted: Admitted) => {
  if (admitted.does !== 'run') return { runbook: null, parameters: null, target_provision_state: null };
  const { runbook, parameters = null, target } = admitted.order;
  return {
    runbook: runbook && { uuid: runbook.uuid, name: runbook.name, revision: runbook.read_revision ?? null },
    parameters,
    target_provision_state: target,
  };
};

/**
 * Arguments of the request, of a visible runbook, or of a run that the caller may start. Those of cleaning runbooks and deploy templates
 * are otherwise the operator's.
 */
const mayRead = ({ runbook }: PlanBody, { refusals }: NodePlan): boolean =>
  runbook !== undefined || !refusals.some(({ code }) => code === 'rule');

type WantedPlan = PlanBody & { readonly target: string };

const planView = (ctx: ApiContext, who: Caller, body: WantedPlan, node: NodeRow, plan: NodePlan) => ({
  node_uuid: node.uuid,
  node_name: node.name,
  verb: body.target,
  does: plan.admitted.does,
  provision_state: node.provision_state,
  ...runOf(plan.admitted),
  would_run: plan.refusals.length === 0,
  refusals: plan.refusals.map((refusal) => ({ ...refusalView(refusal), ...explained(ctx, who, refusal) })),
  firmware: plan.firmware && maskSecrets(plan.firmware),
  concerns: plan.concerns.map(refusalView),
  steps: plan.steps.map((step) => stepView(step, mayRead(body, plan))),
  ...plan.outlook,
  expected_ms: plan.duration?.expected_ms ?? null,
  p95_ms: plan.duration?.p95_ms ?? null,
});

const planNode = async (request: PlanRequest, ctx: ApiContext) => {
  const { who, body, requestId, origin } = request;
  const ident = request.params.node;
  const node = await visibleNode(ctx, { who, version: maxMinor }, ident);
  ctx.policy().require(seesSteps, who, nodeTarget(node));
  if (body.target === undefined && body.runbook === undefined)
    invalidInput('target', 'is missing; give a verb, or a runbook');
  const target = body.target ?? runbookVerb(node);
  const reason = request.header(reasonHeader.toLowerCase());
  const wanted = { ...body, target };
  const asked = { who, requestId, origin, version: maxMinor, body: wanted, reason };
  return ok(planView(ctx, who, wanted, node, await planProvision(await prefetched(ctx, [node]), asked, node, ident)));
};

export const nodePlanRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/temper/v1/nodes/:node/plan',
    answers: { 200: shapes.nodePlan },
    rules: ['baremetal:node:get', seesSteps, ...provisionRules, ...planRules, explains],
    changesNothing: true,
    body: planBody,
    handler: planNode,
  }),
];
