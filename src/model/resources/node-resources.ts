/** Resources of a node (ports, portgroups, volumes), and the node's fields for decisions about them. */
import { raise } from '../errors';
import type { NodeUuid } from '../ids';
import type { PowerState, ProvisionState } from '../lifecycle/states';

export type HomeNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly provision_state: ProvisionState;
  readonly power_state: PowerState | null;
  readonly instance_uuid: string | null;
  readonly maintenance: boolean;
  readonly reservation: string | null;
};

export type NodeResourceRow = { readonly uuid: string; readonly node_uuid: NodeUuid };

const calledOf = (node: HomeNode): string => node.name ?? node.uuid;

/** Throws NodeLocked if a run holds the node. */
export const checkHomeFree = (node: HomeNode): void => {
  if (node.reservation) raise('NodeLocked', { node: calledOf(node) });
};

/** A running node may be using the volume. Throws InvalidState. */
export const checkPoweredOff = (node: HomeNode, verb: string): void => {
  if (node.power_state !== 'power off')
    raise('InvalidState', { verb, node: calledOf(node), state: node.power_state ?? 'unknown power state' });
};

/** At any power state; openstack/ironic:ironic/common/states.py (DELETE_ALLOWED_STATES). */
const givesUp: readonly ProvisionState[] = ['enroll', 'manageable', 'adopt failed'];

/** A running node may be using the volume. Throws InvalidState. */
export const checkRemovable = (node: HomeNode, verb: string): void => {
  if (!givesUp.includes(node.provision_state)) checkPoweredOff(node, verb);
};

/** Minor version from which resources must not change during an inspection. */
const restsInInspectionSince = 39;

/** Throws Conflict. */
export const checkNotInspected = (node: HomeNode, what: string, minor: number): void => {
  if (node.provision_state === 'inspecting' && minor >= restsInInspectionSince)
    raise('Conflict', { reason: `The ${what} of node ${calledOf(node)} cannot change while it is being inspected.` });
};

/** States in which resources may move; in maintenance they always may. */
const idle: readonly ProvisionState[] = ['enroll', 'inspecting', 'inspect wait', 'manageable'];

/** Throws Conflict. */
export const checkMovable = (node: HomeNode, what: string): void => {
  if (!node.maintenance && !idle.includes(node.provision_state))
    raise('Conflict', {
      reason: `A ${what} moves only in the states ${idle.join(', ')} or in maintenance; node ${calledOf(node)} is in "${node.provision_state}".`,
    });
};
