/** Node patches: conflicts with the state, and dependent values. Pure. */
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { interfaceChangeAllowedIn, protectedAllowedIn, states } from '../../../model/lifecycle/states';
import {
  displayName,
  interfaceFieldNames,
  offered,
  patchRefusedIn,
  retireRefusedIn,
} from '../../../model/resources/nodes';
import { attributesOf, type Operation } from '../../resource/patch';

type ChangeValues = Record<string, unknown>;

const conflict = (reason: string): never => raise('Conflict', { reason });

/** A node in maintenance may always drop its instance. */
const releasesInstance = (node: NodeRow, patch: readonly Operation[]): boolean =>
  node.maintenance && patch.length === 1 && patch[0]!.op === 'remove' && patch[0]!.path === '/instance_uuid';

/** Refuses a patch that could disturb a transition. The state decides, not the lock. Throws NodeLocked, Conflict. */
export const checkIdle = (node: NodeRow, ident: string, patch: readonly Operation[], minor: number): void => {
  if (node.reservation !== null && !states[node.provision_state].patch) raise('NodeLocked', { node: ident });
  if (releasesInstance(node, patch)) return;
  const busy = node.target_provision_state !== null && !states[node.provision_state].patch;
  if (busy || patchRefusedIn.some((row) => row.state === node.provision_state && minor >= row.since))
    conflict(`Node ${ident} can not be updated while a state transition is in progress.`);
};

const changed = (node: NodeRow, values: ChangeValues, name: string): boolean =>
  name in values && JSON.stringify(values[name]) !== JSON.stringify(node[name as keyof NodeRow] ?? null);

/** Conflicts: condition and message. */
const conflicts: readonly {
  readonly when: (node: NodeRow, values: ChangeValues) => boolean;
  readonly says: (node: NodeRow) => string;
}[] = [
  {
    when: (node, values) =>
      ['driver', ...interfaceFieldNames].some((name) => changed(node, values, name)) &&
      !node.maintenance &&
      !interfaceChangeAllowedIn.includes(node.provision_state),
    says: (node) =>
      `Driver and interfaces cannot change in state "${node.provision_state}"; set the node to maintenance, or bring it to one of: ${interfaceChangeAllowedIn.join(', ')}.`,
  },
  {
    when: (node, values) =>
      changed(node, values, 'resource_class') &&
      node.resource_class !== null &&
      !interfaceChangeAllowedIn.includes(node.provision_state),
    says: (node) =>
      `The resource class cannot change in state "${node.provision_state}"; bring the node to one of: ${interfaceChangeAllowedIn.join(', ')}.`,
  },
  {
    when: (node, values) => values.driver !== undefined && changed(node, values, 'driver') && node.console_enabled,
    says: () => 'The driver cannot change while the console is enabled.',
  },
  {
    when: (node, values) =>
      typeof values.instance_uuid === 'string' && node.instance_uuid !== null && changed(node, values, 'instance_uuid'),
    says: (node) => `Node ${node.uuid} is associated with instance ${node.instance_uuid}; remove that first.`,
  },
  {
    when: (node, values) =>
      values.instance_uuid === null &&
      node.allocation_uuid !== null &&
      !node.maintenance &&
      !interfaceChangeAllowedIn.includes(node.provision_state),
    says: (node) => `The allocated instance cannot be removed in state "${node.provision_state}".`,
  },
  {
    when: (node, values) =>
      values.protected === true && !node.protected && !protectedAllowedIn.includes(node.provision_state),
    says: (node) =>
      `A node becomes protected in ${protectedAllowedIn.join(' or ')} only; this one is in state "${node.provision_state}".`,
  },
  {
    when: (node, values) => values.retired === true && !node.retired && retireRefusedIn.includes(node.provision_state),
    says: (node) => `A node in state "${node.provision_state}" cannot be retired; bring it to manageable first.`,
  },
];

/** Throws Conflict for the first conflict with the node's state. */
export const checkConflicts = (node: NodeRow, values: ChangeValues): void => {
  for (const row of conflicts) if (row.when(node, values)) conflict(row.says(node));
};

/** Dependent values: a cleared flag clears its reason. */
export const followed = (node: NodeRow, values: ChangeValues): ChangeValues => {
  const more: ChangeValues = {};
  // An allocation ends with its instance.
  if (values.instance_uuid === null && node.allocation_uuid !== null) more.allocation_uuid = null;
  if (values.maintenance === false) Object.assign(more, { maintenance_reason: null, fault: null });
  for (const flag of ['protected', 'retired']) if (values[flag] === false) more[`${flag}_reason`] = null;
  const display = displayName(values.instance_info);
  if (display !== null && (values.instance_name ?? node.instance_name) === null) more.instance_name = display;
  return { ...values, ...more };
};

/** Default interfaces of a new driver, except those in the patch. */
export const resetInterfaces = (driver: string, patch: readonly Operation[]): ChangeValues => {
  const named = attributesOf(patch);
  return Object.fromEntries(
    interfaceFieldNames.filter((field) => !named.includes(field)).map((field) => [field, offered(driver, field)[0]!]),
  );
};
