/** PUT /v1/nodes/{ident}/states/provision: every verb goes through here, by the rows of model/lifecycle/verbs. */
import type { z } from 'zod';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { fetchedByInstance } from '../../../model/access/origins';
import { invalidInput, raise } from '../../../model/errors';
import { type ProvisionState, states } from '../../../model/lifecycle/states';
import { isVerb, type Verb, verbRow, verbs } from '../../../model/lifecycle/verbs';
import { runbooksSince } from '../../../model/resources/runbooks';
import { nodeTarget, type Policy, stepTarget } from '../../../policy';
import type { ApiContext } from '../../context';
import { type Answer, accepted, type Route } from '../../http/route';
import { requireMinor } from '../../http/versions';
import { checkConfigdrive, deploymentFacts } from '../../orders/deploy';
import { requireOwnRun } from '../../orders/leases';
import { wayOutOfMaintenance } from '../../orders/maintenance-remedy';
import { askedBy, orderedNode } from '../../orders/orders';
import { requireKnown } from '../../orders/origins';
import { planRun } from '../../orders/plan-run';
import { requestedSteps } from '../../orders/plans';
import { type ProvisionRequest, provisionBody, type WantedVerb } from '../../orders/request';
import { reasonHeader, runRunbook, type Usable, usableRunbook, useRules } from '../../orders/runbook';
import { requireStepRules, stepRuleNames, stepRules } from '../../orders/steps';
import { checkArguments, checkCondition, checkMaintenance, reachable, stepKeys } from '../../orders/verbs';
import { came } from '../../resource/validation';
import { visibleNode } from '../../resource/visibility';
import { nodeRoute } from './node-route';

type ProvisionBody = z.output<typeof provisionBody>;

const provision = 'baremetal:node:set_provision_state';
const wanted = (body: ProvisionBody): WantedVerb => {
  if (!isVerb(body.target))
    return invalidInput('target', `must be one of ${Object.keys(verbs).join(', ')}; ${came(body.target)} came`);
  const row = verbRow(body.target);
  if (body.runbook === undefined) return { verb: body.target, row, rule: provision };
  if (!row.runbook)
    return invalidInput('runbook', `is only possible with ${withSteps.join(' or ')}, not with ${body.target}`);
  const given = stepKeys.filter((key) => body[key] !== undefined);
  if (given.length > 0) return invalidInput('runbook', `give either ${given.join(', ')} or a runbook, but not both`);
  return { verb: body.target, row, rule: runRunbook };
};

const withSteps = Object.keys(verbs).filter((verb) => verbRow(verb as Verb).runbook);

const checkVersions = ({ verb, row }: WantedVerb, { body, version }: ProvisionRequest): void => {
  requireMinor(version, row.since, `target ${verb}`);
  if (body.runbook !== undefined) requireMinor(version, runbooksSince, 'runbook');
};

/** Raw steps: the switch for free-form lists, then the rules that an operator defined for single steps. */
const requireSteps = (policy: Policy, { who, body }: ProvisionRequest, node: NodeRow): void => {
  const target = nodeTarget(node);
  for (const key of stepKeys) {
    const steps = body[key];
    if (steps === undefined) continue;
    // An empty list of a deployment's steps chooses nothing.
    if (steps.length > 0 || key !== 'deploy_steps') policy.require(stepRules[key], who, target);
    requireStepRules(policy, who, stepTarget(node), steps);
  }
};

const act = async (
  ctx: ApiContext,
  want: WantedVerb,
  {
    request,
    node,
    to,
    given,
    disable,
  }: { request: ProvisionRequest; node: NodeRow; to: ProvisionState; given: Usable | null; disable: boolean },
): Promise<void> => {
  const { verb, row, rule } = want;
  const asked = askedBy(ctx.policy(), request, rule, given?.crossing);
  const resting = states[to].kind === 'stable';
  if (resting && row.does === 'message' && node.maintenance)
    raise('Conflict', { reason: `Node ${request.params.node_ident} is in maintenance; clear that before ${verb}.` });
  const seen = orderedNode(node);
  if (resting) return ctx.runs.move({ node: seen, event: row.event, asked });
  if (row.does === 'message') return ctx.runs.send({ node: seen, kind: verb as 'abort' | 'unhold', asked });
  await ctx.runs.start(
    await planRun(ctx, {
      verb,
      row,
      node,
      ident: request.params.node_ident,
      to,
      asked,
      steps: (ready) => requestedSteps({ ctx, want, request, node: ready }, given?.runbook ?? null),
      disableRamdisk: disable,
      more: row.story === 'deploy' ? deploymentFacts(ctx, request, node, row) : {},
    }),
  );
};

/** The request with the reason that its header gives. */
const reasoned = ({ who, version, header }: ProvisionRequest) => ({
  who,
  version,
  reason: header(reasonHeader.toLowerCase()),
});

const setProvisionState = async (request: ProvisionRequest, ctx: ApiContext): Promise<Answer> => {
  const ident = request.params.node_ident;
  const policy = ctx.policy();
  const node = await visibleNode(ctx, request, ident);
  const want = wanted(request.body);
  const way = () => wayOutOfMaintenance(policy, request.who, node);
  policy.require(want.rule, request.who, nodeTarget(node));
  checkVersions(want, request);
  requireSteps(policy, request, node);
  if (want.row.story === 'deploy') checkMaintenance(want, node, ident, way);
  const to = reachable(want, node, ident);
  requireOwnRun(ctx, want.rule, request.who, node, ident);
  if (request.body.configdrive) {
    checkConfigdrive(request.body.configdrive, want.verb, want.row, request.version);
    for (const fetched of fetchedByInstance({ configdrive: request.body.configdrive })) requireKnown(ctx, fetched);
  }
  const named = request.body.runbook;
  const use = named === undefined ? null : await usableRunbook(ctx, reasoned(request), node, named);
  const runbook = use?.runbook ?? null;
  // A runbook's own value replaces the request's; false asks for nothing that an older version does not know.
  const disable = runbook ? runbook.disable_ramdisk || null : (request.body.disable_ramdisk ?? null);
  checkArguments(want, request, node, disable);
  checkCondition(want, node, ident, way);
  await act(ctx, want, { request, node, to, given: use, disable: disable === true });
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

export const nodeProvisionRoutes: Route[] = [
  nodeRoute<unknown, ProvisionBody>('PUT', '/states/provision', {
    answers: { 202: null },
    rules: [provision, runRunbook, ...useRules, ...stepRuleNames, ...Object.values(stepRules)],
    body: provisionBody,
    arguments: true,
    handler: setProvisionState,
  }),
];
