/** Freezes on the wire: an operator's lock-outs on nodes, several at once, each with who, why and until when. */
import { z } from 'zod';
import type { Freeze, ListedFreeze } from '../../inventory/nodes/freezes';
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { asUuid, type FreezeUuid, type NodeUuid } from '../../model/ids';
import { and } from '../../model/predicates';
import { maxMinor } from '../../model/resources/microversions';
import { nodeTarget } from '../../policy';
import { auditAndEvent, requesterOf } from '../audit/record';
import type { Rooms } from '../context';
import { type Answer, type Asking, created, noContent, ok, type Route, route } from '../http/route';
import { flag, uuid } from '../resource/validation';
import { nodeColumns, visibleNode } from '../resource/visibility';
import * as shapes from './shapes';

const freezeRules = {
  node: 'baremetal:node:get',
  get: 'temper:freeze:get',
  create: 'temper:freeze:create',
  delete: 'temper:freeze:delete',
} as const;

const limit = z
  .string()
  .regex(/^\d{1,4}$/, { error: 'must be a whole number' })
  .transform(Number)
  .refine((value) => value >= 1 && value <= 1000, { error: 'must be between 1 and 1000' });

/** `all` also shows those that have ended or are over. */
const listQuery = z.strictObject({ limit: limit.default(100), marker: uuid.optional(), all: flag.default(false) });
type ListQuery = z.output<typeof listQuery>;

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

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

const freezeView = (freeze: Freeze, node_name: string | null) => ({
  uuid: freeze.id,
  node_uuid: freeze.node_uuid,
  node_name,
  reason: freeze.reason,
  requester: freeze.requester,
  created_at: iso(freeze.created_at),
  until: iso(freeze.until),
  active: freeze.active,
  ended_at: iso(freeze.ended_at),
  ended_by: freeze.ended_by,
});

const shownNode = (rooms: Rooms, asking: Asking<OfNode, unknown, unknown>): Promise<NodeRow> =>
  visibleNode(rooms, { who: asking.who, version: maxMinor }, asking.params.node);

/** The rows a caller may see: freezes are as visible as their nodes, by rules of their own. */
const visible = (rooms: Rooms, who: Caller) =>
  and(
    rooms.policy().filter(freezeRules.node, who, nodeColumns),
    rooms.policy().filter(freezeRules.get, who, nodeColumns),
  );

const findFreeze = async (rooms: Rooms, who: Caller, ident: string): Promise<ListedFreeze | undefined> => {
  const id = asUuid(ident) as FreezeUuid | undefined;
  const freeze = id && (await rooms.inventory.freezes.find(id));
  const seen =
    freeze && [freezeRules.node, freezeRules.get].every((rule) => rooms.policy().allows(rule, who, nodeTarget(freeze)));
  return seen ? freeze : undefined;
};

/** The freeze that a caller names and may see. Throws FreezeNotFound alike for missing and hidden ones. */
const visibleFreeze = async (rooms: Rooms, who: Caller, ident: string): Promise<ListedFreeze> =>
  (await findFreeze(rooms, who, ident)) ?? raise('FreezeNotFound', { freeze: ident });

/** The freeze after which the page begins, if the list may hold it. Throws MarkerNotFound. */
const markerOf = async (
  rooms: Rooms,
  asking: Asking<unknown, ListQuery, unknown>,
  node: NodeUuid | undefined,
): Promise<FreezeUuid | undefined> => {
  const { marker } = asking.query;
  if (marker === undefined) return undefined;
  const found = await findFreeze(rooms, asking.who, marker);
  return found && (!node || found.node_uuid === node) ? found.id : raise('MarkerNotFound', { marker });
};

const answerList = async (
  rooms: Rooms,
  asking: Asking<unknown, ListQuery, unknown>,
  node?: NodeUuid,
): Promise<Answer> => {
  const { limit: most, all } = asking.query;
  const after = await markerOf(rooms, asking, node);
  const rows = await rooms.inventory.freezes.list({
    visible: visible(rooms, asking.who),
    node,
    all,
    limit: most,
    after,
  });
  return ok({ freezes: rows.map((row) => freezeView(row, row.node_name)) });
};

