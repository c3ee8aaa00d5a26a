/** PUT /v1/nodes/{ident}/states/provision: every verb goes through here, by the rows of model/verbs. */
import { z } from 'zod';
import type { NodeRow } from '../../inventory/nodes';
import { raise } from '../../model/errors';
import { type Runbook, runbooksSince } from '../../model/runbooks';
import { next, type ProvisionState, states } from '../../model/states';
import { automaticSteps, type PlannedStep, planSteps } from '../../model/steps';
import { isVerb, type Verb, type VerbRow, verbRow, verbs } from '../../model/verbs';
import { nodeTarget, type Policy } from '../../policy';
import type { Rooms } from '../rooms';
import { type Answer, type Asking, accepted, type Route, route } from '../route';
import { requestStep } from '../step-schema';
import { came, flag } from '../validation';
import { requireMinor } from '../versions';
import { visibleNode } from '../visibility';
import { askedBy, checkWorkable, orderedNode } from './node-orders';
import { runRunbook, usableRunbook } from './node-runbook';
import { checkRawSteps, planStored, refuseDisallowed, requireStepRules, type WireStep } from './node-steps';
import { type NodeParams, nodeParams } from './nodes';

const configdrive = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();

const body = z.strictObject({
  target: z.string(),
  configdrive,
  clean_steps: z.array(requestStep).optional(),
  service_steps: z.array(requestStep).optional(),
  deploy_steps: z.array(z.record(z.string(), z.unknown())).optional(),
  runbook: z.string().min(1).optional(),
  disable_ramdisk: flag.nullish(),
  rescue_password: z.string().optional(),
});
type Body = z.output<typeof body>;
type Ask = Asking<NodeParams, unknown, Body>;

const provision = 'baremetal:node:set_provision_state';
const stepKeys = ['clean_steps', 'service_steps', 'deploy_steps'] as const;
const invalid = (field: string, reason: string): never => raise('InvalidInput', { field, reason });

/** A request, resolved: the verb, its row, and the rule that decides about it. */
type Wanted = { readonly verb: Verb; readonly row: VerbRow; readonly rule: string };

const wanted = (body: Body): Wanted => {
  if (!isVerb(body.target))
    return invalid('target', `must be one of ${Object.keys(verbs).join(', ')}; ${came(body.target)} came`);
  const row = verbRow(body.target);
  if (body.runbook === undefined) return { verb: body.target, row, rule: provision };
  if (!row.stepsKey)
    return invalid('runbook', `is only possible with ${withSteps.join(' or ')}, not with ${body.target}`);
  const given = stepKeys.filter((key) => body[key] !== undefined);
  if (given.length > 0) return invalid('runbook', `give either ${given.join(', ')} or a runbook, but not both`);
  return { verb: body.target, row, rule: runRunbook };
};

const withSteps = Object.keys(verbs).filter((verb) => verbRow(verb as Verb).stepsKey);

// Abort became possible state by state; openstack/ironic:ironic/api/controllers/v1/node.py (provision).
const messageSince: readonly { readonly state: ProvisionState; readonly since: number }[] = [
  { state: 'inspect wait', since: 41 },
  { state: 'wait call-back', since: 110 },
];

const checkVersions = ({ verb, row }: Wanted, { body, version }: Ask): void => {
  requireMinor(version, row.since, `target ${verb}`);
  if (body.runbook !== undefined) requireMinor(version, runbooksSince, 'runbook');
};

/** Raw steps: the switch for free-form lists, then the rules that an operator defined for single steps. */
const requireSteps = (policy: Policy, { who, body }: Ask, node: NodeRow): void => {
  const target = nodeTarget(node);
  for (const verb of withSteps) {
    const { stepsKey, stepsRule } = verbRow(verb as Verb);
    const steps = body[stepsKey!];
    if (steps === undefined) continue;
    policy.require(stepsRule!, who, target);
    requireStepRules(policy, who, target, steps);
  }
};

/** The state that the verb leads to. A held node is a conflict unless the verb is for its run. */
const reachable = ({ verb, row }: Wanted, node: NodeRow, ident: string): ProvisionState => {
  const to = next(node.provision_state, row.event);
  if (node.reservation !== null && (to === undefined || row.does !== 'message')) raise('NodeLocked', { node: ident });
  return to ?? raise('InvalidState', { verb, node: ident, state: node.provision_state });
};

const checkArguments = (
  { verb, row }: Wanted,
  { body, version }: Ask,
  node: NodeRow,
  disableRamdisk: boolean | null,
) => {
  if (disableRamdisk !== null) {
    if (row.disableRamdiskSince === undefined) invalid('disable_ramdisk', `is not possible with ${verb}`);
    else requireMinor(version, row.disableRamdiskSince, 'disable_ramdisk');
  }
  for (const key of ['clean_steps', 'service_steps'] as const)
    if (body[key] !== undefined && row.stepsKey !== key) invalid(key, `is not possible with ${verb}`);
  if (body.deploy_steps !== undefined) {
    requireMinor(version, 69, 'deploy_steps');
    if (row.missing !== 'deployment') invalid('deploy_steps', `is not possible with ${verb}`);
  }
  if (body.configdrive && row.missing !== 'deployment') invalid('configdrive', `is not possible with ${verb}`);
  if (body.rescue_password !== undefined && row.missing !== 'rescue')
    invalid('rescue_password', `is not possible with ${verb}`);
  const late = messageSince.find((one) => one.state === node.provision_state);
  if (row.does === 'message' && late) requireMinor(version, late.since, `${verb} in state "${late.state}"`);
};

