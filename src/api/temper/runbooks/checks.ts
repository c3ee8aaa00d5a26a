/** Preflight of runbooks: finds faults before any BMC command. */

import { z } from 'zod';
import { everyRefusal } from '../../../admission/checks';
import { parameterValues } from '../../../admission/request';
import { equipped, factsOf } from '../../../admission/requested-steps';
import { runbookStep } from '../../../admission/schemas';
import { readable } from '../../../admission/steps';
import { findVisibleRunbook, visibleNode } from '../../../admission/visibility';
import type { Caller } from '../../../model/access/callers';
import type { NodeUuid } from '../../../model/ids';
import type { StepVerb } from '../../../model/lifecycle/step-types';
import { maxSteps } from '../../../model/lifecycle/steps';
import { maxMinor } from '../../../model/resources/microversions';
import {
  checkOnNode,
  checkRunbook,
  createSuggest,
  type LastSeen,
  type RunbookFinding,
} from '../../../model/resources/runbook-check';
import { resolveSteps } from '../../../model/resources/runbook-parameters';
import { inOrder, type RunbookStep } from '../../../model/resources/runbook-steps';
import { type Runbook, runbookApproval } from '../../../model/resources/runbooks';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/runbooks';
import type { ApiContext } from '../../context';
import { type Answer, type ApiRequest, ok, type Route, route } from '../../server/route';
import { anywhere } from '../../v1/runbooks/warnings';
import { checkParameters, declaredParameters } from './parameters';

const mostNodes = 50;
/** At this number, no further node is checked. */
const mostFindings = 1_000;

const checkedOn = {
  /** UUIDs or names. */
  nodes: z.array(z.string().min(1).max(255)).max(mostNodes).default([]),
  /** Absent: both. */
  verb: z.enum(['clean', 'service']).optional(),
  parameters: parameterValues.default({}),
};
const ofStored = z.strictObject(checkedOn).prefault({});
const ofGiven = z.strictObject({
  ...checkedOn,
  /** Declarations of the runbook's parameters. */
  declared: declaredParameters.default([]),
  steps: z
    .array(runbookStep)
    .min(1)
    .max(maxSteps, { error: `a runbook has at most ${maxSteps} steps` }),
});

type Where = z.output<typeof ofStored>;
type Open = Pick<Runbook, 'name' | 'parameters'>;
type Approved = Open & Pick<Runbook, 'traits'>;

const rulesOfNodes = [
  'baremetal:node:get',
  'temper:node:steps',
  'baremetal:node:bios:get',
  'baremetal:node:firmware:get',
] as const;

const seenOf = async (
  ctx: ApiContext,
  request: Pick<ApiRequest<unknown, unknown, unknown>, 'who'>,
  node: Node,
): Promise<LastSeen> => {
  const [policy, target] = [ctx.policy(), nodeTarget(node)];
  const { details } = ctx.inventory;
  return {
    ...(policy.allows('baremetal:node:bios:get', request.who, target) && { bios: await details.bios(node.uuid) }),
    ...(policy.allows('baremetal:node:firmware:get', request.who, target) && {
      firmware: await details.firmware(node.uuid),
    }),
  };
};
type Node = Awaited<ReturnType<typeof visibleNode>>;

const unapproved = (runbook: Approved, node: Node, ident: string): RunbookFinding[] => {
  const approval = runbookApproval(runbook, node.traits ?? [], maxMinor);
  if (approval.ok) return [];
  const says = `It is not approved for this node: the node needs ${approval.wanted}.`;
  return [{ severity: 'warning', index: null, step: null, node: ident, says }];
};

const resolvedOn = (
  { name, parameters }: Open,
  steps: readonly RunbookStep[],
  given: Where['parameters'],
  { node, ident }: { readonly node: Node; readonly ident: string },
): { readonly steps: readonly RunbookStep[]; readonly faults: readonly RunbookFinding[] } => {
  const checks = everyRefusal();
  const resolved = resolveSteps({ name, parameters, steps }, given, factsOf(node), checks.try);
  const faults = checks.refusals.map(
    ({ reason }): RunbookFinding => ({ severity: 'error', index: null, step: null, node: ident, says: reason }),
  );
  return { steps: faults.length > 0 ? [] : resolved.steps, faults };
};

