/** Create, patch and delete routes of a resource. Each is one transaction with its audit row and event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { patchable } from '../../model/resources/fields';
import { checkHomeFree, type HomeNode } from '../../model/resources/node-resources';
import { nodeTarget } from '../../policy';
import { type AuditedAct, auditAndEvent, resourceChange } from '../audit/record';
import type { ApiContext } from '../context';
import { type Answer, type ApiRequest, created, noContent, ok, type Route, route, type Unread } from '../server/route';
import { refusingDuplicates } from './duplicates';
import {
  type AnyRow,
  collectionPath,
  identIn,
  onePath,
  type PathParams,
  paramsOf,
  type Resource,
  ruleOf,
  type Write,
} from './kit';
import { asShown, shownTo } from './kit-lists';
import { stampLessee } from './lease-writes';
import { attributesOf, checkAttributes, type Operation, type Patcher, patchBody, patcherOf, rulesFor } from './patch';
import { type Context, type FoundRow, findVisible, requireOnHome, scopeOf, visibleHome } from './reach';
import { createGate, createSchema } from './validation';
import { dropSecrets, keepSecrets, type StoredValues, sealedValues, withDefaults, withId } from './values';

type Request = ApiRequest<PathParams, unknown, unknown>;
type Transaction = Context & { readonly ctx: ApiContext; readonly request: Request };

const inTransaction = <T>(ctx: ApiContext, request: Request, work: (context: Transaction) => Promise<T>): Promise<T> =>
  ctx.inventory.transaction((inventory) => work({ policy: ctx.policy, inventory, ctx, request }));

const check = async (resource: Resource, write: Write<AnyRow>): Promise<void> => {
  for (const row of resource.before ?? []) if (row.on.includes(write.act)) await row.check(write);
};

/** @returns the rules that admitted the consequences */
const followUp = async (resource: Resource, write: Write<AnyRow>, stored: AnyRow): Promise<string[]> => {
  const rules: string[] = [];
  for (const row of resource.after ?? [])
    if (row.on.includes(write.act)) rules.push(...(await row.follow({ ...write, stored })));
  return rules;
};

type Written = {
  readonly act: AuditedAct;
  readonly rules: readonly string[];
  readonly row: AnyRow;
  readonly node?: HomeNode;
  readonly values: StoredValues;
};

const recordWrite = (
  { what, recorded }: Resource,
  { ctx, inventory, request }: Transaction,
  { act, rules, row, node, values }: Written,
): Promise<void> => {
  const write = { resource: what, act, rule: rules.join(', '), uuid: row.uuid, node, values };
  const change = resourceChange({ ...write, ...recorded?.(row, { act, body: request.body, values }) });
  return auditAndEvent(inventory, ctx.policy(), request, change);
};

const writeOf = (
  { ctx, inventory, request }: Transaction,
  part: Pick<Write<AnyRow>, 'act' | 'row' | 'values' | 'named'>,
  node?: HomeNode,
  to = node,
): Write<AnyRow> => ({ ...part, ctx, inventory, request, node: node!, to: to! });

/** The node of a new row, after its rule admits. Throws PolicyDenied, InvalidInput, NodeLocked. */
const homeFor = async (
  { home }: Resource,
  context: Transaction,
  rule: string,
  body: StoredValues,
): Promise<HomeNode | undefined> => {
  if (!home) return undefined;
  const { who } = context.request;
  const ident = home.ident?.(body) ?? String(body.node_uuid);
  const node = await visibleHome(context, who, ident, { lock: true });
  // A hidden node counts as one without owner, so the response reveals nothing about it.
  context.policy().require(rule, who, nodeTarget(node ?? { owner: null, lessee: null }));
  if (!node) return raise('InvalidInput', { field: 'node_uuid', reason: `node ${ident} could not be found` });
  checkHomeFree(node);
  return node;
};

/** Limit per kind. An inspection may report 128 interfaces, the largest legitimate use. */
const mostOfNode = 256;

/** Throws Conflict. */
const requireRoom = async ({ what, store }: Resource, { inventory }: Transaction, node: HomeNode): Promise<void> => {
  if (!(await store(inventory).isFull?.(node.uuid, mostOfNode))) return;
  raise('Conflict', { reason: `Node ${node.uuid} has ${mostOfNode} rows of the kind ${what}; delete one first.` });
};

