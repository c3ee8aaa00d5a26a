/** The runbook of a provision request: whether it may be seen, may be used, and is approved for the node. */
import type { NodeRow } from '../../inventory/nodes';
import type { Caller } from '../../model/callers';
import { raise } from '../../model/errors';
import { inOrder } from '../../model/runbook-steps';
import { type Runbook, runbookApproval } from '../../model/runbooks';
import { nodeTarget, runbookTarget } from '../../policy';
import type { Rooms } from '../rooms';
import { requireStepRules } from './node-steps';
import { findVisibleRunbook } from './visible-runbook';

/** The rule by which a runbook is run on a node; it stands in for the rule of free provisioning. */
export const runRunbook = 'temper:node:run_runbook';

/**
 * The runbook that a request names, ready to run on this node. Throws RunbookNotFound (missing and hidden alike),
 * PolicyDenied, RunbookTraitMissing.
 */
export const usableRunbook = async (
  rooms: Rooms,
  asking: { readonly who: Caller; readonly version: number },
  node: NodeRow,
  ident: string,
): Promise<Runbook> => {
  const { who, version } = asking;
  const runbook = await findVisibleRunbook(rooms, who, ident);
  const policy = rooms.policy();
  policy.require('baremetal:runbook:use', who, runbookTarget(runbook));
  const approval = runbookApproval(runbook, node.traits, version);
  if (!approval.ok)
    raise('RunbookTraitMissing', { runbook: runbook.name, node: node.name ?? node.uuid, wanted: approval.wanted });
  // What a project wrote for itself is bound by the rules of single steps; what an operator published is not.
  if (runbook.owner !== null && !runbook.public) requireStepRules(policy, who, nodeTarget(node), runbook.steps);
  return { ...runbook, steps: inOrder(runbook.steps) };
};
