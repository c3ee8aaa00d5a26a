/** Rules for changes of ports: switch connection, and states of the node. */
import { raise } from '../errors';
import { isMac } from '../ids';
import type { ProvisionState } from '../lifecycle/states';
import type { Port, PortNode } from './ports';

type Connection = Readonly<Record<string, unknown>>;

type ConnectionKey = {
  readonly since?: number;
  readonly until?: number;
  readonly oneOf?: readonly string[];
  /** The refusal at an older version names the needed version. Other keys are refused as unknown. */
  readonly negotiable?: true;
};

// openstack/ironic:ironic/api/schemas/v1/port.py
const connectionKeys: Readonly<Record<string, ConnectionKey>> = {
  port_id: {},
  switch_id: {},
  hostname: {},
  switch_info: {},
  network_type: { since: 64, negotiable: true, oneOf: ['managed', 'unmanaged'] },
  'vtep-logical-switch': { since: 90, until: 104 },
  'vtep-physical-switch': { since: 90, until: 104 },
};

const isDatapathId = (text: string): boolean => /^[0-9a-f]{16}$/i.test(text);

const refuseConnection = (reason: string): never => raise('InvalidInput', { field: 'local_link_connection', reason });

const keysAt = (minor: number): string[] =>
  Object.entries(connectionKeys)
    .filter(([, row]) => minor >= (row.since ?? 1) && minor <= (row.until ?? Infinity))
    .map(([key]) => key);

const checkKey = (key: string, value: unknown, minor: number): void => {
  const known = keysAt(minor);
  const row = connectionKeys[key];
  if (row?.negotiable && minor < row.since!)
    raise('NotAcceptable', {
      reason: `Request not acceptable: local_link_connection.${key} needs API version 1.${row.since}, and this request asks for 1.${minor}.`,
    });
  if (!known.includes(key)) refuseConnection(`unknown key ${key}; known are ${known.join(', ')}`);
  const { oneOf } = connectionKeys[key]!;
  if (typeof value !== 'string') refuseConnection(`${key} must be a text`);
  if (oneOf && !oneOf.includes(value as string)) refuseConnection(`${key} must be one of ${oneOf.join(', ')}`);
};

const identifiesPort = (connection: Connection): boolean =>
  connection.network_type === 'unmanaged' ||
  ('port_id' in connection && ('switch_id' in connection || 'hostname' in connection));

/** Empty, or a port of a switch. Throws InvalidInput, NotAcceptable. Most keys of another minor version are refused as unknown. */
export const checkConnection = (connection: Connection, minor: number): Connection => {
  for (const [key, value] of Object.entries(connection)) checkKey(key, value, minor);
  if (Object.keys(connection).length === 0) return connection;
  if (!identifiesPort(connection))
    refuseConnection('needs port_id with switch_id, port_id with hostname, or network_type unmanaged');
  const { switch_id } = connection;
  if (typeof switch_id !== 'string') return connection;
  if (!isMac(switch_id) && !isDatapathId(switch_id))
    refuseConnection('switch_id must be a MAC address or a datapath id of 16 hexadecimal digits');
  return { ...connection, switch_id: switch_id.toLowerCase() };
};

/** A smart NIC needs its port and host. Throws InvalidInput. */
export const checkSmartNic = (port: Pick<Port, 'is_smartnic' | 'local_link_connection'>): void => {
  const { port_id, hostname } = port.local_link_connection;
  if (port.is_smartnic && !(port_id && hostname))
    raise('InvalidInput', {
      field: 'is_smartnic',
      reason: 'a smart NIC needs port_id and hostname in local_link_connection',
    });
};

/** States in which a connection may change; in maintenance it always may. */
const unconnected: readonly ProvisionState[] = ['enroll', 'inspecting', 'inspect wait', 'manageable'];
const connectionFields = ['portgroup_uuid', 'pxe_enabled', 'local_link_connection', 'physical_network'];

/** Minor version from which ports must not change during an inspection. */
const restsInInspectionSince = 39;

/** Throws NodeLocked or Conflict. openstack/ironic:ironic/conductor/manager.py (update_port) */
export const checkPortUpdate = (node: PortNode, changed: readonly string[], minor: number): void => {
  checkNodeFree(node);
  const called = node.name ?? node.uuid;
  const state = node.provision_state;
  if (state === 'inspecting' && minor >= restsInInspectionSince)
    raise('Conflict', { reason: `Ports of node ${called} cannot change while it is being inspected.` });
  if (node.maintenance) return;
  if (changed.includes('address') && (state === 'active' || node.instance_uuid))
    raise('Conflict', { reason: `The address of a port cannot change while node ${called} is in use.` });
  const connection = changed.filter((field) => connectionFields.includes(field));
  if (connection.length > 0 && !unconnected.includes(state))
    raise('Conflict', {
      reason: `${connection.join(', ')} can change only in the states ${unconnected.join(', ')} or in maintenance; node ${called} is in "${state}".`,
    });
};

/** Throws NodeLocked if a run holds the node. */
const checkNodeFree = (node: PortNode): void => {
  if (node.reservation) raise('NodeLocked', { node: node.name ?? node.uuid });
};

/** A port bound to a network stays. Throws NodeLocked or Conflict. */
export const checkPortDelete = (node: PortNode, port: Pick<Port, 'uuid' | 'internal_info'>): void => {
  checkNodeFree(node);
  if (port.internal_info.tenant_vif_port_id && !node.maintenance)
    raise('Conflict', { reason: `Port ${port.uuid} is attached to a network; detach it first.` });
};
