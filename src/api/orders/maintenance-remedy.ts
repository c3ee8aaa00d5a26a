/** Hints in refusals: the role and the command that end a node's maintenance. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { nodeTarget, type PersonaName, type Policy, personas } from '../../policy';

const maintenanceRemedyRule = 'baremetal:node:clear_maintenance';

// The projects of the personas.
const sample = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });

/** Ascending: each role includes those before it. */
const roles = ['reader', 'member', 'manager', 'admin'] as const;

const holders = {
  system: (role: string) => `role ${role} with system scope`,
  owner: (role: string) => `role ${role} in the node's owner project`,
  lessee: (role: string) => `role ${role} in its lessee project`,
} as const;

/** The smallest admitted role of each group. */
const admitted = (policy: Policy): string[] =>
  Object.entries(holders).flatMap(([group, says]) => {
    const role = roles.find((one) =>
      policy.allows(maintenanceRemedyRule, personas[`${group}-${one}` as PersonaName], sample),
    );
    return role === undefined ? [] : [says(role)];
  });

/** The command, or the role that may run it. */
export const maintenanceHint = (policy: Policy, who: Caller, node: NodeRow): string => {
  const command = `baremetal node maintenance unset ${node.name ?? node.uuid}`;
  if (policy.allows(maintenanceRemedyRule, who, nodeTarget(node)))
    return `Rule ${maintenanceRemedyRule} lets you end it: \`${command}\`.`;
  const others = admitted(policy);
  return `You cannot end it: rule ${maintenanceRemedyRule} admits ${others.join(', or ') || 'roles of the operator’s own'}; ask for \`${command}\`.`;
};
