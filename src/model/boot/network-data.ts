/**
 * The network of a ramdisk without DHCP: checks a node's `network_data` (links, networks, services as in OpenStack's config drives) and
 * renders it as files.
 */
import {
  type Family,
  ipAddressOf,
  isOf,
  linkIdOf,
  listedValue,
  listOf,
  macOf,
  refuseNetwork,
  type Values,
  wholeOf,
  withPrefix,
} from './network-values';

/** Relative to the ramdisk's root. */
export type NetworkFile = { readonly path: string; readonly content: string };

/** Bytes: the area of small files without the room for the API's authorities. */
export const longestNetwork = 24 * 1024;
const most = { links: 32, networks: 64, services: 8, routes: 64 } as const;

/** Section lines for networkd. */
type Addressed = {
  readonly network: readonly string[];
  readonly routes: readonly string[];
  readonly dhcp: 'ipv4' | 'ipv6' | null;
};

const routeOf = (route: Values, family: Family, where: string): string => {
  const gateway = ipAddressOf(route.gateway, family, `${where}.gateway`);
  return [
    '[Route]',
    `Destination=${withPrefix(route.network, route.netmask, family, `${where}.network`)}`,
    `Gateway=${gateway}`,
  ].join('\n');
};

const dnsLines = (services: unknown, where: string): string[] =>
  listOf(services, where, most.services).flatMap(({ type, address }, at) => {
    if (type !== 'dns') return [];
    const known = typeof address === 'string' && (isOf(4, address) || isOf(6, address));
    return known ? [`DNS=${address}`] : refuseNetwork(`${where}[${at}].address`, 'must be an IP address');
  });

const everywhere: Readonly<Record<Family, string>> = { 4: '0.0.0.0/0', 6: '::/0' };

const staticOf = (network: Values, family: Family, where: string): Addressed => {
  const address = withPrefix(network.ip_address, network.netmask, family, `${where}.ip_address`);
  const routes = listOf(network.routes, `${where}.routes`, most.routes);
  const { gateway } = network;
  const first = gateway == null ? [] : [{ network: everywhere[family], gateway }];
  return {
    network: [`Address=${address}`, ...dnsLines(network.services, `${where}.services`)],
    routes: [...first, ...routes].map((one, at) => routeOf(one as Values, family, `${where}.routes[${at}]`)),
    dhcp: null,
  };
};

const asked =
  (dhcp: Addressed['dhcp'], ...network: string[]) =>
  (): Addressed => ({ network, routes: [], dhcp });

/** By type; openstack/nova:nova/virt/netutils.py and openstack/ironic write these. */
const networkTypes: Readonly<Record<string, (network: Values, where: string) => Addressed>> = {
  ipv4: (network, where) => staticOf(network, 4, where),
  ipv6: (network, where) => staticOf(network, 6, where),
  ipv4_dhcp: asked('ipv4'),
  ipv6_dhcp: asked('ipv6', 'IPv6AcceptRA=yes'),
  ipv6_slaac: asked(null, 'IPv6AcceptRA=yes'),
  'ipv6_dhcpv6-stateless': asked('ipv6', 'IPv6AcceptRA=yes'),
  'ipv6_dhcpv6-stateful': asked('ipv6', 'IPv6AcceptRA=yes'),
};

type Link = {
  readonly id: string;
  readonly kind: 'physical' | 'vlan' | 'bond';
  /** Name of the device, if the ramdisk creates it. */
  readonly name: string;
  readonly mac: string | undefined;
  readonly values: Values;
  readonly where: string;
};

// The virtual kinds are the host's names for what the machine sees as a card.
const linkTypes: Readonly<Record<string, Link['kind']>> = {
  phy: 'physical',
  bridge: 'physical',
  dvs: 'physical',
  hw_veb: 'physical',
  hyperv: 'physical',
  ovs: 'physical',
  tap: 'physical',
  vhostuser: 'physical',
  vif: 'physical',
  vlan: 'vlan',
  bond: 'bond',
};

const bondModes = ['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb', 'balance-alb'];
const bondModeTable = Object.fromEntries(
  bondModes.flatMap((mode, number) => [
    [mode, mode],
    [String(number), mode],
  ]),
);
const hashPolicies = Object.fromEntries(
  ['layer2', 'layer2+3', 'layer3+4', 'encap2+3', 'encap3+4'].map((one) => [one, one]),
);

