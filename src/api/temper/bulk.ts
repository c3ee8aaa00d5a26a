/** One change on many nodes: each node is checked and changed as by a request for it alone. */
import pLimit from 'p-limit';
import { z } from 'zod';
import { provisionRules } from '../../admission/admit';
import { setPower } from '../../admission/power';
import { visibleNode } from '../../admission/visibility';
import { isGivenUp } from '../../inventory/idempotency';
import { isTemperError, TemperError } from '../../model/errors';
import type { NodeUuid } from '../../model/ids';
import { type PowerTarget, powerTargets } from '../../model/lifecycle/states';
import { type BulkChange, bulkChanges, bulkVerbs, mostBulkNodes } from '../../model/resources/bulk';
import { maxMinor } from '../../model/resources/microversions';
import { shortText } from '../../model/texts';
import * as shapes from '../../wire/bulk';
import { auditRow } from '../audit/record';
import type { ApiContext } from '../context';
import { namedNodes } from '../resource/named-nodes';
import { nodeColumns } from '../resource/visibility';
import { callerKey } from '../server/caller-key';
import { asTemperError } from '../server/errors';
import { waitForLock } from '../server/lock-wait';
import { type Answer, type ApiRequest, type ManyRefused, ok, route } from '../server/route';
import { checkedMaintenance, maintenanceActs } from '../v1/nodes/maintenance';
import type { CheckedChange, NodeParams } from '../v1/nodes/node-route';
import { checkedPatch, checkedPatchRules, tenantRule } from '../v1/nodes/patch';
import { checkedProvision } from '../v1/nodes/provision';
import { checkedPower } from '../v1/nodes/states';
import { bulkData, keptNames } from './bulk-trail';
import { createTurns } from './events/turns';

/** Limits the database connections of one caller. */
const nodesAtOnce = 4;
const inTurn = createTurns();

const seesNode = 'baremetal:node:get';
const project = z.string().min(1).max(255).nullable();

const bulkBody = z
  .strictObject({
    nodes: z.array(z.string().min(1).max(255)).min(1).max(mostBulkNodes),
    reason: z.string().trim().min(1).max(1_000),
    maintenance: z.boolean().optional(),
    power: z.enum(Object.keys(powerTargets) as [PowerTarget, ...PowerTarget[]]).optional(),
    provision: z.enum(bulkVerbs).optional(),
    owner: project.optional(),
    lessee: project.optional(),
  })
  .refine((body) => bulkChanges.filter((name) => body[name] !== undefined).length === 1, {
    error: `give exactly one of ${bulkChanges.join(', ')}`,
  });
type BulkBody = z.output<typeof bulkBody>;
type BulkRequest = ApiRequest<unknown, unknown, BulkBody>;
type NodeRequest = ApiRequest<NodeParams, Record<string, never>, unknown>;

type ChangeRow = {
  readonly rules: readonly string[];
  /** The rule that the change itself needs. */
  rule(body: BulkBody): string;
  /** Of the answer to a request for one node. */
  readonly status: number;
  check(request: NodeRequest, ctx: ApiContext, body: BulkBody): Promise<CheckedChange>;
};

const maintenanceAct = ({ maintenance }: BulkBody) => (maintenance ? 'set' : 'clear');

const fieldChange = (name: 'owner' | 'lessee'): ChangeRow => ({
  rules: checkedPatchRules,
  rule: () => tenantRule(name),
  status: 200,
  check: (request, ctx, { [name]: value, reason }) =>
    checkedPatch({ ...request, body: [{ op: 'add', path: `/${name}`, value }] }, ctx, reason),
});

const changes: Readonly<Record<BulkChange, ChangeRow>> = {
  maintenance: {
    rules: Object.values(maintenanceActs).map(({ rule }) => rule),
    rule: (body) => maintenanceActs[maintenanceAct(body)].rule,
    status: 202,
    check: (request, ctx, body) => checkedMaintenance(request, ctx, maintenanceAct(body), body.reason),
  },
  power: {
    rules: [setPower],
    rule: () => setPower,
    status: 202,
    check: (request, ctx, { power, reason }) => checkedPower({ ...request, body: { target: power! } }, ctx, reason),
  },
  provision: {
    rules: provisionRules,
    rule: () => provisionRules[0]!,
    status: 202,
    check: (request, ctx, { provision, reason }) =>
      checkedProvision({ ...request, body: { target: provision! } }, ctx, reason),
  },
  owner: fieldChange('owner'),
  lessee: fieldChange('lessee'),
};

const bulkRules = [...new Set([seesNode, ...Object.values(changes).flatMap(({ rules }) => rules)])];

const changeIn = (body: BulkBody): BulkChange => bulkChanges.find((name) => body[name] !== undefined)!;

/** The refusal; undefined if the node was accepted. */
type Outcome = TemperError | undefined;
type Apply = (node: NodeUuid, check: () => Promise<CheckedChange>) => Promise<unknown>;

/** Throws if another request has taken over the work. */
const outcomeOf = async (request: BulkRequest, ctx: ApiContext, work: () => Promise<unknown>): Promise<Outcome> => {
  try {
    // A request for one node is repeated after a lost race, too.
    await waitForLock(work, 0);
    return undefined;
  } catch (thrown) {
    if (isGivenUp(thrown)) throw thrown;
    const error = asTemperError(thrown, request.requestId);
    if (error.code === 'Unexpected')
      ctx.log.error('a node of a bulk request failed', { request_id: request.requestId, reason: String(thrown) });
    return error;
  }
};

