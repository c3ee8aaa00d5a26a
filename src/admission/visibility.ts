/** Nodes and runbooks that a caller names. A hidden object gives the same response as a missing one. */
import type { Queries } from '../inventory';
import type { NodeIdent } from '../inventory/audit';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import { asUuid, isLogicalName } from '../model/ids';
import { isSubresource, nameFormFault } from '../model/resources/nodes';
import type { Runbook } from '../model/resources/runbooks';
import { nodeTarget, type Policy, runbookTarget } from '../policy';

/** First minor version with names as node identifiers. */
const namesSince = 5;

/** The node identifier in a path segment. Throws InvalidInput for neither UUID nor name, NodeNotFound. */
export const identOf = (ident: string, minor: number): NodeIdent => {
  const uuid = asUuid(ident);
  if (uuid !== undefined) return { uuid };
  if (isSubresource(ident)) raise('NodeNotFound', { node: ident });
  if (!isLogicalName(ident))
    raise('InvalidInput', { field: 'node', reason: 'must be a UUID or, from API version 1.5, a name' });
  // Older versions have no names, so no such node exists.
  if (minor < namesSince) raise('NodeNotFound', { node: ident });
  const fault = nameFormFault(ident, minor);
  if (fault) raise('InvalidInput', { field: 'node', reason: fault });
  return { name: ident };
};

/** The named node, if the caller may see it. Throws NodeNotFound for missing and for hidden ones. */
export const visibleNode = async (
  ctx: { policy(): Policy; readonly inventory: Pick<Queries, 'nodes'> },
  request: { readonly who: Caller; readonly version: number },
  ident: string,
): Promise<NodeRow> => {
  const node = await ctx.inventory.nodes.find(identOf(ident, request.version));
  if (!node || !ctx.policy().allows('baremetal:node:get', request.who, nodeTarget(node)))
    return raise('NodeNotFound', { node: ident });
  return node;
};

/** Throws InvalidInput unless it is a UUID or a name. */
export const requireIdent = (field: string, ident: string): void => {
  if (asUuid(ident) === undefined && !isLogicalName(ident))
    raise('InvalidInput', { field, reason: 'must be a UUID or a name' });
};

/** The runbook with this name or UUID, if the caller may see it. Throws RunbookNotFound, InvalidInput. */
export const findVisibleRunbook = async (
  ctx: { policy(): Policy; readonly inventory: Pick<Queries, 'runbooks'> },
  who: Caller,
  ident: string,
  options: { readonly lock?: boolean } = {},
): Promise<Runbook> => {
  requireIdent('runbook', ident);
  const runbook = await ctx.inventory.runbooks.find(ident, options);
  if (!runbook || !ctx.policy().allows('baremetal:runbook:get', who, runbookTarget(runbook)))
    return raise('RunbookNotFound', { runbook: ident });
  return runbook;
};
