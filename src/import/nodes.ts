/** Converts a node of Ironic, or refuses it with a reason. */
import { secretRefs } from '../model/access/secrets';
import { type Document, isDocument } from '../model/document';
import { inexactInteger, structureOf } from '../model/json-structure';
import { driverRow, isDriver } from '../model/lifecycle/drivers';
import { states } from '../model/lifecycle/states';
import { interfaceNames } from '../model/lifecycle/step-types';
import { networkDataFault } from '../model/resources/nodes';
import type { SourceRow } from './source';

export type NodeVerdict =
  | { readonly values: Readonly<Record<string, unknown>>; readonly changes: readonly string[] }
  | { readonly refused: string };

/** Refuses one unreadable row; the others are imported. */
export class RowFault extends Error {}

export const fixHint = 'mend it in Ironic, then import again';

/** Nesting limit for recursive functions. Ironic's own writer ends before 1,000. */
const deepest = 1_000;

const parsed = (row: SourceRow, column: string, what: string, is: (value: unknown) => boolean): unknown => {
  const { [column]: text } = row;
  if (text === null || text === undefined) return null;
  if (typeof text !== 'string')
    throw new RowFault(`its ${column} is not stored as text, as Ironic stores it: ${fixHint}`);
  if (structureOf(Buffer.from(text), { depth: deepest, values: Number.POSITIVE_INFINITY }).fault)
    throw new RowFault(`its ${column} has lists and objects deeper than ${deepest} within one another: ${fixHint}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const inexact = value === undefined ? undefined : inexactInteger(text);
  if (inexact !== undefined)
    throw new RowFault(
      `its ${column} has the number ${inexact.slice(0, 40)}, beyond 2^53, which would not be kept exactly: write it as a text in Ironic, then import again`,
    );
  if (value === null || is(value)) return value;
  throw new RowFault(`its ${column} is no JSON ${what}: ${fixHint}`);
};

/** Parses a document in Ironic's form; null is empty. Throws RowFault. */
export const documentOf = (row: SourceRow, column: string): Document =>
  (parsed(row, column, 'object', isDocument) ?? {}) as Document;
/** Throws RowFault. */
export const listOf = (row: SourceRow, column: string): readonly unknown[] =>
  (parsed(row, column, 'list', Array.isArray) ?? []) as readonly unknown[];

/** Throws RowFault if a value looks like Temper's reference to a secret. */
export const refuseReserved = (values: unknown): void => {
  if (secretRefs(values as never).length > 0) throw new RowFault('an object with the single key $secret is reserved');
};

// Columns with the same meaning in both, copied unchecked.
const same = [
  'uuid',
  'name',
  'driver',
  'instance_uuid',
  'instance_name',
  'power_state',
  'provision_state',
  'target_provision_state',
  'provision_updated_at',
  'maintenance',
  'maintenance_reason',
  'fault',
  'last_error',
  'inspection_started_at',
  'inspection_finished_at',
  'resource_class',
  'conductor_group',
  'automated_clean',
  'protected',
  'protected_reason',
  'owner',
  'lessee',
  'description',
  'retired',
  'retired_reason',
  'boot_mode',
  'secure_boot',
  'shard',
  'parent_node',
  'disable_power_off',
  'health',
  'created_at',
  'updated_at',
] as const;

const flags = ['maintenance', 'protected', 'retired', 'disable_power_off'] as const;

/**
 * Parts of driver_internal_info that belong to the instance; the rest are tokens, addresses and step state of Ironic's
 * conductor. Source: openstack/ironic:ironic/conductor/utils.py.
 */
const instanceKeys = ['automatic_lessee', 'deploy_boot_mode', 'is_whole_disk_image', 'root_uuid_or_disk_id'];

const movingText = (row: SourceRow): string | undefined => {
  const state = row.provision_state as keyof typeof states | null;
  if (state === null || !Object.hasOwn(states, state))
    return `its provision state ${state ?? 'none'} is not one that a node rests in`;
  const { kind } = states[state];
  if (kind !== 'stable' && kind !== 'failure') return `it is moving (${state}): wait until it rests, then import again`;
  if (row.reservation !== null) return `conductor ${String(row.reservation)} holds its lock: wait until it is free`;
  if (row.target_power_state !== null) return `its power is being changed to ${String(row.target_power_state)}`;
  return undefined;
};

// Temper would not detach these networks and volumes at the end of the instance.
const attachedBy: Readonly<Record<string, string>> = {
  neutron: 'Neutron',
  cinder: 'Cinder',
  external: 'another service',
};

const attachedText = (row: SourceRow): string | undefined => {
  for (const field of ['network_interface', 'storage_interface'] as const) {
    const service = attachedBy[String(row[field])];
    if (service) return `${field} ${String(row[field])}: ${service} attaches for it, which Temper does not`;
  }
  return undefined;
};

/**
 * In maintenance for a power failure, Ironic polls the BMC every few minutes and ends the maintenance if it answers.
 * Source: openstack/ironic:ironic/conductor/manager.py, _power_failure_recovery.
 */
const drivenText = (row: SourceRow): string | undefined => {
  const otherwise = 'or give --ironic-stopped if its conductors are stopped';
  if (row.maintenance !== true)
    return `it is not in maintenance in Ironic, so both would drive its BMC: set maintenance there first, ${otherwise}`;
  if (row.fault === 'power failure')
    return `its maintenance in Ironic is for a power failure, which Ironic ends automatically: unset and set it there first, ${otherwise}`;
  return undefined;
};

const documentsOf = (row: SourceRow) => {
  const internal = documentOf(row, 'driver_internal_info');
  return {
    driver_info: documentOf(row, 'driver_info'),
    driver_internal_info: Object.fromEntries(
      instanceKeys.flatMap((key) => (key in internal ? [[key, internal[key]]] : [])),
    ),
    properties: documentOf(row, 'properties'),
    extra: documentOf(row, 'extra'),
    instance_info: documentOf(row, 'instance_info'),
    network_data: documentOf(row, 'network_data'),
    raid_config: documentOf(row, 'raid_config'),
    target_raid_config: documentOf(row, 'target_raid_config'),
  };
};

const interfacesOf = (row: SourceRow, changes: string[]): Document => {
  const driver = String(row.driver);
  if (!isDriver(driver)) return {};
  return Object.fromEntries(
    interfaceNames.map((name) => {
      const field = `${name}_interface`;
      const given = row[field] as string | null;
      const known = driverRow(driver).interfaces[name];
      if (given === null || known.includes(given)) return [field, given];
      changes.push(`${field} ${given} is none of Temper’s ${driver}: ${known[0]} instead`);
      return [field, known[0]];
    }),
  );
};

export type NodeFacts = { readonly traits: readonly string[]; readonly tags: number; readonly ironicStopped: boolean };

/** Throws RowFault. */
export const judgeNode = (row: SourceRow, { traits, tags, ironicStopped }: NodeFacts): NodeVerdict => {
  if (!isDriver(String(row.driver))) return { refused: `Temper has no driver ${String(row.driver)}` };
  const refused = movingText(row) ?? attachedText(row);
  if (refused) return { refused };
  const documents = documentsOf(row);
  refuseReserved(documents);
  // This check is last, because the other reasons help before maintenance is set.
  const driven = ironicStopped ? undefined : drivenText(row);
  if (driven) return { refused: driven };
  const changes: string[] = [];
  const networkFault = networkDataFault(documents.network_data);
  if (networkFault) changes.push(`network_data is left out: ${networkFault}`);
  if (tags > 0) changes.push(`${tags} tags are left out: Temper has none`);
  if (row.console_enabled) changes.push('its console is off at Temper until it is switched on');
  return {
    values: {
      ...Object.fromEntries(same.map((name) => [name, row[name] ?? null])),
      ...Object.fromEntries(flags.map((name) => [name, row[name] === true])),
      ...documents,
      ...(networkFault && { network_data: {} }),
      ...interfacesOf(row, changes),
      traits,
    },
    changes,
  };
};
