/** Admission of provision requests: all checks between a visible node and an accepted run. */

import type { NodeRow } from '../inventory/nodes/nodes';
import { invalidInput, raise } from '../model/errors';
import { interfaceOf } from '../model/lifecycle/drivers';
import { type Event, next, type ProvisionState, states } from '../model/lifecycle/states';
import { insteadOf, isVerb, passesLock, type Verb, type VerbRow, verbRow, verbs } from '../model/lifecycle/verbs';
import { requireMinor } from '../model/resources/microversions';
import { runbooksSince } from '../model/resources/runbooks';
import { nodeTarget } from '../policy';
import type { OrderedNode, RunAudit, RunOrder } from '../runs/contract';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';
import { checkConfigdrive, deploymentFacts } from './deploy';
import { glanceRules } from './glance';
import { maintenanceHint, requireOwnRun } from './obstacles';
import { orderRun } from './order';
import type { Admission, ProvisionAsked, ProvisionBody, WantedVerb } from './request';
import { readsFirmware, requestedSteps, withBaseline } from './requested-steps';
import { askedBy, orderedNode } from './requester';
import { runRunbook, type Usable, usableRunbook, useRules } from './runbook';
import { came } from './schemas';
import { requireRawSteps, stepKeys, stepRuleNames, stepRules } from './steps';

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

// Abort became possible state by state; openstack/ironic:ironic/api/controllers/v1/node.py (provision).
const messageSince: readonly { readonly state: ProvisionState; readonly since: number }[] = [
  { state: 'inspect wait', since: 41 },
  { state: 'wait call-back', since: 110 },
];

const isMaintained = ({ maintenance }: VerbRow, node: NodeRow): boolean =>
  maintenance === 'refused' && node.maintenance;

/** The state after the verb. A held node is a conflict, unless the verb addresses its run or replaces a waiting one. */
const reachable = (
  { verb, row }: WantedVerb,
  node: NodeRow,
  ident: string,
  way: () => string,
  checks: Checks,
): ProvisionState | undefined => {
  const { provision_state: state } = node;
  const to = next(state, row.event);
  if (node.reservation !== null && !passesLock(row, state)) checks.try(() => raise('NodeLocked', { node: ident }));
  // In another state, maintenance would be the next refusal.
  const hints = () => [insteadOf(verb, state), isMaintained(row, node) ? way() : undefined].filter(Boolean);
  return checks.try(
    () => to ?? raise('InvalidState', { verb, node: ident, state, instead: hints().join(' ') || undefined }),
  );
};

/** Refuses unexpected and missing arguments. Throws InvalidInput, NotAcceptable. */
const checkArguments = (
  { verb, row }: WantedVerb,
  { body, version }: ProvisionAsked,
  node: NodeRow,
  disableRamdisk: boolean | null,
) => {
  if (disableRamdisk !== null) {
    if (row.disableRamdiskSince === undefined) invalidInput('disable_ramdisk', `is not possible with ${verb}`);
    else requireMinor(version, row.disableRamdiskSince, 'disable_ramdisk');
  }
  for (const key of stepKeys) {
    if (body[key] === undefined) continue;
    if (row.stepsKey !== key) invalidInput(key, `is not possible with ${verb}`);
    if (row.stepsSince) requireMinor(version, row.stepsSince, key);
  }
  if (body.temper?.parameters !== undefined && body.runbook === undefined)
    invalidInput('temper.parameters', 'are those of a runbook; name one');
  if (body.rescue_password !== undefined && !row.rescuePassword)
    invalidInput('rescue_password', `is not possible with ${verb}`);
  if (row.rescuePassword && !body.rescue_password?.trim())
    invalidInput('rescue_password', 'is missing; it is the login to the rescue system, and must not be blank');
  const late = messageSince.find((one) => one.state === node.provision_state);
  if (row.does === 'message' && late) requireMinor(version, late.since, `${verb} in state "${late.state}"`);
};

/** @param way hint: the caller and the command that can end the maintenance. Throws NodeInMaintenance. */
const checkMaintenance = ({ verb, row }: WantedVerb, node: NodeRow, ident: string, way: () => string): void => {
  if (isMaintained(row, node)) raise('NodeInMaintenance', { verb, node: ident, way: way() });
};

const checkOffered = ({ needs }: VerbRow, node: NodeRow): void => {
  if (!needs || !interfaceOf(node, needs).startsWith('no-')) return;
  const what = `${needs} (the node's ${needs}_interface is ${interfaceOf(node, needs)})`;
  raise('DriverUnsupported', { driver: node.driver, what });
};

/** Throws DriverUnsupported, NodeInMaintenance, NodeRetired, NodeProtected. */
const checkCondition = (want: WantedVerb, node: NodeRow, ident: string, way: () => string, checks: Checks): void => {
  const { row } = want;
  checks.try(() => checkOffered(row, node));
  checks.try(() => checkMaintenance(want, node, ident, way));
  if (row.retired === 'refused' && node.retired) checks.try(() => raise('NodeRetired', { node: ident }));
  if (row.protected === 'refused' && node.protected) checks.try(() => raise('NodeProtected', { node: ident }));
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
  const { resumed } = request;
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
    more: {
      ...(row.kind === 'deploy' && deploymentFacts(ctx, request, node, row)),
      ...(resumed && { resumes: { run: resumed.run, from: resumed.from } }),
    },
  };
  return { does: 'run', order: await orderRun(ctx, wanted, checks) };
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
  const { configdrive } = body;
  const way = () => maintenanceHint(policy, who, node);
  checks.rule(policy, want.rule, who, nodeTarget(node));
  checks.try(() => checkVersions(want, request));
  requireRawSteps(policy, request, node, checks);
  if (want.row.kind === 'deploy') checks.try(() => checkMaintenance(want, node, ident, way));
  const to = reachable(want, node, ident, way, checks);
  checks.try(() => requireOwnRun(ctx, want.rule, who, node, ident));
  if (configdrive) checks.try(() => checkConfigdrive(ctx, configdrive, want, version));
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