const createRow = async (resource: Resource, context: Transaction, body: StoredValues): Promise<FoundRow> => {
  const { ctx, inventory, request } = context;
  const rule = ruleOf(resource, 'create');
  const node = await homeFor(resource, context, rule, body);
  const named = Object.keys(body);
  const given = { ...withDefaults(resource.table, body), ...(node && { node_uuid: node.uuid }) };
  const whole = resource.checked?.(given, { ctx, request, named }) ?? given;
  const write = writeOf(context, { act: 'create', row: whole as AnyRow & StoredValues, values: whole, named }, node);
  await check(resource, write);
  if (node) await requireRoom(resource, context, node);
  const made = withId(resource.sealing, whole);
  const { values, secrets } = sealedValues(ctx, resource.sealing, made, {}, made.uuid);
  if (node) await stampLessee(inventory, request.who, node);
  const row = await resource.store(inventory).insert!(values);
  await keepSecrets(inventory, resource.sealing, row, secrets);
  const rules = [rule, ...(await followUp(resource, write, row))];
  await recordWrite(resource, context, { act: 'create', rules, row, node, values });
  return { row, node };
};

const shownValues = (resource: Resource, ctx: ApiContext, request: Request, found: FoundRow): StoredValues =>
  resource.shown.full(request.version).represent(asShown(found), shownTo(resource, ctx, request));

const withHeaders = (answer: Answer, more: Readonly<Record<string, string>> | undefined): Answer =>
  more ? { ...answer, headers: { ...answer.headers, ...more } } : answer;

const createRoute = (resource: Resource): Route => {
  const rule = ruleOf(resource, 'create');
  const { parse, home, asks = [], redacting = [] } = resource;
  return route<PathParams, unknown, unknown>({
    method: 'POST',
    path: collectionPath(resource),
    since: resource.since,
    tooOld: resource.tooOld,
    ...(resource.bodyValues && { bodyValues: resource.bodyValues }),
    ...(home
      ? {
          requireAllowed: ({ who, field }: Unread, ctx: ApiContext) =>
            requireOnHome(ctx, who, rule, field('node_uuid') ?? field('node_ident')),
        }
      : { asks: rule }),
    rules: [...(home ? scopeOf(resource).seeing : []), rule, ...asks, ...redacting],
    body: parse ? z.unknown() : createSchema(resource.table),
    ...(!parse && { gate: createGate(resource.table) }),
    handler: async (request, ctx) => {
      const body = parse?.(request.body, request.version) ?? (request.body as StoredValues);
      const found = await refusingDuplicates(resource.table, body, () =>
        inTransaction(ctx, request, (context) => createRow(resource, context, body)),
      );
      const { uuid } = found.row;
      const answer = created(
        shownValues(resource, ctx, request, found),
        `${request.base}${collectionPath(resource)}/${uuid}`,
      );
      return withHeaders(answer, resource.headers?.(ctx, found.row, Object.keys(body)));
    },
  });
};

/** Missing, hidden and foreign nodes get the same text, so it reveals nothing about the node. */
const newHome = async (
  { table }: Resource,
  context: Context,
  who: Caller,
  { old, ident }: { readonly old: HomeNode; readonly ident: string },
): Promise<HomeNode> => {
  const node = await visibleHome(context, who, ident, { lock: true });
  if (node && node.owner === old.owner) return node;
  return raise('InvalidInput', {
    field: 'node_uuid',
    reason: `the ${table.resource} cannot move to node ${ident}: it must exist, be visible to you and have the same owner`,
  });
};

const differing = (before: StoredValues, after: StoredValues): StoredValues =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value)));

/** The changed values of a row, and its node after the patch. Throws for an invalid patch. */
const changesOf = async (
  resource: Resource,
  patched: Patcher,
  context: Transaction,
  { row, node }: FoundRow,
): Promise<{ readonly values: StoredValues; readonly to?: HomeNode }> => {
  const { ctx, request } = context;
  const patch = request.body as Operation[];
  const before = row as unknown as StoredValues;
  const given = resource.patch?.(patched, row, patch) ?? patched(before, patch);
  const whole = resource.checked?.(given, { ctx, request, named: attributesOf(patch) }, row) ?? given;
  const { node_uuid, ...others } = differing(before, whole);
  if (!node) return { values: differing(before, whole) };
  const moves = node_uuid !== undefined;
  const to = moves ? await newHome(resource, context, request.who, { old: node, ident: String(node_uuid) }) : node;
  for (const home of [node, to]) checkHomeFree(home);
  return { values: to.uuid === node.uuid ? others : { ...others, node_uuid: to.uuid }, to };
};

/** The rules of a patch, without repeats. A patch without operations needs the update rule. */
const rulesOf = (resource: Resource, patch: readonly Operation[]): readonly string[] =>
  patch.length === 0 ? [ruleOf(resource, 'update')] : rulesFor(resource.table, patch);