const checkCondition = ({ verb, row }: Wanted, node: NodeRow, ident: string): void => {
  if (row.missing)
    raise('DriverUnsupported', {
      driver: node.driver,
      what: `${row.missing} in this release, so ${verb} is not possible yet`,
    });
  if (row.maintenance === 'refused' && node.maintenance) raise('NodeInMaintenance', { verb, node: ident });
  if (row.retired === 'refused' && node.retired) raise('NodeRetired', { node: ident });
};

const rawSteps = (
  rooms: Rooms,
  verb: 'clean' | 'service',
  key: string,
  steps: readonly WireStep[] | undefined,
  driver: string,
) => {
  if (steps === undefined) return invalid(key, `is missing; ${verb} needs ${key} or a runbook`);
  if (steps.length === 0) return invalid(key, 'must hold at least one step');
  checkRawSteps(steps);
  refuseDisallowed(rooms, steps);
  return planSteps(steps, verb, driver);
};

/** The steps of the run, from the request, the runbook or the driver's own list. */
const stepsFor = (
  rooms: Rooms,
  { verb, row }: Wanted,
  body: Body,
  node: NodeRow,
  runbook: Runbook | null,
): PlannedStep[] => {
  if (runbook) {
    refuseDisallowed(rooms, runbook.steps);
    return planStored(runbook.steps, verb as 'clean' | 'service', node.driver);
  }
  if (row.steps === 'automatic')
    return node.automated_clean === false ? [] : planSteps(automaticSteps(node.driver), 'clean', node.driver);
  if (row.steps !== 'given') return [];
  return rawSteps(rooms, verb as 'clean' | 'service', row.stepsKey!, body[row.stepsKey!], node.driver);
};

const act = async (
  rooms: Rooms,
  { verb, row, rule }: Wanted,
  { asking, node, to, runbook }: { asking: Ask; node: NodeRow; to: ProvisionState; runbook: Runbook | null },
): Promise<void> => {
  const asked = askedBy(rooms.policy(), asking, rule);
  const resting = states[to].kind === 'stable';
  if (resting && row.does === 'message' && node.maintenance)
    raise('Conflict', { reason: `Node ${asking.params.node_ident} is in maintenance; clear that before ${verb}.` });
  const seen = orderedNode(node);
  if (resting) return rooms.runs.move({ node: seen, event: row.event, asked });
  if (row.does === 'message') return rooms.runs.send({ node: seen, kind: verb as 'abort' | 'unhold', asked });
  const steps = stepsFor(rooms, { verb, row, rule }, asking.body, node, runbook);
  checkWorkable(node, asking.params.node_ident);
  await rooms.runs.start({
    node: seen,
    verb,
    story: row.story!,
    event: row.event,
    ends: row.ends ?? null,
    target: row.target ?? (states[to].target as ProvisionState | null),
    fault: row.fault ?? null,
    steps,
    runbook: runbook && { uuid: runbook.uuid, name: runbook.name, updated_at: runbook.updated_at },
    asked,
  });
};

const setProvisionState = async (asking: Ask, rooms: Rooms): Promise<Answer> => {
  const ident = asking.params.node_ident;
  const policy = rooms.policy();
  const node = await visibleNode(rooms, asking, ident);
  const want = wanted(asking.body);
  policy.require(want.rule, asking.who, nodeTarget(node));
  checkVersions(want, asking);
  requireSteps(policy, asking, node);
  const to = reachable(want, node, ident);
  const runbook =
    asking.body.runbook === undefined ? null : await usableRunbook(rooms, asking, node, asking.body.runbook);
  // A runbook's own value replaces the request's; false asks for nothing that an older version does not know.
  const disable = runbook ? runbook.disable_ramdisk || null : (asking.body.disable_ramdisk ?? null);
  checkArguments(want, asking, node, disable);
  checkCondition(want, node, ident);
  await act(rooms, want, { asking, node, to, runbook });
  return accepted(`${asking.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

export const nodeProvisionRoutes: Route[] = [
  route<NodeParams, unknown, Body>({
    method: 'PUT',
    path: '/v1/nodes/:node_ident/states/provision',
    rules: [
      'baremetal:node:get',
      provision,
      runRunbook,
      'baremetal:runbook:get',
      'baremetal:runbook:use',
      'baremetal:step:execute:*',
      ...Object.keys(verbs).flatMap((verb) => verbRow(verb as Verb).stepsRule ?? []),
    ],
    params: nodeParams,
    body,
    // A configuration drive would need a larger body than others have; no verb of this release takes one.
    arguments: true,
    handler: setProvisionState,
  }),
];
