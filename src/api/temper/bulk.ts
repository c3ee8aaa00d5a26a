/** One change on many nodes: each node is checked and changed as by a request for it alone. */

import pLimit from 'p-limit';
import { eventRules } from '../../admission/events';
import { visibleNode } from '../../admission/visibility';
import { isGivenUp } from '../../inventory/idempotency';
import { isTemperError, raise, TemperError } from '../../model/errors';
import type { NodeUuid } from '../../model/ids';
import { maxMinor } from '../../model/resources/microversions';
import { shortText } from '../../model/texts';
import * as shapes from '../../wire/bulk';
import { auditRow } from '../audit/record';
import type { ApiContext } from '../context';
import { onceOnly } from '../once-only';
import { type FoundNode, namedNodes } from '../resource/named-nodes';
import { nodeColumns } from '../resource/visibility';
import { callerKey } from '../server/caller-key';
import { asTemperError } from '../server/errors';
import { waitForLock } from '../server/lock-wait';
import { type Answer, type ApiRequest, type ManyRefused, ok, route } from '../server/route';
import type { CheckedChange } from '../v1/nodes/node-route';
import { type BulkBody, bulkBody, bulkRules, changeIn, changes, type NodeRequest } from './bulk-changes';
import { begunData, keptNames, refusedData } from './bulk-trail';
import { createTurns } from './events/turns';

/** Limits the database connections of one caller. */
const nodesAtOnce = 4;
const waitingAtMost = 4;
const retryAfterS = 10;

const inTurn = createTurns((waiting) => {
  if (waiting >= waitingAtMost) raise('TooManyBulkChanges', { limit: waitingAtMost, seconds: retryAfterS });
});

type BulkRequest = ApiRequest<unknown, unknown, BulkBody>;

/** The refusal; undefined if the node was accepted. */
type BulkOutcome = TemperError | undefined;
type Apply = (node: NodeUuid, check: () => Promise<CheckedChange>) => Promise<unknown>;

/** Throws if another request has taken over the work. */
const bulkOutcome = async (
  request: BulkRequest,
  ctx: ApiContext,
  work: () => Promise<unknown>,
): Promise<BulkOutcome> => {
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

const findAmong = (ctx: ApiContext, { who }: BulkRequest, idents: readonly string[]): Promise<FoundNode> =>
  namedNodes(ctx, ctx.policy().filter(eventRules.node, who, nodeColumns), idents);

type Outcomes = {
  readonly find: FoundNode;
  /** By node, so that a node that is named twice is changed once. */
  readonly outcomes: ReadonlyMap<NodeUuid, BulkOutcome>;
};

/** A quota is counted before each run is written, so runs of a project begin one after the other. */
const atOnceFor = ({ who, body }: BulkRequest): number =>
  changes[changeIn(body)].startsRun && who.project_id !== null ? 1 : nodesAtOnce;

const eachNode = async (request: BulkRequest, ctx: ApiContext, find: FoundNode, apply: Apply): Promise<Outcomes> => {
  const { body } = request;
  const { check } = changes[changeIn(body)];
  const outcomes = new Map<NodeUuid, BulkOutcome>();
  const change = async (ident: string): Promise<void> => {
    const uuid = find(ident);
    if (uuid === undefined || outcomes.has(uuid)) return;
    outcomes.set(uuid, undefined);
    // By UUID: a name may be another node's by now.
    const one: NodeRequest = {
      ...request,
      params: { node_ident: uuid },
      query: {},
      body: undefined,
      version: maxMinor,
    };
    outcomes.set(uuid, await bulkOutcome(request, ctx, () => apply(uuid, () => check(one, ctx, body))));
  };
  const atOnce = pLimit(atOnceFor(request));
  await Promise.all(body.nodes.map((ident) => atOnce(change, ident)));
  return { find, outcomes };
};

const refusingRule = ({ facts }: TemperError): string | null => (typeof facts.rule === 'string' ? facts.rule : null);
// As for a plan: a reason may quote the request.
const longestReason = 2_000;

const refusedResult = (
  node: string,
  found: Pick<shapes.BulkResult, 'node_uuid' | 'node_name'>,
  refusal: TemperError,
): shapes.BulkResult => ({
  node,
  ...found,
  accepted: false,
  status: refusal.status,
  code: refusal.code,
  rule: refusingRule(refusal),
  reason: shortText(refusal.message, longestReason),
});

const hiddenResult = (node: string): shapes.BulkResult =>
  refusedResult(node, { node_uuid: null, node_name: null }, new TemperError('NodeNotFound', { node }));

const resultFor = (node: string, { find, outcomes }: Outcomes, status: number): shapes.BulkResult => {
  const node_uuid = find(node);
  if (node_uuid === undefined) return hiddenResult(node);
  const found = { node_uuid, node_name: find.nameOf(node_uuid) };
  const refusal = outcomes.get(node_uuid);
  if (refusal) return refusedResult(node, found, refusal);
  return { node, ...found, accepted: true, status, code: null, rule: null, reason: null };
};

const withCounts = (answer: Omit<shapes.Bulk, 'accepted' | 'refused'>): shapes.Bulk => {
  const accepted = answer.results.filter((one) => one.accepted).length;
  return { ...answer, accepted, refused: answer.results.length - accepted };
};

const answerFor = ({ body }: BulkRequest, outcomes: Outcomes, request_id: string | null): shapes.Bulk => {
  const change = changeIn(body);
  const results = [...new Set(body.nodes)].map((ident) => resultFor(ident, outcomes, changes[change].status));
  return withCounts({ change, results, request_id });
};

/** A row of the request. Each changed node has another one, with the same request id. */
const recordBulk = (
  request: BulkRequest,
  ctx: ApiContext,
  action: 'node.bulk' | 'node.bulk.refused',
  data: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const rule = changes[changeIn(request.body)].rule(request.body);
  return ctx.inventory.audit.write(
    auditRow(ctx.policy(), request, { action, rule, resource: 'nodes_bulk', resource_id: '', data }),
  );
};

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
    refusals.find((one) => refusingRule(one) !== null) ?? refusals[0] ?? new TemperError('NodeNotFound', { node });
  return { error, resource_id: keptNames(answer) };
};

