/** PUT /v1/nodes/{ident}/states/provision: every verb goes through here, by the rows of model/lifecycle/verbs. */
import type { z } from 'zod';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { fetchedByInstance } from '../../../model/access/origins';
import { raise } from '../../../model/errors';
import { type ProvisionState, states } from '../../../model/lifecycle/states';
import { isVerb, type Verb, verbRow, verbs } from '../../../model/lifecycle/verbs';
import { runbooksSince } from '../../../model/resources/runbooks';
import { nodeTarget, type Policy, stepTarget } from '../../../policy';
import type { Rooms } from '../../context';
import { type Answer, accepted, type Route, route } from '../../http/route';
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
import { type NodeParams, nodeParams } from './nodes';

type ProvisionBody = z.output<typeof provisionBody>;

const provision = 'baremetal:node:set_provision_state';
const invalid = (field: string, reason: string): never => raise('InvalidInput', { field, reason });
const wanted = (body: ProvisionBody): WantedVerb => {
  if (!isVerb(body.target))
    return invalid('target', `must be one of ${Object.keys(verbs).join(', ')}; ${came(body.target)} came`);
  const row = verbRow(body.target);
  if (body.runbook === undefined) return { verb: body.target, row, rule: provision };
  if (!row.runbook)
    return invalid('runbook', `is only possible with ${withSteps.join(' or ')}, not with ${body.target}`);
  const given = stepKeys.filter((key) => body[key] !== undefined);
  if (given.length > 0) return invalid('runbook', `give either ${given.join(', ')} or a runbook, but not both`);
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
  rooms: Rooms,
  want: WantedVerb,
  {
    asking,
    node,
    to,
    given,
    disable,
  }: { asking: ProvisionRequest; node: NodeRow; to: ProvisionState; given: Usable | null; disable: boolean },
): Promise<void> => {
  const { verb, row, rule } = want;
  const asked = askedBy(rooms.policy(), asking, rule, given?.crossing);
  const resting = states[to].kind === 'stable';
  if (resting && row.does === 'message' && node.maintenance)
    raise('Conflict', { reason: `Node ${asking.params.node_ident} is in maintenance; clear that before ${verb}.` });
  const seen = orderedNode(node);
  if (resting) return rooms.runs.move({ node: seen, event: row.event, asked });
  if (row.does === 'message') return rooms.runs.send({ node: seen, kind: verb as 'abort' | 'unhold', asked });
  await rooms.runs.start(
    await planRun(rooms, {
      verb,
      row,
      node,
      ident: asking.params.node_ident,
      to,
      asked,
      steps: (ready) => requestedSteps({ rooms, want, asking, node: ready }, given?.runbook ?? null),
      disableRamdisk: disable,
      more: row.story === 'deploy' ? deploymentFacts(rooms, asking, node, row) : {},
    }),
  );
};

/** The request with the reason that its header gives. */
const reasoned = ({ who, version, header }: ProvisionRequest) => ({
  who,
  version,
  reason: header(reasonHeader.toLowerCase()),
});

const setProvisionState = async (asking: ProvisionRequest, rooms: Rooms): Promise<Answer> => {
  const ident = asking.params.node_ident;
  const policy = rooms.policy();
  const node = await visibleNode(rooms, asking, ident);
  const want = wanted(asking.body);
  const way = () => wayOutOfMaintenance(policy, asking.who, node);
  policy.require(want.rule, asking.who, nodeTarget(node));
  checkVersions(want, asking);
  requireSteps(policy, asking, node);
  if (want.row.story === 'deploy') checkMaintenance(want, node, ident, way);
  const to = reachable(want, node, ident);
  requireOwnRun(rooms, want.rule, asking.who, node, ident);
  if (asking.body.configdrive) {
    checkConfigdrive(asking.body.configdrive, want.verb, want.row, asking.version);
    for (const fetched of fetchedByInstance({ configdrive: asking.body.configdrive })) requireKnown(rooms, fetched);
  }
  const named = asking.body.runbook;
  const use = named === undefined ? null : await usableRunbook(rooms, reasoned(asking), node, named);
  const runbook = use?.runbook ?? null;
  // A runbook's own value replaces the request's; false asks for nothing that an older version does not know.
  const disable = runbook ? runbook.disable_ramdisk || null : (asking.body.disable_ramdisk ?? null);
  checkArguments(want, asking, node, disable);
  checkCondition(want, node, ident, way);
  await act(rooms, want, { asking, node, to, given: use, disable: disable === true });
  return accepted(`${asking.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

export const nodeProvisionRoutes: Route[] = [
  route<NodeParams, unknown, ProvisionBody>({
    method: 'PUT',
    path: '/v1/nodes/:node_ident/states/provision',
    answers: { 202: null },
    rules: ['baremetal:node:get', provision, runRunbook, ...useRules, ...stepRuleNames, ...Object.values(stepRules)],
    params: nodeParams,
    body: provisionBody,
    arguments: true,
    handler: setProvisionState,
  }),
];
