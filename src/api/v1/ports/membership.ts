/** Ports of a portgroup: what it requires of a member, and what an attached network keeps in place. */
import type { Queries } from '../../../inventory';
import { raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { checkMember } from '../../../model/resources/portgroups';

/** Throws Conflict if a network is attached by the port or portgroup. */
export const checkUnattached = async (inventory: Queries, what: string, uuid: string): Promise<void> => {
  if (await inventory.vifs.uses(uuid))
    raise('Conflict', { reason: `${what} ${uuid} is attached to a network; detach it first.` });
};

type MemberPort = {
  readonly uuid?: string;
  readonly portgroup_uuid: string | null;
  readonly pxe_enabled: boolean;
  readonly physical_network: string | null;
};

/**
 * Checks a port against its portgroup and locks the portgroup for the transaction.
 * Throws Conflict, and InvalidInput alike for a missing portgroup and one of another node.
 */
export const checkGroup = async (inventory: Queries, node: NodeUuid, port: MemberPort): Promise<void> => {
  if (port.portgroup_uuid === null) return;
  const group = await inventory.portgroups.hold(port.portgroup_uuid, node);
  if (!group)
    return raise('InvalidInput', {
      field: 'portgroup_uuid',
      reason: `portgroup ${port.portgroup_uuid} is unknown on this node`,
    });
  const members = await inventory.portgroups.members(group.uuid);
  checkMember(
    group,
    port,
    members.filter(({ uuid }) => uuid !== port.uuid),
  );
};
