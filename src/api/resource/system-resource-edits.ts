/** Writes of a resource of the installation: create, patch, delete; each one transaction with its audit row and event. */
import type { Queries } from '../../inventory';
import { type Act, type AuditContext, auditAndEvent, resourceChange } from '../audit/record';
import type { Rooms } from '../context';
import { type Asking, created, noContent, ok, type Route, route } from '../http/route';
import { refusingDuplicates } from './duplicates';
import { attributesOf, checkAttributes, type Operation, type Patcher, patchBody, patcherOf } from './patch';
import {
  collectionPath,
  findRow,
  onePath,
  type Params,
  params,
  type Row,
  ruleOf,
  type SystemResource,
} from './system-resource';
import { createGate, createSchema } from './validation';
import { dropSecrets, keepSecrets, sealedValues, type Values, withDefaults, withId } from './values';

const write = async (
  resource: SystemResource,
  inventory: Queries,
  { rooms, asking, act, row, values }: { rooms: Rooms; asking: AuditContext; act: Act; row: Row; values: Values },
): Promise<void> =>
  auditAndEvent(
    inventory,
    rooms.policy(),
    asking,
    resourceChange({
      resource: resource.what,
      act,
      rule: ruleOf(resource, act),
      uuid: row.uuid,
      values: resource.told?.(values, row) ?? values,
    }),
  );

const createRoute = (resource: SystemResource): Route =>
  route<unknown, unknown, Values>({
    method: 'POST',
    path: collectionPath(resource),
    since: resource.since,
    tooOld: resource.tooOld,
    ...(resource.bodyValues && { bodyValues: resource.bodyValues }),
    asks: ruleOf(resource, 'create'),
    rules: [ruleOf(resource, 'create')],
    body: createSchema(resource.table),
    gate: createGate(resource.table),
    handler: async (asking, rooms) => {
      rooms.policy().require(ruleOf(resource, 'create'), asking.who);
      const given = withDefaults(resource.table, asking.body);
      const checked = resource.checked?.(given, { rooms, asking }) ?? given;
      const made = withId(resource.sealing, checked);
      const { values, secrets } = sealedValues(rooms, resource.sealing, made, {}, made.uuid);
      const row = await refusingDuplicates(resource.table, values, () =>
        rooms.inventory.transaction(async (inventory) => {
          const stored = await resource.store(inventory).insert(values);
          await keepSecrets(inventory, resource.sealing, stored, secrets);
          await write(resource, inventory, { rooms, asking, act: 'create', row: stored, values });
          return stored;
        }),
      );
      const shown = resource.shown.full(asking.version).represent(row, { base: asking.base });
      return created(shown, `${asking.base}${collectionPath(resource)}/${row.uuid}`);
    },
  });

const changed = async (
  resource: SystemResource,
  patched: Patcher,
  asking: Asking<Params, unknown, Operation[]>,
  { rooms, inventory }: { readonly rooms: Rooms; readonly inventory: Queries },
): Promise<Row> => {
  const row = await findRow(resource, inventory, asking.params.ident, { lock: true });
  const given = patched(row, asking.body);
  const checked = resource.checked?.(given, { rooms, asking }, row) ?? given;
  const { values, secrets } = sealedValues(rooms, resource.sealing, checked, row, row.uuid);
  const stored = await refusingDuplicates(resource.table, values, () =>
    resource.store(inventory).update(row.uuid, values),
  );
  await keepSecrets(inventory, resource.sealing, stored, secrets);
  const named = attributesOf(asking.body).map((name) => [name, (stored as Values)[name]]);
  await write(resource, inventory, { rooms, asking, act: 'update', row: stored, values: Object.fromEntries(named) });
  return stored;
};

const patchRoute = (resource: SystemResource): Route => {
  const patched = patcherOf(resource.table);
  return route<Params, unknown, Operation[]>({
    method: 'PATCH',
    path: onePath(resource),
    since: resource.since,
    tooOld: resource.tooOld,
    ...(resource.bodyValues && { bodyValues: resource.bodyValues }),
    rules: [ruleOf(resource, 'update')],
    params,
    body: patchBody,
    handler: async (asking, rooms) => {
      rooms.policy().require(ruleOf(resource, 'update'), asking.who);
      checkAttributes(resource.table, asking.body, asking.version);
      const row = await rooms.inventory.transaction((inventory) =>
        changed(resource, patched, asking, { rooms, inventory }),
      );
      return ok(resource.shown.full(asking.version).represent(row, { base: asking.base }));
    },
  });
};

const deleteRoute = (resource: SystemResource): Route =>
  route<Params>({
    method: 'DELETE',
    path: onePath(resource),
    since: resource.since,
    tooOld: resource.tooOld,
    rules: [ruleOf(resource, 'delete')],
    params,
    handler: async (asking, rooms) => {
      rooms.policy().require(ruleOf(resource, 'delete'), asking.who);
      await rooms.inventory.transaction(async (inventory) => {
        const row = await findRow(resource, inventory, asking.params.ident, { lock: true });
        await resource.deletable?.(inventory, row);
        await resource.store(inventory).delete(row.uuid);
        await dropSecrets(inventory, resource.sealing, row.uuid);
        await write(resource, inventory, { rooms, asking, act: 'delete', row, values: {} });
      });
      return noContent();
    },
  });

/** The routes that write it. */
export const editRoutes = (resource: SystemResource): Route[] => [
  createRoute(resource),
  patchRoute(resource),
  deleteRoute(resource),
];
