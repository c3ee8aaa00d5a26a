/** Checks of node values for all writers: driver, interfaces, driver_info, properties, names. */

import type { NodeRow } from '../../../inventory/nodes/nodes';
import { systemIdFault, systemUuidFault } from '../../../model/access/redfish-info';
import { isSecretRef } from '../../../model/access/secrets';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import { type DriverName, driverRow, drivers, isDriver, type PropertyRow } from '../../../model/lifecycle/drivers';
import {
  interfaceFieldNames,
  nameFault,
  networkDataFault,
  offered,
  propertiesFault,
} from '../../../model/resources/nodes';
import type { ApiContext } from '../../context';
import { visibleNode } from '../../resource/visibility';
import type { ApiRequest } from '../../server/route';
import { requireMinor } from '../../server/versions';

type NodeCheckValues = Readonly<Record<string, unknown>>;

const refuseIf = (field: string, reason: string | undefined): void => {
  if (reason !== undefined) raise('InvalidInput', { field, reason });
};

/** The driver of this name. Throws InvalidInput. */
export const requireDriver = (driver: unknown): DriverName => {
  if (typeof driver === 'string' && isDriver(driver)) return driver;
  return raise('InvalidInput', {
    field: 'driver',
    reason: `no driver ${String(driver).slice(0, 80)} is enabled here; enabled are: ${Object.keys(drivers).join(', ')}`,
  });
};

/** Names need 1.5, and follow the rules of their version. */
export const checkName = (name: unknown, minor: number): void => {
  if (typeof name !== 'string') return;
  requireMinor(minor, 5, 'field name');
  refuseIf('name', nameFault(name, minor));
};

/** Checks fields that need a special form. */
export const checkForms = (values: NodeCheckValues): void => {
  if (values.properties) refuseIf('properties', propertiesFault(values.properties as Document));
  if (values.network_data) refuseIf('network_data', networkDataFault(values.network_data as Document));
};

/** Refuses an implementation that the driver does not offer. */
export const checkInterfaces = (driver: DriverName, values: NodeCheckValues): void => {
  for (const field of interfaceFieldNames) {
    const wanted = values[field];
    if (typeof wanted !== 'string') continue;
    const known = offered(driver, field);
    if (!known.includes(wanted)) refuseIf(field, `driver ${driver} has no ${wanted}; it has: ${known.join(', ')}`);
  }
};

const defaultsOf = (driver: DriverName) =>
  interfaceFieldNames.map((field) => [field, offered(driver, field)[0]!] as const);

const interfaceDefaults = new Map((Object.keys(drivers) as DriverName[]).map((driver) => [driver, defaultsOf(driver)]));

/** Defaults for the interfaces that these values leave out. */
export const defaultInterfaces = (driver: DriverName, values: NodeCheckValues): Record<string, string> =>
  Object.fromEntries(interfaceDefaults.get(driver)!.filter(([field]) => (values[field] ?? null) === null));

const propertyTypes: Record<PropertyRow['type'], (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean' || /^(true|false)$/i.test(String(value)),
  integer: (value) => /^\d+$/.test(String(value)),
  'boolean or string': (value) => typeof value === 'boolean' || typeof value === 'string',
};

const propertyFault = (row: PropertyRow, value: unknown): string | undefined => {
  if (value === undefined || value === null) return row.required ? `is missing (${row.says})` : undefined;
  if ((row.secret || row.url) && isSecretRef(value)) return undefined;
  if (!propertyTypes[row.type](value)) return `must be a ${row.type}`;
  return row.oneOf && !row.oneOf.includes(String(value)) ? `must be one of ${row.oneOf.join(', ')}` : undefined;
};

// Forms of properties beyond their type, which the worker would check too late.
const forms: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  redfish_system_id: systemIdFault,
  redfish_system_uuid: systemUuidFault,
};

/** The first wrong property in driver_info, as field and reason. `missing` also reports absent required ones. */
const driverInfoFault = (
  driver: DriverName,
  driver_info: Document,
  { missing }: { missing: boolean },
): { field: string; reason: string } | undefined => {
  for (const [field, row] of Object.entries(driverRow(driver).properties)) {
    if (!missing && driver_info[field] === undefined) continue;
    const reason = propertyFault(row, driver_info[field]) ?? forms[field]?.(driver_info[field]);
    if (reason) return { field, reason };
  }
  return undefined;
};

/** Throws DriverInfoInvalid for a wrong property; with `missing`, also for an absent required one. */
export const checkDriverInfo = (
  node: string,
  driver: DriverName,
  driver_info: Document,
  options: { missing: boolean },
): void => {
  const fault = driverInfoFault(driver, driver_info, options);
  if (fault) raise('DriverInfoInvalid', { node, ...fault });
};

/**
 * The UUID of the future parent. Missing, hidden, foreign nodes and the node itself get the same text, so that it reveals
 * nothing.
 */
export const parentUuid = async (
  ctx: ApiContext,
  request: Pick<ApiRequest<unknown, unknown, unknown>, 'who' | 'version'>,
  ident: string,
  child: { readonly uuid?: string; readonly owner: string | null },
): Promise<string> => {
  const parent: NodeRow | undefined = await visibleNode(ctx, request, ident).catch(() => undefined);
  if (!parent || parent.owner !== child.owner || parent.uuid === child.uuid)
    return raise('InvalidInput', {
      field: 'parent_node',
      reason: `${ident.slice(0, 80)} is no node that this one can belong to; it must exist and have the same owner`,
    });
  return parent.uuid;
};