const linkOf = (values: Values, at: number): Link => {
  const where = `links[${at}]`;
  const kind = listedValue(linkTypes, values.type, `${where}.type`);
  const given = values.ethernet_mac_address ?? (kind === 'vlan' ? values.vlan_mac_address : undefined);
  const mac = given == null && kind !== 'physical' ? undefined : macOf(given, `${where}.ethernet_mac_address`);
  return { id: linkIdOf(values.id, `${where}.id`), kind, name: `${kind}${at}`, mac, values, where };
};

const linksOf = (data: Values): Link[] => {
  const links = listOf(data.links, 'links', most.links).map(linkOf);
  if (new Set(links.map(({ id }) => id)).size < links.length) refuseNetwork('links', 'has two entries with one id');
  const cards = links.filter(({ kind }) => kind === 'physical').map(({ mac }) => mac);
  return new Set(cards).size < cards.length ? refuseNetwork('links', 'has two cards with one MAC address') : links;
};

const linkNamed = (links: readonly Link[], id: unknown, where: string): Link =>
  links.find((one) => one.id === id) ?? refuseNetwork(where, 'names no entry of links');

const membersOf = (links: readonly Link[], { values, where }: Link): Link[] => {
  const named = values.bond_links;
  if (!Array.isArray(named) || named.length === 0) return refuseNetwork(`${where}.bond_links`, 'must name links');
  const members = named.map((id) => linkNamed(links, id, `${where}.bond_links`));
  return members.some(({ kind }) => kind !== 'physical')
    ? refuseNetwork(`${where}.bond_links`, 'must name cards')
    : members;
};

/** Modes may be names, numbers, or numbers as texts. */
const modeOf = (given: unknown): unknown => (typeof given === 'number' ? String(given) : given);

const bondDevice = ({ name, mac, values, where }: Link): string[] => [
  ...['[NetDev]', `Name=${name}`, 'Kind=bond', ...(mac === undefined ? [] : [`MACAddress=${mac}`]), '', '[Bond]'],
  `Mode=${values.bond_mode == null ? 'balance-rr' : listedValue(bondModeTable, modeOf(values.bond_mode), `${where}.bond_mode`)}`,
  `MIIMonitorSec=${values.bond_miimon == null ? 100 : wholeOf(values.bond_miimon, `${where}.bond_miimon`, 0, 60_000)}ms`,
  ...(values.bond_xmit_hash_policy == null
    ? []
    : [
        `TransmitHashPolicy=${listedValue(hashPolicies, values.bond_xmit_hash_policy, `${where}.bond_xmit_hash_policy`)}`,
      ]),
];

const vlanDevice = ({ name, mac, values, where }: Link): string[] => [
  ...['[NetDev]', `Name=${name}`, 'Kind=vlan', ...(mac === undefined ? [] : [`MACAddress=${mac}`]), '', '[VLAN]'],
  `Id=${wholeOf(values.vlan_id, `${where}.vlan_id`, 1, 4094)}`,
];

/** VLANs by their carrier, bonds by their cards. Throws NetworkDataRefused. */
const standing = (links: readonly Link[]) => {
  const carried = new Map<Link, Link[]>();
  const bonded = new Map<Link, Link>();
  for (const link of links) {
    const { kind, values, where } = link;
    if (kind === 'vlan') {
      const carrier = linkNamed(links, values.vlan_link, `${where}.vlan_link`);
      if (carrier.kind === 'vlan') refuseNetwork(`${where}.vlan_link`, 'must name a card or a bond');
      carried.set(carrier, [...(carried.get(carrier) ?? []), link]);
    }
    if (kind !== 'bond') continue;
    for (const member of membersOf(links, link)) {
      if (bonded.has(member)) refuseNetwork(`${where}.bond_links`, 'names a card that is in a bond');
      bonded.set(member, link);
    }
  }
  return { carried, bonded };
};

const matchOf = ({ kind, name, mac }: Link, bonded: boolean): string[] =>
  // A bond changes the address of its cards, except the permanent one.
  kind === 'physical'
    ? ['[Match]', 'Type=ether', bonded ? `PermanentMACAddress=${mac}` : `MACAddress=${mac}`]
    : ['[Match]', `Name=${name}`];