const update = async (resource: Resource, patched: Patcher, context: Transaction): Promise<FoundRow> => {
  const { ctx, inventory, request } = context;
  const { who, version } = request;
  const patch = request.body as Operation[];
  const named = attributesOf(patch);
  const reach = scopeOf(resource);
  const options = { lock: true, version, act: 'update' } as const;
  const found = await findVisible(resource, context, who, identIn(resource, request.params), options);
  const { row, node } = found;
  const admitting = rulesOf(resource, patch);
  if (!reach.ruleFirst) for (const rule of admitting) context.policy().require(rule, who, reach.target(found));
  const { values: given, to } = await changesOf(resource, patched, context, found);
  if (to && to.uuid !== node?.uuid) await requireRoom(resource, context, to);
  const write = writeOf(context, { act: 'update', row, values: given, named }, node, to);
  await check(resource, write);
  const before = row as unknown as StoredValues;
  const { values, secrets } = sealedValues(ctx, resource.sealing, given, before, row.uuid);
  if (to) await stampLessee(inventory, who, to);
  const stored = await refusingDuplicates(resource.table, { ...before, ...values }, () =>
    resource.store(inventory).update(row.uuid, values),
  );
  await keepSecrets(inventory, resource.sealing, stored, secrets);
  const rules = [...admitting, ...(await followUp(resource, write, stored))];
  const changed = Object.fromEntries(named.map((name) => [name, (stored as unknown as StoredValues)[name]]));
  await recordWrite(resource, context, { act: 'update', rules, row: stored, node: to, values: changed });
  return { row: stored, node: to };
};

const patchRoute = (resource: Resource): Route => {
  const patched = patcherOf(resource.table);
  const rule = ruleOf(resource, 'update');
  const { seeing, ruleFirst, target } = scopeOf(resource);
  const { asks = [], redacting = [], table } = resource;
  const rules = new Set([
    rule,
    ...rulesFor(
      table,
      patchable(table).map((name) => ({ op: 'remove', path: `/${name}` })),
    ),
  ]);
  return route<PathParams, unknown, Operation[]>({
    method: 'PATCH',
    path: onePath(resource),
    since: resource.updateSince ?? resource.since,
    tooOld: resource.tooOld,
    ...(resource.bodyValues && { bodyValues: resource.bodyValues }),
    rules: [...seeing, ...rules, ...asks, ...redacting],
    requireAllowed: async ({ who, params, version }, ctx) => {
      if (ruleFirst) return ctx.policy().require(rule, who);
      const found = await findVisible(resource, ctx, who, identIn(resource, params), { version, act: 'update' });
      ctx.policy().require(rule, who, target(found));
    },
    params: paramsOf(resource.param),
    body: patchBody,
    handler: async (request, ctx) => {
      if (ruleFirst) ctx.policy().require(rule, request.who);
      checkAttributes(resource.tableAt?.(request.version) ?? table, request.body, request.version);
      const found = await inTransaction(ctx, request, (context) => update(resource, patched, context));
      const answer = ok(shownValues(resource, ctx, request, found));
      return withHeaders(answer, resource.headers?.(ctx, found.row, attributesOf(request.body)));
    },
  });
};

const removeRow = async (resource: Resource, context: Transaction): Promise<void> => {
  const { inventory, request } = context;
  const { who, version, params } = request;
  const reach = scopeOf(resource);
  const rule = ruleOf(resource, 'delete');
  const options = { lock: true, version, act: 'delete' } as const;
  const found = await findVisible(resource, context, who, identIn(resource, params), options);
  const { row, node } = found;
  if (!reach.ruleFirst) context.policy().require(rule, who, reach.target(found));
  if (node) checkHomeFree(node);
  await check(resource, writeOf(context, { act: 'delete', row, values: {}, named: [] }, node));
  await resource.store(inventory).delete(row.uuid);
  await dropSecrets(inventory, resource.sealing, row.uuid);
  await recordWrite(resource, context, { act: 'delete', rules: [rule], row, node, values: {} });
};

const deleteRoute = (resource: Resource): Route => {
  const { seeing, ruleFirst } = scopeOf(resource);
  const rule = ruleOf(resource, 'delete');
  return route<PathParams>({
    method: 'DELETE',
    path: onePath(resource),
    since: resource.since,
    tooOld: resource.tooOld,
    rules: [...seeing, rule],
    params: paramsOf(resource.param),
    handler: async (request, ctx) => {
      if (ruleFirst) ctx.policy().require(rule, request.who);
      await inTransaction(ctx, request, (context) => removeRow(resource, context));
      return noContent();
    },
  });
};

const routeOf = { create: createRoute, update: patchRoute, delete: deleteRoute } as const;

export const editRoutes = <Row extends AnyRow>(given: Resource<Row>): Route[] => {
  const resource = given as unknown as Resource;
  return (resource.acts ?? (['create', 'update', 'delete'] as const)).map((act) => routeOf[act](resource));
};