type Outcomes = {
  readonly find: (ident: string) => NodeUuid | undefined;
  /** By node, so that a node that is named twice is changed once. */
  readonly outcomes: ReadonlyMap<NodeUuid, Outcome>;
};

const eachNode = async (request: BulkRequest, ctx: ApiContext, apply: Apply): Promise<Outcomes> => {
  const { who, body } = request;
  const { check } = changes[changeIn(body)];
  const find = await namedNodes(ctx, ctx.policy().filter(seesNode, who, nodeColumns), body.nodes);
  const outcomes = new Map<NodeUuid, Outcome>();
  const change = async (node_ident: string): Promise<void> => {
    const uuid = find(node_ident);
    if (uuid === undefined || outcomes.has(uuid)) return;
    outcomes.set(uuid, undefined);
    const one: NodeRequest = { ...request, params: { node_ident }, query: {}, body: undefined, version: maxMinor };
    outcomes.set(uuid, await outcomeOf(request, ctx, () => apply(uuid, () => check(one, ctx, body))));
  };
  const atOnce = pLimit(nodesAtOnce);
  await Promise.all(body.nodes.map((ident) => atOnce(change, ident)));
  return { find, outcomes };
};

const ruleOf = ({ facts }: TemperError): string | null => (typeof facts.rule === 'string' ? facts.rule : null);
// As for a plan: a reason may quote the request.
const longestReason = 2_000;

const resultFor = (ident: string, { find, outcomes }: Outcomes, status: number): shapes.BulkResult => {
  const node_uuid = find(ident) ?? null;
  const refusal = node_uuid === null ? new TemperError('NodeNotFound', { node: ident }) : outcomes.get(node_uuid);
  return {
    node: ident,
    node_uuid,
    accepted: refusal === undefined,
    status: refusal?.status ?? status,
    code: refusal?.code ?? null,
    rule: refusal ? ruleOf(refusal) : null,
    reason: refusal ? shortText(refusal.message, longestReason) : null,
  };
};

const answerFor = ({ body }: BulkRequest, outcomes: Outcomes, request_id: string | null): shapes.Bulk => {
  const change = changeIn(body);
  const results = [...new Set(body.nodes)].map((ident) => resultFor(ident, outcomes, changes[change].status));
  const accepted = results.filter((one) => one.accepted).length;
  return { change, results, accepted, refused: results.length - accepted, request_id };
};

/** The row of the request. Each changed node has another one, with the same request id. */
const recordBulk = (request: BulkRequest, ctx: ApiContext, answer: shapes.Bulk): Promise<void> =>
  ctx.inventory.audit.write(
    auditRow(ctx.policy(), request, {
      action: 'node.bulk',
      rule: changes[answer.change].rule(request.body),
      resource: 'nodes_bulk',
      resource_id: '',
      data: bulkData(request.body, answer),
    }),
  );

const mostLookedAt = 10;

/** Evaluates the rule that hides nodes, which the query for the names did not do. The trail then has it as the reason. */
const lookAtHidden = async ({ who }: BulkRequest, ctx: ApiContext, { results }: shapes.Bulk): Promise<void> => {
  for (const { node } of results.slice(0, mostLookedAt))
    await visibleNode(ctx, { who, version: maxMinor }, node).catch((thrown) => {
      if (!isTemperError(thrown)) throw thrown;
    });
};

/** The first refusal by a rule, or else the first of all. */
const refusalOfAll = async (
  request: BulkRequest,
  ctx: ApiContext,
  answer: shapes.Bulk,
  { outcomes }: Outcomes,
): Promise<ManyRefused> => {
  if (outcomes.size === 0) await lookAtHidden(request, ctx, answer);
  const refusals = [...outcomes.values()].filter((one) => one !== undefined);
  const { node } = answer.results[0]!;
  const error =
    refusals.find((one) => ruleOf(one) !== null) ?? refusals[0] ?? new TemperError('NodeNotFound', { node });
  const isCertain = refusals.every(({ status }) => status < 500);
  return { error, resource_id: keptNames(answer), isCertain };
};

const bulkNodes = (request: BulkRequest, ctx: ApiContext): Promise<Answer<shapes.Bulk>> =>
  inTurn(callerKey(request.who), async () => {
    // A process that died over this request has changed some nodes.
    const keyed = request.header('idempotency-key') !== undefined;
    const before = new Set(keyed ? await ctx.inventory.auditList.nodesOf(request.requestId) : []);
    const outcomes = await eachNode(request, ctx, async (uuid, check) => {
      if (!before.has(uuid)) await (await check())();
    });
    const answer = answerFor(request, outcomes, request.requestId);
    if (answer.accepted === 0) return { ...ok(answer), refusal: await refusalOfAll(request, ctx, answer, outcomes) };
    await recordBulk(request, ctx, answer);
    return ok(answer);
  });

const previewBulk = (request: BulkRequest, ctx: ApiContext): Promise<Answer<shapes.Bulk>> =>
  inTurn(callerKey(request.who), async () =>
    ok(answerFor(request, await eachNode(request, ctx, (_, check) => check()), null)),
  );

const described = { answers: { 200: shapes.bulk }, rules: bulkRules, body: bulkBody };

export const bulkRoutes = [
  route({ ...described, method: 'POST', path: '/temper/v1/nodes/bulk', cutOff: 'again', handler: bulkNodes }),
  route({
    ...described,
    method: 'POST',
    path: '/temper/v1/nodes/bulk/preview',
    changesNothing: true,
    handler: previewBulk,
  }),
];
