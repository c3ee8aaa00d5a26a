/** Allocations: requests for a node of some kind, with rules for matching and release. */

import { type AllocationUuid, asUuid, isLogicalName, type NodeUuid, type ProjectId } from '../ids';
import { type ProvisionState, states } from '../lifecycle/states';
import type { ResourceTable } from './fields';

export const allocationsSince = 52;
/** Minor version from which name and extra can change. */
export const allocationUpdateSince = 57;
/** Minor version from which a request can name a node in use. */
export const allocationNodeSince = 58;

const allocationStates = ['allocating', 'active', 'error'] as const;
type AllocationState = (typeof allocationStates)[number];

const since = allocationsSince;
const updateAllocation = 'baremetal:allocation:update';

// Source of rows: openstack/ironic:ironic/api/controllers/v1/allocation.py. All lists contain all fields.
export const allocationTable: ResourceTable = {
  resource: 'allocation',
  collection: 'allocations',
  fields: [
    { name: 'uuid', since, type: 'uuid', inList: true, create: 'optional' },
    {
      name: 'name',
      since,
      type: 'text',
      nullable: true,
      inList: true,
      create: 'optional',
      patch: updateAllocation,
      patchSince: allocationUpdateSince,
      max: 255,
      form: {
        is: (text) => isLogicalName(text) && asUuid(text) === undefined,
        says: '1-255 letters, digits and - . _ ~, and not a UUID',
      },
    },
    { name: 'resource_class', since, type: 'text', inList: true, create: 'optional', min: 1, max: 80 },
    { name: 'traits', since, type: 'texts', nullable: true, inList: true, create: 'optional' },
    { name: 'candidate_nodes', since, type: 'texts', nullable: true, inList: true, create: 'optional' },
    {
      name: 'extra',
      since,
      type: 'object',
      nullable: true,
      inList: true,
      create: 'optional',
      patch: updateAllocation,
      patchSince: allocationUpdateSince,
    },
    { name: 'owner', since: 60, type: 'text', nullable: true, inList: true, create: 'optional', min: 1, max: 255 },
    { name: 'node', since, type: 'text', nullable: true, hidden: true, column: null, create: 'optional' },
    { name: 'state', since, type: 'text', inList: true },
    { name: 'node_uuid', since, type: 'uuid', nullable: true, inList: true },
    { name: 'last_error', since, type: 'text', nullable: true, inList: true },
    { name: 'created_at', since, type: 'timestamp', inList: true },
    { name: 'updated_at', since, type: 'timestamp', nullable: true, inList: true },
    { name: 'links', since, type: 'links', column: null, always: true },
  ],
  filters: [
    { name: 'node', since, type: 'text' },
    { name: 'resource_class', since, type: 'text', column: 'resource_class' },
    { name: 'state', since, type: 'text', column: 'state', oneOf: allocationStates },
    { name: 'owner', since: 60, type: 'text', column: 'owner' },
  ],
};

export type Allocation = {
  readonly uuid: AllocationUuid;
  readonly name: string | null;
  readonly resource_class: string | null;
  readonly traits: readonly string[];
  /** Empty: any node. */
  readonly candidate_nodes: readonly string[];
  readonly state: AllocationState;
  readonly node_uuid: NodeUuid | null;
  readonly last_error: string | null;
  readonly owner: ProjectId | null;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export type AllocationWish = Pick<Allocation, 'resource_class' | 'traits' | 'candidate_nodes' | 'owner'>;

/** True if an allocation of this owner may get the node. */
export const isOf = (
  owner: ProjectId | null,
  node: { readonly owner: ProjectId | null; readonly lessee: ProjectId | null },
): boolean => owner === null || node.owner === owner || node.lessee === owner;

/** Numbers of nodes, held ones included: `available` match everything except traits, `suitable` match all. */
export type Shortage = { readonly available: number; readonly suitable: number };

export const failureText = (uuid: string, wish: AllocationWish, { available, suitable }: Shortage): string => {
  const requested = wish.candidate_nodes.length > 0;
  const which =
    suitable > 0
      ? `could not reserve any of ${suitable} suitable nodes`
      : available > 0
        ? `none of the ${requested ? 'requested' : 'available'} nodes of resource class ${wish.resource_class} have the traits ${wish.traits.join(', ')}`
        : requested
          ? `none of the requested nodes are available and match the resource class ${wish.resource_class}`
          : `no available nodes match the resource class ${wish.resource_class}`;
  const whose = wish.owner === null || suitable > 0 ? '' : ` among those that project ${wish.owner} owns or leases`;
  return `Failed to process allocation ${uuid}: ${which}${whose}.`;
};

/** For the case that other requests hold every suitable node; ms. */
export const reserveTries = 3;
export const reservePauseMs = 1_000;

type InUse = {
  readonly provision_state: ProvisionState;
  readonly target_provision_state: ProvisionState | null;
  readonly maintenance: boolean;
};

/** The node must stay with a tenant's running instance. */
const instanceRunsIn: readonly ProvisionState[] = ['active', 'rescue'];

/** True without a running instance and a transition, or in maintenance. */
export const isReleasable = ({ provision_state, target_provision_state, maintenance }: InUse): boolean =>
  maintenance ||
  !(instanceRunsIn.includes(provision_state) || (target_provision_state !== null && !states[provision_state].patch));

export const backfilledIn: readonly ProvisionState[] = ['active'];

/** The field and the reason if a node in use does not fit. */
export const backfillFault = (
  wish: AllocationWish,
  node: {
    readonly uuid: string;
    readonly resource_class: string | null;
    readonly traits: readonly string[];
    readonly owner: ProjectId | null;
    readonly lessee: ProjectId | null;
  },
): { readonly field: string; readonly reason: string } | undefined => {
  const missing = wish.traits.filter((trait) => !node.traits.includes(trait));
  if (wish.resource_class !== node.resource_class)
    return { field: 'resource_class', reason: `node ${node.uuid} is of resource class ${node.resource_class}` };
  if (missing.length > 0) return { field: 'traits', reason: `node ${node.uuid} does not have ${missing.join(', ')}` };
  if (wish.candidate_nodes.length > 0 && !wish.candidate_nodes.includes(node.uuid))
    return { field: 'node', reason: `node ${node.uuid} is not among candidate_nodes` };
  if (!isOf(wish.owner, node))
    return { field: 'owner', reason: `node ${node.uuid} is neither owned nor leased by project ${wish.owner}` };
  return undefined;
};