const linkLines = ({ values, where }: Link): string[] =>
  values.mtu == null ? [] : ['', '[Link]', `MTUBytes=${wholeOf(values.mtu, `${where}.mtu`, 68, 65_535)}`];

const dhcpOf = (addressed: readonly Addressed[]): string => {
  const [v4, v6] = (['ipv4', 'ipv6'] as const).map((one) => addressed.some(({ dhcp }) => dhcp === one));
  return v4 && v6 ? 'yes' : v4 ? 'ipv4' : v6 ? 'ipv6' : 'no';
};

type Document = {
  readonly links: readonly Link[];
  readonly addressed: ReadonlyMap<Link, readonly Addressed[]>;
  readonly dns: readonly string[];
};

const networksOf = (data: Values, links: readonly Link[]): Map<Link, Addressed[]> => {
  const found = new Map<Link, Addressed[]>();
  for (const [at, network] of listOf(data.networks, 'networks', most.networks).entries()) {
    const where = `networks[${at}]`;
    const link = linkNamed(links, network.link, `${where}.link`);
    const one = listedValue(networkTypes, network.type, `${where}.type`)(network, where);
    found.set(link, [...(found.get(link) ?? []), one]);
  }
  return found;
};

const networkText = (
  { addressed, dns }: Document,
  link: Link,
  { carried, bonded }: ReturnType<typeof standing>,
): string => {
  const own = addressed.get(link) ?? [];
  const bond = bonded.get(link);
  if (bond && (own.length > 0 || carried.has(link)))
    refuseNetwork(link.where, 'is in a bond, and can have no own network');
  const lines = own.flatMap(({ network }) => network);
  const sections = [
    ...matchOf(link, bond !== undefined),
    ...linkLines(link),
    ...['', '[Network]', `DHCP=${dhcpOf(own)}`, ...new Set([...lines, ...(own.length > 0 ? dns : [])])],
    ...(lines.includes('IPv6AcceptRA=yes') ? [] : ['IPv6AcceptRA=no']),
    ...(bond ? [`Bond=${bond.name}`] : []),
    ...(carried.get(link) ?? []).map(({ name }) => `VLAN=${name}`),
    ...['', '[DHCPv4]', 'ClientIdentifier=mac'],
    ...own.flatMap(({ routes }) => routes.map((route) => `\n${route}`)),
  ];
  return `${sections.join('\n')}\n`;
};

/** systemd-networkd reads files in the order of their names; the ramdisk's own begins with 80. */
const folder = 'etc/systemd/network';
/** In a mounted config drive, for ramdisks that read one. */
const documentPath = 'mnt/config/openstack/latest/network_data.json';

/**
 * The document itself, and files for systemd-networkd with only addresses and numbers of it. None for an empty document. Throws
 * NetworkDataRefused.
 */
export const networkFiles = (data: Values): NetworkFile[] => {
  if (Object.keys(data).length === 0) return [];
  const wrong = ['links', 'networks', 'services'].filter((key) => !Array.isArray(data[key]));
  if (wrong.length > 0) refuseNetwork('', `needs ${wrong.join(', ')} as lists`);
  const links = linksOf(data);
  const document = { links, addressed: networksOf(data, links), dns: dnsLines(data.services, 'services') };
  const stands = standing(links);
  const devices = links.flatMap((link) => {
    const lines = link.kind === 'bond' ? bondDevice(link) : link.kind === 'vlan' ? vlanDevice(link) : undefined;
    return lines ? [{ path: `${folder}/10-${link.name}.netdev`, content: `${lines.join('\n')}\n` }] : [];
  });
  const networks = links.map((link) => ({
    path: `${folder}/10-${link.name}.network`,
    content: networkText(document, link, stands),
  }));
  const files = [{ path: documentPath, content: JSON.stringify(data) }, ...devices, ...networks];
  const bytes = networkBytes(files);
  return bytes > longestNetwork ? refuseNetwork('', `takes ${bytes} bytes, and may take ${longestNetwork}`) : files;
};

/** Bytes in the ramdisk's archive at most: contents, names, and a header for each. */
export const networkBytes = (files: readonly NetworkFile[]): number =>
  files.reduce((sum, { path, content }) => sum + Buffer.byteLength(content) + path.length + 256, 0);
