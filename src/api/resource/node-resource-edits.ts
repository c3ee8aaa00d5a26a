/** Writes of a resource that belongs to a node: create, patch, delete; each one transaction with its audit row and event. */
import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '../../inventory';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { checkHomeFree, type HomeNode, type NodeResourceRow } from '../../model/resources/node-resources';
import { nodeTarget } from '../../policy';
import { auditAndEvent, resourceChange } from '../audit/record';
import type { Rooms } from '../context';
import { type Asking, created, noContent, ok, type Route, route } from '../http/route';
import { refusingDuplicates } from './duplicates';
import { stampLessee } from './lease-writes';
import {
  besideNode,
  findVisible,
  type NodeResource,
  type Params,
  params,
  requireOnHome,
  ruleOf,
  seesNode,
  shownTo,
  visibleHome,
} from './node-resource';
import { attributesOf, checkAttributes, type Operation, type Patcher, patchBody, patcherOf } from './patch';
import { createGate, createSchema } from './validation';
import { dropSecrets, keepSecrets, sealedValues, type Values, withDefaults, withId } from './values';

type Resource<Row extends NodeResourceRow> = NodeResource<Row>;
type Stored<Row> = { readonly row: Row; readonly node: HomeNode };

const insert = async <Row extends NodeResourceRow>(
  resource: Resource<Row>,
  asking: Asking<unknown, unknown, Values>,
  rooms: Rooms,
  inventory: Queries,
): Promise<Stored<Row>> => {
  const { who, body, version } = asking;
  const ident = String(body.node_uuid);
  const rule = ruleOf(resource, 'create');
  const node = await visibleHome({ ...rooms, inventory }, who, ident, { lock: true });
  // A node that is hidden counts as one without owner, so that the answer reveals nothing of it.
  rooms.policy().require(rule, who, nodeTarget(node ?? { owner: null, lessee: null }));
  if (!node) return raise('InvalidInput', { field: 'node_uuid', reason: `node ${ident} could not be found` });
  checkHomeFree(node);
  const given = withDefaults(resource.table, body);
  await resource.creating?.(given, { inventory, node, version });
  const made = withId(resource.sealing, given);
  const { values, secrets } = sealedValues(rooms, resource.sealing, made, {}, made.uuid);
  await stampLessee(inventory, who, node);
  const row = await resource.store(inventory).insert(values);
  await keepSecrets(inventory, resource.sealing, row, secrets);
  const written = { resource: resource.what, act: 'create', rule, uuid: row.uuid, node, values } as const;
  await auditAndEvent(inventory, rooms.policy(), asking, resourceChange(written));
  return { row, node };
};

const createRoute = <Row extends NodeResourceRow>(resource: Resource<Row>): Route =>
  route<unknown, unknown, Values>({
    method: 'POST',
    path: `/v1/${resource.path}`,
    since: resource.since,
    rules: [seesNode, ruleOf(resource, 'create'), ...resource.redacting],
    requireAllowed: ({ who, field }, rooms) =>
      requireOnHome(rooms, who, ruleOf(resource, 'create'), field('node_uuid')),
    body: createSchema(resource.table),
    gate: createGate(resource.table),
    handler: async (asking, rooms) => {
      const { row, node } = await refusingDuplicates(resource.table, asking.body, () =>
        rooms.inventory.transaction((inventory) => insert(resource, asking, rooms, inventory)),
      );
      const shown = resource.shown.full(asking.version).represent(besideNode(row, node), shownTo(rooms, asking));
      return created(shown, `${asking.base}/v1/${resource.path}/${row.uuid}`);
    },
  });

/** One text for missing, hidden and foreign, so that it reveals nothing of the node. */
const newHome = async <Row extends NodeResourceRow>(
  resource: Resource<Row>,
  rooms: Parameters<typeof visibleHome>[0],
  who: Caller,
  { old, ident }: { readonly old: HomeNode; readonly ident: string },
): Promise<HomeNode> => {
  const node = await visibleHome(rooms, who, ident, { lock: true });
  if (node && node.owner === old.owner) return node;
  return raise('InvalidInput', {
    field: 'node_uuid',
    reason: `the ${resource.table.resource} cannot move to node ${ident}: it must exist, be visible to you and have the same owner`,
  });
};

