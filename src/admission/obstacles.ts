/** Obstacles on the node: a freeze, a run from before the present lease, maintenance. */
import type { Freeze } from '../inventory/nodes/freezes';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import { nodeTarget, type PersonaName, type Policy, personas } from '../policy';
import type { AdmissionContext } from './context';

const whoOf = ({ requester }: Freeze): string => requester.user_name ?? requester.user_id ?? 'an unnamed caller';

/**
 * Throws NodeFrozen with author, reason and end of an active freeze. Called after the rules and before acceptance.
 * A run that is accepted nevertheless waits for the end of the freeze.
 */
export const refuseFrozen = async (
  ctx: Pick<AdmissionContext, 'inventory'>,
  node: { readonly uuid: NodeUuid },
  ident: string,
): Promise<void> => {
  const freeze = await ctx.inventory.freezes.active(node.uuid);
  if (!freeze) return;
  raise('NodeFrozen', {
    node: ident,
    who: whoOf(freeze),
    until: freeze.until ? `until ${freeze.until.toISOString()}` : 'until an operator ends it',
    reason: freeze.reason,
    freeze: freeze.id,
  });
};

type Tenants = Pick<NodeRow, 'owner' | 'lessee'>;

/** True if the rule admits the caller only because of the node's lessee. */
export const byLeaseAlone = (ctx: AdmissionContext, rule: string, who: Caller, { owner, lessee }: Tenants): boolean =>
  lessee !== null && !ctx.policy().allows(rule, who, nodeTarget({ owner, lessee: null }));

/** Only the owner may end or displace a run from before the present lease. For a lessee the node is busy. Throws NodeLocked. */
export const requireOwnRun = (ctx: AdmissionContext, rule: string, who: Caller, node: NodeRow, ident: string): void => {
  if (node.foreign_run && byLeaseAlone(ctx, rule, who, node)) raise('NodeLocked', { node: ident });
};

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
