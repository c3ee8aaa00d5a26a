/** Routes of freezes. A node can have several at once. */

import { z } from 'zod';
import { requesterOf } from '../../../admission/requester';
import { flag } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import type { Freeze, ListedFreeze } from '../../../inventory/nodes/freezes';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid, type FreezeUuid, type NodeUuid } from '../../../model/ids';
import { and } from '../../../model/predicates';
import { maxMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/records';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, uuidPage } from '../../resource/own-pages';
import { isoTime } from '../../resource/times';
import { nodeColumns } from '../../resource/visibility';
import { type ApiRequest, created, noContent, ok, type Route, route } from '../../server/route';

const freezeRules = {
  node: 'baremetal:node:get',
  get: 'temper:freeze:get',
  create: 'temper:freeze:create',
  delete: 'temper:freeze:delete',
} as const;

const freezesPath = '/temper/v1/freezes';
const freezesOfNodePath = '/temper/v1/nodes/:node/freezes';

/** `all` includes ended and expired freezes. */
const freezeQuery = z.strictObject({ ...uuidPage, all: flag.default(false) });
type ListQuery = z.output<typeof freezeQuery>;

const freezeBody = z.strictObject({
  reason: z.string().trim().min(1, { error: 'say why; refused callers read it' }).max(1_000),
  until: z.iso
    .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-30T18:00:00Z' })
    .transform((text) => new Date(text))
    .nullish(),
});
type FreezeBody = z.output<typeof freezeBody>;

type OfNode = { node: string };
type OfFreeze = { freeze: string };

const freezeView = (freeze: Freeze, node_name: string | null) => ({
  uuid: freeze.id,
  node_uuid: freeze.node_uuid,
  node_name,
  reason: freeze.reason,
  requester: freeze.requester,
  created_at: isoTime(freeze.created_at),
  until: isoTime(freeze.until),
  active: freeze.active,
  ended_at: isoTime(freeze.ended_at),
  ended_by: freeze.ended_by,
});

const shownNode = (ctx: ApiContext, request: ApiRequest<OfNode, unknown, unknown>): Promise<NodeRow> =>
  visibleNode(ctx, { who: request.who, version: maxMinor }, request.params.node);

/** Needs both the node's rule and the freeze rule. */
const visible = (ctx: ApiContext, who: Caller) =>
  and(ctx.policy().filter(freezeRules.node, who, nodeColumns), ctx.policy().filter(freezeRules.get, who, nodeColumns));

const findFreeze = async (ctx: ApiContext, who: Caller, ident: string): Promise<ListedFreeze | undefined> => {
  const id = asUuid(ident) as FreezeUuid | undefined;
  const freeze = id && (await ctx.inventory.freezes.find(id));
  const seen =
    freeze && [freezeRules.node, freezeRules.get].every((rule) => ctx.policy().allows(rule, who, nodeTarget(freeze)));
  return seen ? freeze : undefined;
};

/** Throws FreezeNotFound, also for hidden freezes. */
const visibleFreeze = async (ctx: ApiContext, who: Caller, ident: string): Promise<ListedFreeze> =>
  (await findFreeze(ctx, who, ident)) ?? raise('FreezeNotFound', { freeze: ident });

/** Throws MarkerNotFound if the list may not hold the freeze. */
const freezeMarker = async (
  ctx: ApiContext,
  request: ApiRequest<unknown, ListQuery, unknown>,
  node: NodeUuid | undefined,
): Promise<FreezeUuid | undefined> => {
  const marked = await markedRecord(request.query.marker, async (ident) => {
    const found = await findFreeze(ctx, request.who, ident);
    return !node || found?.node_uuid === node ? found : undefined;
  });
  return marked?.id;
};

const answerList = async (
  ctx: ApiContext,
  request: ApiRequest<unknown, ListQuery, unknown>,
  path: string,
  node?: NodeUuid,
) => {
  const wanted = { visible: visible(ctx, request.who), node, all: request.query.all };
  const after = await freezeMarker(ctx, request, node);
  const { rows, next } = await readPage(
    request,
    path,
    (limit) => ctx.inventory.freezes.list({ ...wanted, limit, after }),
    ({ id }) => id,
  );
  return ok({ freezes: rows.map((row) => freezeView(row, row.node_name)), ...next });
};

const listOfNode = async (request: ApiRequest<OfNode, ListQuery, unknown>, ctx: ApiContext) => {
  const node = await shownNode(ctx, request);
  ctx.policy().require(freezeRules.get, request.who, nodeTarget(node));
  return answerList(ctx, request, freezesOfNodePath, node.uuid);
};

const createFreeze = async (request: ApiRequest<OfNode, unknown, FreezeBody>, ctx: ApiContext) => {
  const node = await shownNode(ctx, request);
  const policy = ctx.policy();
  policy.require(freezeRules.create, request.who, nodeTarget(node));
  const { reason, until = null } = request.body;
  // PostgreSQL's clock also ends the freeze; this process's clock may differ.
  if (until && until.getTime() <= (await ctx.inventory.clock()))
    raise('InvalidInput', { field: 'until', reason: 'is over already; give a time to come, or none' });
  const freeze = await ctx.inventory.transaction(async (store) => {
    const made = await store.freezes.create({ node_uuid: node.uuid, reason, until, requester: requesterOf(request) });
    await auditAndEvent(store, policy, request, {
      action: 'freeze.create',
      kind: 'node.frozen',
      rule: freezeRules.create,
      resource: 'freeze',
      resource_id: made.id,
      node,
      data: { node_uuid: node.uuid, reason, until: isoTime(until) },
    });
    return made;
  });
  return created(freezeView(freeze, node.name), `${request.base}${freezesPath}/${freeze.id}`);
};

/** Not awaited: a run that misses the notice reads the freezes later. */
const notifyUnfrozen = (ctx: ApiContext, node: NodeUuid): void => {
  ctx.runs
    .agentContact({ node, kind: 'unfreeze' })
    .catch((thrown) => ctx.log.warn('freeze ended, run not notified', { node_uuid: node, reason: String(thrown) }));
};

const endFreeze = async (request: ApiRequest<OfFreeze, unknown, unknown>, ctx: ApiContext) => {
  const freeze = await visibleFreeze(ctx, request.who, request.params.freeze);
  const policy = ctx.policy();
  policy.require(freezeRules.delete, request.who, nodeTarget(freeze));
  await ctx.inventory.transaction(async (store) => {
    if (!(await store.freezes.end(freeze.id, requesterOf(request))))
      raise('Conflict', { reason: `Freeze ${freeze.id} is no longer active.` });
    await auditAndEvent(store, policy, request, {
      action: 'freeze.delete',
      kind: 'node.unfrozen',
      rule: freezeRules.delete,
      resource: 'freeze',
      resource_id: freeze.id,
      node: { ...freeze, uuid: freeze.node_uuid },
      data: { node_uuid: freeze.node_uuid, reason: freeze.reason },
    });
  });
  notifyUnfrozen(ctx, freeze.node_uuid);
  return noContent();
};

const listing = {
  method: 'GET',
  answers: { 200: shapes.freezes },
  rules: [freezeRules.node, freezeRules.get],
  query: freezeQuery,
} as const;

export const freezeRoutes: Route[] = [
  route({
    ...listing,
    path: freezesOfNodePath,
    handler: listOfNode,
  }),
  route({
    method: 'POST',
    path: freezesOfNodePath,
    madeIn: freezesPath,
    answers: { 201: shapes.freeze },
    rules: [freezeRules.node, freezeRules.create],
    body: freezeBody,
    handler: createFreeze,
  }),
  route({
    ...listing,
    path: freezesPath,
    handler: (request, ctx) => answerList(ctx, request, freezesPath),
  }),
  route({
    method: 'GET',
    path: `${freezesPath}/:freeze`,
    answers: { 200: shapes.freeze },
    rules: [freezeRules.node, freezeRules.get],
    handler: async (request: ApiRequest<OfFreeze>, ctx) => {
      const freeze = await visibleFreeze(ctx, request.who, request.params.freeze);
      return ok(freezeView(freeze, freeze.node_name));
    },
  }),
  route({
    method: 'DELETE',
    path: `${freezesPath}/:freeze`,
    rules: [freezeRules.node, freezeRules.get, freezeRules.delete],
    handler: endFreeze,
  }),
];