type Trailed = {
  readonly begun: boolean;
  readonly changed: ReadonlySet<NodeUuid>;
  /** UUIDs of the nodes that the request found first, and names that it did not find. */
  readonly named: ReadonlySet<string>;
};

/** Rows that a process left which died over this request. */
const trailedBefore = async (request: BulkRequest, { inventory }: ApiContext): Promise<Trailed> => {
  if (request.header('idempotency-key') === undefined) return { begun: false, changed: new Set(), named: new Set() };
  const rows = await inventory.auditList.grantedOf(request.requestId);
  const begun = rows.filter(({ action }) => action === 'node.bulk');
  return {
    begun: begun.length > 0,
    changed: new Set(rows.flatMap(({ node_uuid }) => node_uuid ?? [])),
    named: new Set(begun.flatMap(({ nodes }) => nodes ?? []).flat()),
  };
};

/** A repeat changes no other nodes than the request that began: a name may be another node's by now. */
const foundBefore = (find: FoundNode, { begun, named }: Trailed): FoundNode => {
  if (!begun) return find;
  const again = (ident: string) => {
    const uuid = find(ident);
    return uuid !== undefined && named.has(uuid) ? uuid : undefined;
  };
  return Object.assign(again, { nameOf: find.nameOf });
};

const changeAll = async (request: BulkRequest, ctx: ApiContext): Promise<Answer<shapes.Bulk>> => {
  const before = await trailedBefore(request, ctx);
  const find = foundBefore(await findAmong(ctx, request, request.body.nodes), before);
  let isBegun = before.begun;
  // Before the first change: a process that dies leaves the row of the request, too.
  const begin = onceOnly(async () => {
    if (!isBegun) await recordBulk(request, ctx, 'node.bulk', begunData(request.body, find));
    isBegun = true;
  });
  const outcomes = await eachNode(request, ctx, find, async (uuid, check) => {
    if (before.changed.has(uuid)) return;
    const change = await check();
    await begin();
    await change();
  });
  const answer = answerFor(request, outcomes, request.requestId);
  const open = answer.results.some(({ status }) => status >= 500) && { isOpen: true as const };
  if (!isBegun) return { ...ok(answer), ...open, refusal: await refusalOfAll(request, ctx, answer, outcomes) };
  if (answer.refused > 0) await recordBulk(request, ctx, 'node.bulk.refused', refusedData(answer));
  return { ...ok(answer), ...open };
};

const bulkNodes = (request: BulkRequest, ctx: ApiContext): Promise<Answer<shapes.Bulk>> =>
  inTurn(callerKey(request.who), () => changeAll(request, ctx));

const previewBulk = (request: BulkRequest, ctx: ApiContext): Promise<Answer<shapes.Bulk>> =>
  inTurn(callerKey(request.who), async () => {
    const find = await findAmong(ctx, request, request.body.nodes);
    return ok(answerFor(request, await eachNode(request, ctx, find, (_, check) => check()), null));
  });

/** A kept answer without the nodes that have become hidden. */
const shownAgain = async (kept: string, request: BulkRequest, ctx: ApiContext): Promise<string> => {
  const { accepted: _, refused: _refused, ...answer } = JSON.parse(kept) as shapes.Bulk;
  const find = await findAmong(ctx, request, answer.results.flatMap(({ node_uuid }) => node_uuid ?? [])); // biome-ignore format: one line
  const isHidden = ({ node_uuid }: shapes.BulkResult) => node_uuid !== null && find(node_uuid) === undefined;
  const results = answer.results.map((one) => (isHidden(one) ? hiddenResult(one.node) : one));
  return JSON.stringify(withCounts({ ...answer, results }));
};

const described = { answers: { 200: shapes.bulk }, rules: bulkRules, body: bulkBody };

export const bulkRoutes = [
  route({
    ...described,
    method: 'POST',
    path: '/temper/v1/nodes/bulk',
    cutOff: 'again',
    shownAgain,
    handler: bulkNodes,
  }),
  route({
    ...described,
    method: 'POST',
    path: '/temper/v1/nodes/bulk/preview',
    changesNothing: true,
    handler: previewBulk,
  }),
];
