/** Discovery of a node's resources at its BMC, only by links. */
import type { z } from 'zod';
import { raise } from '../../../model/errors';
import type { Client, ReadResource } from '../transport/client';
import { ActionInfo, Collection, Manager, PowerOfSystem, ServiceRoot, System } from './resources';

export const serviceRoot = async (client: Client) =>
  (await client.get(`${client.connection.settings.address.prefix}/redfish/v1/`, ServiceRoot)).value;

/** Empty if the BMC does not have the collection. */
export const membersOf = async (client: Client, path: string | undefined): Promise<string[]> =>
  ((await client.find(path, Collection))?.value.Members ?? []).map((member) => member['@odata.id']);

/** Throws DriverInfoInvalid if driver_info names none and there are several. */
const systemPath = async (client: Client): Promise<string> => {
  const { settings } = client.connection;
  if (settings.system !== undefined) return settings.system;
  const found = await membersOf(client, (await serviceRoot(client)).Systems?.['@odata.id']);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) return raise('BmcUnsupported', client.facts({ what: 'any system' }));
  return raise('DriverInfoInvalid', {
    node: client.node.uuid,
    field: 'redfish_system_id',
    reason: `is needed: the BMC at ${client.label} has ${found.length} systems (${found.slice(0, 8).join(', ')})`,
  });
};

export type SystemAt = { readonly path: string; look(): Promise<ReadResource<System>> };

const plainUuid = (uuid: string): string => uuid.replaceAll('-', '').toLowerCase();

/** Throws BmcWrongSystem. The BMC's address may have moved, and a command would reach another owner's node. */
const requireSystem = (client: Client, { UUID }: Pick<System, 'UUID'>): void => {
  const wanted = client.connection.settings.systemUuid;
  if (wanted === undefined || (UUID !== undefined && plainUuid(UUID) === plainUuid(wanted))) return;
  if (UUID === undefined)
    // BMCs omit it for a while when starting.
    raise(
      'BmcServerError',
      client.facts({ status: 200, reason: `its system shows no UUID to compare with ${wanted}` }),
    );
  raise('BmcWrongSystem', client.facts({ found: UUID, wanted }));
};

const lookThere = async <T extends Pick<System, 'UUID'>>(client: Client, path: string, schema: z.ZodType<T>) => {
  const read = await client.get(path, schema);
  requireSystem(client, read.value);
  return read;
};

/** The path is found once per act. */
export const findSystem = async (client: Client): Promise<SystemAt> => {
  const path = await systemPath(client);
  return { path, look: () => lookThere(client, path, System) };
};

export const lookAtPowerOf = async (client: Client): Promise<Pick<System, 'PowerState'>> =>
  (await lookThere(client, await systemPath(client), PowerOfSystem)).value;

/** Finds the system and checks its UUID. */
export const findChecked = async (client: Client): Promise<SystemAt> => {
  const at = await findSystem(client);
  await at.look();
  return at;
};

/** Some BMCs link none; then all managers count. */
export const managerPaths = async (client: Client, system: System): Promise<string[]> => {
  const linked = (system.Links?.ManagedBy ?? []).map((link) => link['@odata.id']);
  return linked.length > 0 ? linked : membersOf(client, (await serviceRoot(client)).Managers?.['@odata.id']);
};

export const findManager = async (client: Client, system: System): Promise<{ path: string; value: Manager }> => {
  const [path] = await managerPaths(client, system);
  if (path === undefined) return raise('BmcUnsupported', client.facts({ what: 'a manager' }));
  return { path, value: (await client.get(path, Manager)).value };
};

type Action = { readonly '@Redfish.ActionInfo'?: string };

/** Allowed values from the action or its ActionInfo; undefined if the BMC lists none. */
export const allowableValues = async (
  client: Client,
  action: (Action & Readonly<Record<string, unknown>>) | undefined,
  parameter: string,
): Promise<readonly string[] | undefined> => {
  const listed = action?.[`${parameter}@Redfish.AllowableValues`] as readonly string[] | undefined;
  if (listed) return listed;
  const info = await client.find(action?.['@Redfish.ActionInfo'], ActionInfo);
  return info?.value.Parameters?.find((row) => row.Name === parameter)?.AllowableValues;
};
