/** Admission of provision requests: all checks between a visible node and an accepted run. */

import type { NodeRow } from '../inventory/nodes/nodes';
import { fetchedByInstance } from '../model/access/origins';
import { invalidInput, raise } from '../model/errors';
import { type Event, type ProvisionState, states } from '../model/lifecycle/states';
import { isVerb, type Verb, verbRow, verbs } from '../model/lifecycle/verbs';
import { requireMinor } from '../model/resources/microversions';
import { runbooksSince } from '../model/resources/runbooks';
import { nodeTarget, type Policy, stepTarget } from '../policy';
import type { OrderedNode, RunAudit, RunOrder } from '../runs/contract';
import { readsFirmware, withBaseline } from './baselines';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';
import { checkConfigdrive, deploymentFacts } from './deploy';
import { glanceRules } from './glance';
import { maintenanceHint, requireOwnRun } from './obstacles';
import { orderRun } from './order';
import { requireKnown } from './origins';
import type { Admission, ProvisionAsked, ProvisionBody, WantedVerb } from './request';
import { requestedSteps } from './requested-steps';
import { askedBy, orderedNode } from './requester';
import { runRunbook, type Usable, usableRunbook, useRules } from './runbook';
import { came } from './schemas';
import { requireStepRules, stepRuleNames, stepRules } from './steps';
import { checkArguments, checkCondition, checkMaintenance, reachable, stepKeys } from './verbs';

const provision = 'baremetal:node:set_provision_state';

/** The rules that an admission may evaluate. */
export const provisionRules: readonly string[] = [
  provision,
  runRunbook,
  readsFirmware,
  ...useRules,
  ...stepRuleNames,
  ...Object.values(stepRules),
  ...glanceRules,
];

const withSteps = Object.keys(verbs).filter((verb) => verbRow(verb as Verb).runbook);

/** The verb of a request and its rule. Throws InvalidInput. */
const wantedVerb = (body: ProvisionBody): WantedVerb => {
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

const checkVersions = ({ verb, row }: WantedVerb, { body, version }: ProvisionAsked): void => {
  requireMinor(version, row.since, `target ${verb}`);
  if (body.runbook !== undefined) requireMinor(version, runbooksSince, 'runbook');
};

/** Raw steps need the rule for free-form lists, then the operator's rules for single steps. */
const requireSteps = (policy: Policy, { who, body }: ProvisionAsked, node: NodeRow, checks: Checks): void => {
  const target = nodeTarget(node);
  for (const key of stepKeys) {
    const steps = body[key];
    if (steps === undefined) continue;
    // An empty list of deploy steps is no choice.
    if (steps.length > 0 || key !== 'deploy_steps') checks.rule(policy, stepRules[key], who, target);
    requireStepRules(policy, who, stepTarget(node), steps, checks);
  }
};

/** The outcome: a run, an immediate state change, or a message to the run that holds the node. */
export type Admitted =
  | { readonly does: 'run'; readonly order: RunOrder }
  | { readonly does: 'move'; readonly node: OrderedNode; readonly event: Event; readonly asked: RunAudit }
  | {
      readonly does: 'message';
      readonly node: OrderedNode;
      readonly kind: 'abort' | 'unhold';
      readonly asked: RunAudit;
    };

type Passed = { readonly to: ProvisionState | undefined; readonly given: Usable | null; readonly disable: boolean };

const toOrder = async (
  { ctx, request, node, ident, checks }: Admission,
  want: WantedVerb,
  { to, given, disable }: Passed,
): Promise<Admitted> => {
  const { verb, row, rule } = want;
  const asked = askedBy(ctx.policy(), request, rule, given?.crossing);
  const resting = to !== undefined && states[to].kind === 'stable';
  if (resting && row.does === 'message' && node.maintenance)
    checks.try(() => raise('Conflict', { reason: `Node ${ident} is in maintenance; clear that before ${verb}.` }));
  const seen = orderedNode(node);
  if (resting) return { does: 'move', node: seen, event: row.event, asked };
  if (row.does === 'message') return { does: 'message', node: seen, kind: verb as 'abort' | 'unhold', asked };
  const wanted = {
    who: request.who,
    verb,
    row,
    node,
    ident,
    to,
    asked,
    steps: (ready: Parameters<typeof requestedSteps>[0]['node']) =>
      requestedSteps({ ctx, want, request, node: ready, checks }, given?.runbook ?? null),
    disableRamdisk: disable,
    more: row.kind === 'deploy' ? deploymentFacts(ctx, request, node, row) : {},
  };
  return { does: 'run', order: await orderRun(ctx, wanted, checks) };
};

const checkDrive = (ctx: AdmissionContext, { verb, row }: WantedVerb, { body, version }: ProvisionAsked): void => {
  if (!body.configdrive) return;
  checkConfigdrive(body.configdrive, verb, row, version);
  for (const fetched of fetchedByInstance({ configdrive: body.configdrive })) requireKnown(ctx, fetched);
};

/**
 * Admits a provision request on a visible node. Throws the first refusal, in Ironic's order.
 * Collecting checks keep the refusals, and the result is what the request would do. Only reads the database.
 * @param ident the caller's name for the node
 */
export const admitProvision = async (
  ctx: AdmissionContext,
  given: ProvisionAsked,
  node: NodeRow,
  ident: string,
  checks: Checks = firstRefusal,
): Promise<Admitted> => {
  const policy = ctx.policy();
  const want = wantedVerb(given.body);
  const request = await withBaseline({ ctx, request: given, node, ident, checks }, want);
  const { who, version, body, reason } = request;
  const way = () => maintenanceHint(policy, who, node);
  checks.rule(policy, want.rule, who, nodeTarget(node));
  checks.try(() => checkVersions(want, request));
  requireSteps(policy, request, node, checks);
  if (want.row.kind === 'deploy') checks.try(() => checkMaintenance(want, node, ident, way));
  const to = reachable(want, node, ident, checks);
  checks.try(() => requireOwnRun(ctx, want.rule, who, node, ident));
  checks.try(() => checkDrive(ctx, want, request));
  const use =
    body.runbook === undefined
      ? null
      : await usableRunbook(ctx, { who, version, reason, node, runbook: body.runbook }, checks);
  // A runbook's value replaces the request's. Its false becomes null, because older versions refuse the field.
  const disable = use ? use.runbook.disable_ramdisk || null : (body.disable_ramdisk ?? null);
  checks.try(() => checkArguments(want, request, node, disable));
  checkCondition(want, node, ident, way, checks);
  return toOrder({ ctx, request, node, ident, checks }, want, { to, given: use, disable: disable === true });
};
