/** Checks of driver_info: the properties that a node's driver needs. */
import type { NodeRow } from '../inventory/nodes/nodes';
import { systemIdFault, systemUuidFault } from '../model/access/redfish-info';
import { isSecretRef } from '../model/access/secrets';
import type { Document } from '../model/document';
import { raise } from '../model/errors';
import { type DriverName, driverRow, drivers, isDriver, type PropertyRow } from '../model/lifecycle/drivers';
import { type Checks, firstRefusal } from './checks';

/** The driver of this name. Throws InvalidInput. */
export const requireDriver = (driver: unknown): DriverName => {
  if (typeof driver === 'string' && isDriver(driver)) return driver;
  return raise('InvalidInput', {
    field: 'driver',
    reason: `no driver ${String(driver).slice(0, 80)} is enabled here; enabled are: ${Object.keys(drivers).join(', ')}`,
  });
};

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

/** Throws DriverInfoInvalid if driver_info is incomplete or wrong, NoWorker if no worker serves the node. */
export const checkWorkable = (node: NodeRow, ident: string, checks: Checks = firstRefusal): void => {
  checks.try(() => checkDriverInfo(ident, requireDriver(node.driver), node.driver_info, { missing: true }));
  // The query fills in a live worker's name, if there is one.
  if (node.conductor === null)
    checks.try(() => raise('NoWorker', { group: node.conductor_group, driver: node.driver }));
};
