/** /v1/nodes: lists, a single node, and deletion. */
import { identOf, visibleNode } from '../../../admission/visibility';
import type { NodeSelection } from '../../../inventory/nodes/nodes';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { asUuid } from '../../../model/ids';
import { states } from '../../../model/lifecycle/states';
import { and, never, type Predicate } from '../../../model/predicates';
import { fieldOf } from '../../../model/resources/fields';
import { nodeTable } from '../../../model/resources/nodes';
import { nodeTarget, type Policy } from '../../../policy';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import {
  answerPage,
  askedList,
  chosenFields,
  filterPredicate,
  type ListAsked,
  listQuery,
  pageAsked,
  showQuery,
} from '../../resource/lists';
import { visibleNodes } from '../../resource/visibility';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, noContent, ok, type Route, route } from '../../server/route';
import { type NodeParams, nodeRoute } from './node-route';
import { nodeProjections, shownTo } from './representation';

type NodeQuery = Readonly<Record<string, unknown>>;

const seeChassis = 'baremetal:chassis:get';
/** Rules of node lists. */
export const listRules = ['baremetal:node:list_all', 'baremetal:node:list', 'baremetal:node:get', seeChassis];
export const redactRules = [
  'baremetal:node:get:filter_threshold',
  'baremetal:node:get:last_error',
  'baremetal:node:get:reservation',
  'baremetal:node:get:driver_internal_info',
  'baremetal:node:get:driver_info',
];

/** Children appear only on request. */
const family = async (ctx: ApiContext, filters: ListAsked['filters'], minor: number): Promise<Predicate> => {
  const { parent_node: parent, include_children: included } = filters;
  if (typeof parent === 'string') {
    const uuid = asUuid(parent) ?? (await ctx.inventory.nodes.find(identOf(parent, minor)))?.uuid;
    return uuid ? { is: 'equals', column: 'parent_node', value: uuid } : never;
  }
  return included ? { is: 'true' } : { is: 'null', column: 'parent_node' };
};

const textIn = (value: ListAsked['filters'][string] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/**
 * Refuses the filter by a missing chassis. Only for callers who may read chassis; others must not detect which exist.
 * Throws ChassisNotFound.
 */
const checkChassis = async (ctx: ApiContext, { who }: { readonly who: Caller }, filters: ListAsked['filters']) => {
  const chassis = textIn(filters.chassis_uuid);
  if (chassis === undefined || !ctx.policy().allows(seeChassis, who)) return;
  if (!(await ctx.inventory.chassis.find(chassis))) raise('ChassisNotFound', { chassis });
};

const selection = async (
  ctx: ApiContext,
  policy: Policy,
  request: ApiRequest<unknown, NodeQuery, unknown>,
  { filters }: ListAsked,
): Promise<NodeSelection> => ({
  visible: visibleNodes(policy, request.who, textIn(filters.project)),
  filter: and(filterPredicate(nodeTable, filters), await family(ctx, filters, request.version)),
  description_contains: textIn(filters.description_contains),
  conductor: textIn(filters.conductor),
});

/** A list of nodes. `within`: the path names the chassis, so the `next` link needs no filter. */
export const answerNodes = async (
  request: ApiRequest<unknown, NodeQuery, unknown>,
  ctx: ApiContext,
  { path, all, within }: { path: string; all: boolean; within?: true },
) => {
  const policy = ctx.policy();
  const asked = askedList(nodeTable, request.query, request.version, ctx.settings.maxLimit);
  requireSortable(policy, request);
  const selected = await selection(ctx, policy, request, asked);
  await checkChassis(ctx, request, asked.filters);
  const projection = nodeProjections.ofList(request.version, { fields: asked.fields, detail: all || asked.detail });
  const { chassis_uuid: _, ...others } = asked.filters;
  const repeated = within ? { ...asked, filters: others } : asked;
  const page = pageAsked(asked);
  const { nodes } = ctx.inventory;
  return answerPage(nodeTable, repeated, { projection, shown: shownTo(policy, request), path }, (line, base) =>
    nodes.lines(line, base, selected, page),
  );
};

/** Order reveals values. Sorting by a hideable field needs access to it on every node. Throws PolicyDenied. */
const requireSortable = (
  policy: Policy,
  { who, query: { sort_key } }: ApiRequest<unknown, NodeQuery, unknown>,
): void => {
  const row = sort_key === undefined ? undefined : fieldOf(nodeTable, String(sort_key));
  const rule = row?.redact?.rule ?? row?.withoutBmc?.rule;
  if (rule !== undefined) policy.require(rule, who, nodeTarget({ owner: null, lessee: null }));
};

/** The rule that lets this caller delete the node. Throws PolicyDenied. */
const deleteRule = (
  ctx: ApiContext,
  policy: Policy,
  request: ApiRequest<NodeParams, unknown, unknown>,
  node: { owner: string | null; lessee: string | null },
): string => {
  const own = 'baremetal:node:delete:self_owned_node';
  if (policy.allows('baremetal:node:delete', request.who, nodeTarget(node))) return 'baremetal:node:delete';
  if (ctx.settings.projectAdminCanManageOwnNodes && policy.allows(own, request.who, nodeTarget(node))) return own;
  return raise('PolicyDenied', { rule: 'baremetal:node:delete' });
};

const removeNode = async (request: ApiRequest<NodeParams, unknown, unknown>, ctx: ApiContext) => {
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  const policy = ctx.policy();
  const rule = deleteRule(ctx, policy, request, node);
  if (node.protected) raise('NodeProtected', { node: ident });
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
  if (node.instance_uuid !== null && !node.maintenance)
    raise('NodeAssociated', { node: ident, instance: node.instance_uuid });
  const deletable =
    states[node.provision_state].delete &&
    (node.provision_state !== 'available' || ctx.settings.allowDeletingAvailableNodes);
  if (!deletable && !node.maintenance)
    raise('Conflict', {
      reason: `Node ${ident} cannot be deleted while it is in state "${node.provision_state}"; set it to maintenance first.`,
    });
  await ctx.inventory.transaction(async (inventory) => {
    if (!(await inventory.nodes.remove(node))) lostLockRace(ident);
    await Promise.all([
      inventory.secrets.prune('node', node.uuid, []),
      auditAndEvent(inventory, policy, request, {
        action: 'node.delete',
        kind: 'node.deleted',
        rule,
        resource: 'node',
        resource_id: node.uuid,
        node,
        data: { name: node.name, provision_state: node.provision_state },
      }),
    ]);
  });
  return noContent();
};

const listRoute = (path: string, all: boolean): Route =>
  route({
    method: 'GET',
    path: `/v1/${path}`,
    rules: [...listRules, ...redactRules],
    query: listQuery(nodeTable),
    handler: (request, ctx) => answerNodes(request, ctx, { path, all }),
  });

export const nodeRoutes: Route[] = [
  listRoute('nodes', false),
  listRoute('nodes/detail', true),
  nodeRoute('GET', '', {
    rules: redactRules,
    query: showQuery,
    handler: async (request, ctx) => {
      const fields = chosenFields(nodeTable, request.query.fields, request.version);
      const node = await visibleNode(ctx, request, request.params.node_ident);
      const projection = nodeProjections.ofOne(request.version, fields);
      return ok(projection.represent(node, shownTo(ctx.policy(), request)));
    },
  }),
  nodeRoute('DELETE', '', {
    rules: ['baremetal:node:delete', 'baremetal:node:delete:self_owned_node'],
    handler: removeNode,
  }),
];
