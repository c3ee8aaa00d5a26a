/** A port on its way into a portgroup, or in one: what the portgroup demands of it. */
import type { Queries } from '../../../inventory';
import { raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { checkMember } from '../../../model/resources/portgroups';

type MemberPort = {
  readonly uuid?: string;
  readonly portgroup_uuid: string | null;
  readonly pxe_enabled: boolean;
  readonly physical_network: string | null;
};

/**
 * Checks a port of a node against the portgroup that it names, and keeps that from changing for the transaction. Throws
 * InvalidInput alike for a portgroup that is missing and one of another node, Conflict.
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
