/** Who can take a node out of maintenance, and how: for refusals, so that none is a dead end. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { nodeTarget, type PersonaName, type Policy, personas } from '../../policy';

const maintenanceRemedyRule = 'baremetal:node:clear_maintenance';

// The projects that the personas stand for.
const sample = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });

/** Smallest first: who has one has those before it too. */
const roles = ['reader', 'member', 'manager', 'admin'] as const;

const holders = {
  system: (role: string) => `role ${role} with system scope`,
  owner: (role: string) => `role ${role} in the node's owner project`,
  lessee: (role: string) => `role ${role} in its lessee project`,
} as const;

/** The smallest role of each group that the rule admits. */
const admitted = (policy: Policy): string[] =>
  Object.entries(holders).flatMap(([group, says]) => {
    const role = roles.find((one) =>
      policy.allows(maintenanceRemedyRule, personas[`${group}-${one}` as PersonaName], sample),
    );
    return role === undefined ? [] : [says(role)];
  });

/** What the caller, or a caller with another role, does about a node in maintenance. */
export const maintenanceHint = (policy: Policy, who: Caller, node: NodeRow): string => {
  const command = `baremetal node maintenance unset ${node.name ?? node.uuid}`;
  if (policy.allows(maintenanceRemedyRule, who, nodeTarget(node)))
    return `Rule ${maintenanceRemedyRule} lets you end it: \`${command}\`.`;
  const others = admitted(policy);
  return `You cannot end it: rule ${maintenanceRemedyRule} admits ${others.join(', or ') || 'roles of the operator’s own'}; ask for \`${command}\`.`;
};