const listOfNode = async (asking: Asking<OfNode, ListQuery, unknown>, rooms: Rooms): Promise<Answer> => {
  const node = await shownNode(rooms, asking);
  rooms.policy().require(freezeRules.get, asking.who, nodeTarget(node));
  return answerList(rooms, asking, node.uuid);
};

const create = async (asking: Asking<OfNode, unknown, FreezeBody>, rooms: Rooms): Promise<Answer> => {
  const node = await shownNode(rooms, asking);
  const policy = rooms.policy();
  policy.require(freezeRules.create, asking.who, nodeTarget(node));
  const { reason, until = null } = asking.body;
  // The store's clock also decides when it ends; this process's may be another.
  if (until && until.getTime() <= (await rooms.inventory.clock()))
    raise('InvalidInput', { field: 'until', reason: 'is over already; give a time to come, or none' });
  const freeze = await rooms.inventory.transaction(async (store) => {
    const made = await store.freezes.create({ node_uuid: node.uuid, reason, until, requester: requesterOf(asking) });
    await auditAndEvent(store, policy, asking, {
      action: 'freeze.create',
      kind: 'node.frozen',
      rule: freezeRules.create,
      resource: 'freeze',
      resource_id: made.id,
      node,
      data: { node_uuid: node.uuid, reason, until: iso(until) },
    });
    return made;
  });
  return created(freezeView(freeze, node.name), `${asking.base}/temper/v1/freezes/${freeze.id}`);
};

/** Notifies the run that waits for it. The request does not wait for that: a run that misses it reads for itself. */
const thawed = (rooms: Rooms, node: NodeUuid): void => {
  rooms.runs
    .agentContact({ node, kind: 'thaw' })
    .catch((thrown) => rooms.log.warn('freeze ended, run not notified', { node_uuid: node, reason: String(thrown) }));
};

const end = async (asking: Asking<OfFreeze, unknown, unknown>, rooms: Rooms): Promise<Answer> => {
  const freeze = await visibleFreeze(rooms, asking.who, asking.params.freeze);
  const policy = rooms.policy();
  policy.require(freezeRules.delete, asking.who, nodeTarget(freeze));
  await rooms.inventory.transaction(async (store) => {
    if (!(await store.freezes.end(freeze.id, requesterOf(asking))))
      raise('Conflict', { reason: `Freeze ${freeze.id} is no longer active.` });
    await auditAndEvent(store, policy, asking, {
      action: 'freeze.delete',
      kind: 'node.thawed',
      rule: freezeRules.delete,
      resource: 'freeze',
      resource_id: freeze.id,
      node: { ...freeze, uuid: freeze.node_uuid },
      data: { node_uuid: freeze.node_uuid, reason: freeze.reason },
    });
  });
  thawed(rooms, freeze.node_uuid);
  return noContent();
};

export const freezeRoutes: Route[] = [
  route<OfNode, ListQuery>({
    method: 'GET',
    path: '/temper/v1/nodes/:node/freezes',
    answers: { 200: shapes.freezes },
    rules: [freezeRules.node, freezeRules.get],
    query: listQuery,
    handler: listOfNode,
  }),
  route<OfNode, unknown, FreezeBody>({
    method: 'POST',
    path: '/temper/v1/nodes/:node/freezes',
    answers: { 201: shapes.freeze },
    rules: [freezeRules.node, freezeRules.create],
    body: freezeBody,
    handler: create,
  }),
  route<unknown, ListQuery>({
    method: 'GET',
    path: '/temper/v1/freezes',
    answers: { 200: shapes.freezes },
    rules: [freezeRules.node, freezeRules.get],
    query: listQuery,
    handler: (asking, rooms) => answerList(rooms, asking),
  }),
  route<OfFreeze>({
    method: 'GET',
    path: '/temper/v1/freezes/:freeze',
    answers: { 200: shapes.freeze },
    rules: [freezeRules.node, freezeRules.get],
    handler: async (asking, rooms) => {
      const freeze = await visibleFreeze(rooms, asking.who, asking.params.freeze);
      return ok(freezeView(freeze, freeze.node_name));
    },
  }),
  route<OfFreeze>({
    method: 'DELETE',
    path: '/temper/v1/freezes/:freeze',
    rules: [freezeRules.node, freezeRules.get, freezeRules.delete],
    handler: end,
  }),
];