/** Each node once, in order. Throws NodeNotFound, PolicyDenied. */
const namedNodes = async (
  ctx: ApiContext,
  who: Caller,
  idents: readonly string[],
): Promise<{ readonly ident: string; readonly node: Node }[]> => {
  const found = new Map<NodeUuid, { readonly ident: string; readonly node: Node }>();
  for (const ident of new Set(idents)) {
    const node = await visibleNode(ctx, { who, version: maxMinor }, ident);
    ctx.policy().require('temper:node:steps', who, nodeTarget(node));
    if (!found.has(node.uuid)) found.set(node.uuid, { ident, node });
  }
  return [...found.values()];
};

/** Otherwise a caller would take unchecked nodes for sound ones. */
const unchecked = (count: number): RunbookFinding => ({
  severity: 'error',
  index: null,
  step: null,
  node: null,
  says: `The check ended after ${mostFindings} findings, before ${count} of the nodes. Correct these, and check again.`,
});

const onNodes = async (
  ctx: ApiContext,
  { who, body: { nodes, verb, parameters } }: ApiRequest<unknown, unknown, Where>,
  steps: readonly RunbookStep[],
  runbook: Open,
  stored?: Approved,
): Promise<RunbookFinding[]> => {
  const verbs: readonly StepVerb[] = verb ? [verb] : ['clean', 'service'];
  const findings: RunbookFinding[] = [];
  const suggest = createSuggest();
  const named = await namedNodes(ctx, who, nodes);
  for (const [at, { ident, node }] of named.entries()) {
    if (findings.length >= mostFindings) return [unchecked(named.length - at), ...findings];
    const seen = await seenOf(ctx, { who }, node);
    const resolved = resolvedOn(runbook, steps, parameters, { node, ident });
    findings.push(
      ...(stored ? unapproved(stored, node, ident) : []),
      ...resolved.faults,
      ...checkOnNode(resolved.steps, { name: ident, verbs, equipment: await equipped(ctx, node), seen, suggest }),
    );
  }
  return findings;
};

const answerFindings = (findings: readonly RunbookFinding[]): Answer<shapes.RunbookCheck> => {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return ok({ errors, warnings: findings.length - errors, findings: findings.slice(0, mostFindings) });
};

/** Stored secrets are references; a check needs a text. */
const readableSteps = (steps: readonly RunbookStep[]): RunbookStep[] =>
  inOrder(steps).map((step) => ({ ...step, args: readable(step.args) as RunbookStep['args'] }));

const checkStored = async (request: ApiRequest<{ runbook: string }, unknown, Where>, ctx: ApiContext) => {
  const runbook = await findVisibleRunbook(ctx, request.who, request.params.runbook);
  const steps = readableSteps(runbook.steps);
  return answerFindings([
    ...checkRunbook(steps, (step) => anywhere(ctx, step)),
    ...(await onNodes(ctx, request, steps, runbook, runbook)),
  ]);
};

const checkGiven = async (request: ApiRequest<unknown, unknown, z.output<typeof ofGiven>>, ctx: ApiContext) => {
  ctx.policy().require('baremetal:runbook:create', request.who);
  const { declared } = request.body;
  checkParameters(declared);
  const steps = inOrder<RunbookStep>(request.body.steps);
  return answerFindings([
    ...checkRunbook(steps, (step) => anywhere(ctx, step)),
    ...(await onNodes(ctx, request, steps, { name: '(not stored)', parameters: declared })),
  ]);
};

const checkRoute = <Params, Body>(
  path: string,
  rule: string,
  body: z.ZodType<Body>,
  handler: (request: ApiRequest<Params, unknown, Body>, ctx: ApiContext) => Promise<Answer<shapes.RunbookCheck>>,
): Route =>
  route({
    method: 'POST',
    path: `/temper/v1/runbooks${path}`,
    answers: { 200: shapes.runbookCheck },
    rules: [rule, ...rulesOfNodes],
    changesNothing: true,
    body,
    handler,
  });

export const runbookCheckRoutes: Route[] = [
  checkRoute('/check', 'baremetal:runbook:create', ofGiven, checkGiven),
  checkRoute('/:runbook/check', 'baremetal:runbook:get', ofStored, checkStored),
];