const differing = (before: Values, after: Values): Values =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value)));

const update = async <Row extends NodeResourceRow>(
  resource: Resource<Row>,
  patched: Patcher,
  asking: Asking<Params, unknown, Operation[]>,
  { rooms, inventory }: { readonly rooms: Rooms; readonly inventory: Queries },
): Promise<Stored<Row>> => {
  const { who, body, version } = asking;
  const here = { ...rooms, inventory };
  const rule = ruleOf(resource, 'update');
  const { row, node } = await findVisible(resource, here, who, asking.params.ident, { lock: true });
  rooms.policy().require(rule, who, nodeTarget(node));
  const before = row as unknown as Values;
  const given = differing(before, patched(before, body));
  const moves = given.node_uuid !== undefined;
  const to = moves ? await newHome(resource, here, who, { old: node, ident: String(given.node_uuid) }) : node;
  for (const home of [node, to]) checkHomeFree(home);
  await resource.changing?.(row, given, { inventory, node, to, version });
  const { values, secrets } = sealedValues(rooms, resource.sealing, given, before, row.uuid);
  await stampLessee(inventory, who, to);
  const stored = await refusingDuplicates(resource.table, { ...before, ...values }, () =>
    resource.store(inventory).update(row.uuid, values),
  );
  await keepSecrets(inventory, resource.sealing, stored, secrets);
  const named = attributesOf(body).map((name) => [name, (stored as unknown as Values)[name]]);
  const written = { resource: resource.what, act: 'update', rule, uuid: row.uuid, node: to } as const;
  const change = resourceChange({ ...written, values: Object.fromEntries(named) });
  await auditAndEvent(inventory, rooms.policy(), asking, change);
  return { row: stored, node: to };
};

const patchRoute = <Row extends NodeResourceRow>(resource: Resource<Row>): Route => {
  const patched = patcherOf(resource.table);
  return route<Params, unknown, Operation[]>({
    method: 'PATCH',
    path: `/v1/${resource.path}/:ident`,
    since: resource.since,
    rules: [seesNode, ruleOf(resource, 'update'), ...resource.redacting],
    requireAllowed: async ({ who, params: { ident = '' } }, rooms) => {
      const { node } = await findVisible(resource, rooms, who, ident);
      rooms.policy().require(ruleOf(resource, 'update'), who, nodeTarget(node));
    },
    params,
    body: patchBody,
    handler: async (asking, rooms) => {
      checkAttributes(resource.table, asking.body, asking.version);
      const { row, node } = await rooms.inventory.transaction((inventory) =>
        update(resource, patched, asking, { rooms, inventory }),
      );
      const { represent } = resource.shown.full(asking.version);
      return ok(represent(besideNode(row, node), shownTo(rooms, asking)));
    },
  });
};

const deleteRoute = <Row extends NodeResourceRow>(resource: Resource<Row>): Route =>
  route<Params>({
    method: 'DELETE',
    path: `/v1/${resource.path}/:ident`,
    since: resource.since,
    rules: [seesNode, ruleOf(resource, 'delete')],
    params,
    handler: async (asking, rooms) => {
      const { who, version } = asking;
      const rule = ruleOf(resource, 'delete');
      await rooms.inventory.transaction(async (inventory) => {
        const here = { ...rooms, inventory };
        const { row, node } = await findVisible(resource, here, who, asking.params.ident, { lock: true });
        rooms.policy().require(rule, who, nodeTarget(node));
        checkHomeFree(node);
        await resource.deleting?.(row, { inventory, node, version });
        await resource.store(inventory).delete(row.uuid);
        await dropSecrets(inventory, resource.sealing, row.uuid);
        const written = { resource: resource.what, act: 'delete', rule, uuid: row.uuid, node, values: {} } as const;
        await auditAndEvent(inventory, rooms.policy(), asking, resourceChange(written));
      });
      return noContent();
    },
  });

/** The routes that write it. */
export const editRoutes = <Row extends NodeResourceRow>(resource: NodeResource<Row>): Route[] => [
  createRoute(resource),
  patchRoute(resource),
  deleteRoute(resource),
];
