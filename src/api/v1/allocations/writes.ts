/** Owner, rule and candidate nodes of a requested allocation. Only reads. */
import { randomUUID } from 'node:crypto';
import type { Inventory } from '../../../inventory';
import type { NamedNode, NewAllocation } from '../../../inventory/allocations';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { type AllocationUuid, asUuid, type ProjectId } from '../../../model/ids';
import { backfilledIn, backfillFault, isOf } from '../../../model/resources/allocations';
import { isTrait, maxTraits, traitRefusal } from '../../../model/resources/traits';
import { nodeTarget, type Policy } from '../../../policy';

export const createRule = 'baremetal:allocation:create';
export const createRestricted = 'baremetal:allocation:create_restricted';

export type AllocationBody = {
  readonly uuid?: string;
  readonly name?: string | null;
  readonly resource_class?: string;
  readonly traits?: readonly string[];
  readonly candidate_nodes?: readonly string[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly owner?: string | null;
  readonly node?: string | null;
};

/** The caller, the future owner, the admitting rule, and whether candidates must belong to the owner. */
export type Admitted = {
  readonly who: Caller;
  readonly owner: ProjectId | null;
  readonly rule: string;
  readonly restricted: boolean;
};

const ownOnly = (who: Caller, asked: ProjectId | null, rule: string): ProjectId => {
  if (who.project_id === null)
    return raise('PolicyDeniedFor', {
      rule,
      reason: 'An allocation of a project needs a token of that project; any other needs system scope.',
    });
  if (asked !== null && asked !== who.project_id)
    raise('PolicyDeniedFor', {
      rule,
      reason: 'Leave out owner, or name your own project.',
    });
  return who.project_id;
};

/**
 * Evaluates the free rule first, then the restricted one. With system scope the owner is the given one, or none.
 * A project caller names another project only if the restricted rule admits too.
 * openstack/ironic:ironic/api/controllers/v1/allocation.py. Throws PolicyDenied.
 */
export const admit = (policy: Policy, who: Caller, asked: ProjectId | null): Admitted => {
  const ownAlone = policy.allows(createRestricted, who);
  if (!policy.allows(createRule, who)) {
    if (!ownAlone) return raise('PolicyDenied', { rule: createRestricted });
    return { who, owner: ownOnly(who, asked, createRule), rule: createRestricted, restricted: true };
  }
  if (who.system_scope !== null || who.all_powerful) return { who, owner: asked, rule: createRule, restricted: false };
  if (asked !== null && ownAlone) return { who, owner: asked, rule: createRule, restricted: false };
  return { who, owner: ownOnly(who, asked, createRestricted), rule: createRule, restricted: !ownAlone };
};

type AllocationWriteContext = { policy(): Policy; readonly inventory: Pick<Inventory, 'allocations'> };

/** The named nodes, in order. Missing, hidden and foreign ones get the same text. */
const namedNodes = async (
  { policy, inventory }: AllocationWriteContext,
  field: string,
  idents: readonly string[],
  { who, owner, restricted }: Admitted,
): Promise<NamedNode[]> => {
  const found = await inventory.allocations.nodesNamed(idents);
  const byIdent = new Map(found.flatMap((node) => [[node.uuid as string, node] as const, [node.name, node] as const]));
  return idents.map((ident) => {
    const node = byIdent.get(asUuid(ident) ?? ident);
    if (node && (!restricted || isOf(owner, node)) && policy().allows('baremetal:node:get', who, nodeTarget(node)))
      return node;
    const reason = `${ident.slice(0, 80)} is no node that this allocation may name`;
    return raise('InvalidInput', { field, reason: `${reason}; name nodes that exist and that your project may use` });
  });
};

const checkTraits = (traits: readonly string[]): void => {
  const wrong = traits.find((trait) => !isTrait(trait));
  if (wrong !== undefined) raise('InvalidInput', { field: 'traits', reason: traitRefusal(wrong) });
  if (traits.length > maxTraits)
    raise('InvalidInput', { field: 'traits', reason: `at most ${maxTraits} can be asked for; ${traits.length} came` });
};

/** The requested allocation, except for a named node. Throws InvalidInput. */
export const newAllocation = async (
  ctx: AllocationWriteContext,
  body: AllocationBody,
  admitted: Admitted,
): Promise<NewAllocation> => {
  const traits = [...new Set(body.traits ?? [])];
  checkTraits(traits);
  const idents = [...new Set(body.candidate_nodes ?? [])];
  const candidates = idents.length > 0 ? await namedNodes(ctx, 'candidate_nodes', idents, admitted) : [];
  return {
    uuid: (body.uuid ?? randomUUID()) as AllocationUuid,
    name: body.name ?? null,
    resource_class: body.resource_class ?? null,
    traits,
    candidate_nodes: [...new Set(candidates.map(({ uuid }) => uuid))],
    owner: admitted.owner,
    extra: body.extra ?? {},
  };
};

/** The node in use that the allocation records. Throws InvalidInput. */
export const namedNode = async (
  ctx: AllocationWriteContext & { readonly inventory: Pick<Inventory, 'nodes'> },
  ident: string,
  admitted: Admitted,
): Promise<NodeRow> => {
  const [named] = await namedNodes(ctx, 'node', [ident], admitted);
  return (await ctx.inventory.nodes.find({ uuid: named!.uuid })) ?? raise('NodeNotFound', { node: ident });
};

/** The allocation of a node in use. The node gives the missing values. Throws InvalidInput, Conflict, NodeAssociated. */
export const backfilled = (asked: NewAllocation, body: AllocationBody, node: NodeRow): NewAllocation => {
  if (!backfilledIn.includes(node.provision_state))
    raise('Conflict', {
      reason: `Node ${node.uuid} is in state "${node.provision_state}"; an allocation can name a node only in: ${backfilledIn.join(', ')}.`,
    });
  const uuid = body.uuid ?? node.instance_uuid ?? asked.uuid;
  if (node.allocation_uuid !== null || (node.instance_uuid !== null && node.instance_uuid !== uuid))
    raise('NodeAssociated', { node: node.uuid, instance: node.instance_uuid });
  const allocation = {
    ...asked,
    uuid: uuid as AllocationUuid,
    resource_class: asked.resource_class ?? node.resource_class,
    node_uuid: node.uuid,
  };
  if (allocation.resource_class === null)
    raise('InvalidInput', { field: 'resource_class', reason: `is missing, and node ${node.uuid} has none either` });
  const fault = backfillFault(allocation, node);
  if (fault) raise('InvalidInput', fault);
  return allocation;
};
