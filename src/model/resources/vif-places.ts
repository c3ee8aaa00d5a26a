/** Which port or portgroup a VIF gets. openstack/ironic:ironic/drivers/modules/network/common.py (get_free_port_like_object) */

/** In the order of creation, which decides between equals. */
export type VifCards = {
  readonly ports: readonly {
    readonly uuid: string;
    readonly portgroup_uuid: string | null;
    readonly physical_network: string | null;
    readonly pxe_enabled: boolean;
    readonly taken: boolean;
  }[];
  readonly portgroups: readonly { readonly uuid: string; readonly taken: boolean }[];
};
type CardPort = VifCards['ports'][number];

export type VifPlace = { readonly port_uuid: string | null; readonly portgroup_uuid: string | null };

type VifWish = {
  readonly port_uuid?: string | undefined;
  readonly portgroup_uuid?: string | undefined;
  /** Physical networks of the VIF's network; any card does if empty. */
  readonly networks?: readonly string[];
};

type Candidate = { readonly place: VifPlace; readonly network: string | null; readonly pxe_enabled: boolean };

const ofPort = ({ uuid, physical_network, pxe_enabled }: CardPort): Candidate => ({
  place: { port_uuid: uuid, portgroup_uuid: null },
  network: physical_network,
  pxe_enabled,
});

/** A named member of a portgroup is no candidate: its group is attached, or none of it. */
const freePorts = ({ ports, portgroups }: VifCards, { port_uuid, portgroup_uuid }: VifWish): CardPort[] => {
  if (portgroup_uuid !== undefined) return [];
  if (port_uuid !== undefined)
    return ports.filter((port) => port.uuid === port_uuid && port.portgroup_uuid === null && !port.taken);
  const broken = portgroups.filter((group) => !group.taken && isBroken(ports, group.uuid)).map(({ uuid }) => uuid);
  return ports.filter((port) => !port.taken && (port.portgroup_uuid === null || broken.includes(port.portgroup_uuid)));
};

/** A single member is attached, so its group is not. */
const isBroken = (ports: VifCards['ports'], group: string): boolean =>
  ports.some((port) => port.portgroup_uuid === group && port.taken);

const freeGroups = ({ ports, portgroups }: VifCards, { port_uuid, portgroup_uuid }: VifWish): Candidate[] => {
  if (port_uuid !== undefined) return [];
  return portgroups.flatMap((group) => {
    const [first] = ports.filter((port) => port.portgroup_uuid === group.uuid);
    const named = portgroup_uuid === undefined || portgroup_uuid === group.uuid;
    if (!named || group.taken || first === undefined || isBroken(ports, group.uuid)) return [];
    const place = { port_uuid: null, portgroup_uuid: group.uuid };
    return [{ place, network: first.physical_network, pxe_enabled: true }];
  });
};

/** Most on a node without ports and portgroups on record: there, nothing else bounds them. */
const mostUnplaced = 256;

/**
 * Prefers a matching physical network, then portgroups, then ports that boot. Undefined if none is free.
 * @param attached how many the node has. One without cards on record has VIFs without a card
 */
export const vifPlace = (cards: VifCards, attached: number, wish: VifWish = {}): VifPlace | undefined => {
  const { networks = [] } = wish;
  if (cards.ports.length + cards.portgroups.length === 0)
    return attached < mostUnplaced ? { port_uuid: null, portgroup_uuid: null } : undefined;
  const reachable = ({ network }: Candidate): boolean =>
    networks.length === 0 || network === null || networks.includes(network);
  const rank = ({ network, place, pxe_enabled }: Candidate): number =>
    (network !== null && networks.includes(network) ? 4 : 0) +
    (place.portgroup_uuid === null ? 0 : 2) +
    (pxe_enabled ? 1 : 0);
  const candidates = [...freePorts(cards, wish).map(ofPort), ...freeGroups(cards, wish)].filter(reachable);
  return candidates.sort((one, other) => rank(other) - rank(one))[0]?.place;
};
