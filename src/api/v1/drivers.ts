/** /v1/drivers: drivers that a live worker serves. */

import { z } from 'zod';
import { flag } from '../../admission/schemas';
import { raise } from '../../model/errors';
import { type DriverName, drivers, isDriver } from '../../model/lifecycle/drivers';
import {
  driverProperties,
  driverTable,
  driverValues,
  interfacesSince,
  logicalDiskProperties,
} from '../../model/resources/driver-fields';
import { requireMinor } from '../../model/resources/microversions';
import * as shapes from '../../wire/ironic';
import type { ApiContext } from '../context';
import { chosenFields } from '../resource/lists';
import { links, projections } from '../resource/representation';
import { fieldNames } from '../resource/validation';
import { ok, route } from '../server/route';

const fieldsSince = 77;

const driverView = projections(driverTable, {
  links: (row, { base }) => links(base, `drivers/${row.name}`),
  properties: (row, { base }) => links(base, `drivers/${row.name}/properties`),
});

const names = Object.keys(drivers).sort() as DriverName[];

/** Hosts of live workers by driver, without drivers that have none. */
const hostsByDriver = async ({ inventory }: ApiContext): Promise<Map<DriverName, string[]>> => {
  const alive = (await inventory.workers.list()).filter((worker) => worker.alive);
  const hosts = names.map(
    (name) => [name, alive.filter((one) => one.drivers.includes(name)).map((one) => one.hostname)] as const,
  );
  return new Map(hosts.filter(([, serving]) => serving.length > 0));
};

/** A driver that a live worker serves, and its hosts. Throws DriverNotFound. */
export const liveDriver = async (ctx: ApiContext, name: string): Promise<{ name: DriverName; hosts: string[] }> => {
  const hosts = isDriver(name) ? (await hostsByDriver(ctx)).get(name) : undefined;
  return hosts ? { name: name as DriverName, hosts } : raise('DriverNotFound', { driver: name });
};

const driversQuery = z.strictObject({
  type: z.enum(['classic', 'dynamic']).optional(),
  detail: flag.optional(),
  fields: fieldNames.optional(),
});

const listDrivers = route({
  method: 'GET',
  path: '/v1/drivers',
  rules: ['baremetal:driver:get'],
  query: driversQuery,
  handler: async ({ who, query, version, base }, ctx) => {
    if (query.type !== undefined) requireMinor(version, interfacesSince, 'the parameter type');
    if (query.detail !== undefined) requireMinor(version, interfacesSince, 'the parameter detail');
    if (query.detail && query.fields)
      raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail=true' });
    const fields = chosenFields(driverTable, query.fields, version, fieldsSince);
    ctx.policy().require('baremetal:driver:get', who);
    // Classic drivers no longer exist, but the filter is still valid.
    const live = query.type === 'classic' ? new Map<DriverName, string[]>() : await hostsByDriver(ctx);
    const { represent } = driverView.ofList(version, { fields, detail: query.detail });
    return ok({ drivers: [...live].map(([name, hosts]) => represent(driverValues(name, hosts), { base })) });
  },
});

const driverParams = z.object({ driver_name: z.string() });
const showQuery = z.strictObject({ fields: fieldNames.optional() });

const showDriver = route({
  method: 'GET',
  path: '/v1/drivers/:driver_name',
  rules: ['baremetal:driver:get'],
  params: driverParams,
  query: showQuery,
  handler: async ({ who, params, query, version, base }, ctx) => {
    const fields = chosenFields(driverTable, query.fields, version, fieldsSince);
    ctx.policy().require('baremetal:driver:get', who);
    const { name, hosts } = await liveDriver(ctx, params.driver_name);
    const { represent } = driverView.ofOne(version, fields);
    return ok(represent(driverValues(name, hosts), { base }));
  },
});

const showProperties = route({
  method: 'GET',
  path: '/v1/drivers/:driver_name/properties',
  answers: { 200: shapes.properties },
  rules: ['baremetal:driver:get_properties'],
  params: driverParams,
  handler: async ({ who, params }, ctx) => {
    ctx.policy().require('baremetal:driver:get_properties', who);
    return ok(driverProperties((await liveDriver(ctx, params.driver_name)).name));
  },
});

const raidRule = 'baremetal:driver:get_raid_logical_disk_properties';

const showRaidProperties = route({
  method: 'GET',
  path: '/v1/drivers/:driver_name/raid/logical_disk_properties',
  answers: { 200: shapes.properties },
  since: 12,
  tooOld: 406,
  rules: [raidRule],
  params: driverParams,
  handler: async ({ who, params }, ctx) => {
    ctx.policy().require(raidRule, who);
    const { name } = await liveDriver(ctx, params.driver_name);
    return ok(logicalDiskProperties(name) ?? raise('DriverWithoutRaid', { driver: name }));
  },
});

export const driverRoutes = [listDrivers, showDriver, showProperties, showRaidProperties];
