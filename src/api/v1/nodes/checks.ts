/** Checks of node values for all writers: driver, interfaces, driver_info, properties, names. */

import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { Document } from '../../../model/document';
import { raise } from '../../../model/errors';
import { type DriverName, drivers } from '../../../model/lifecycle/drivers';
import { requireMinor } from '../../../model/resources/microversions';
import {
  interfaceFieldNames,
  nameFault,
  networkDataFault,
  offered,
  propertiesFault,
} from '../../../model/resources/nodes';
import type { ApiContext } from '../../context';
import type { ApiRequest } from '../../server/route';

type NodeCheckValues = Readonly<Record<string, unknown>>;

const refuseIf = (field: string, reason: string | undefined): void => {
  if (reason !== undefined) raise('InvalidInput', { field, reason });
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
