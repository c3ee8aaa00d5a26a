/** Configuration of dnsmasq for network boot: DHCP for enrolled machines only, TFTP of boot loaders. */
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { BootMachine } from '../inventory/nodes/network-boots';
import type { DhcpOptions } from '../model/boot/dhcp';
import { BuildFault } from './build';
import { firstPath } from './network';

/** `dir`: absolute path of the folder that dnsmasq reads. */
export type DhcpFolder = DhcpOptions & { readonly dir: string };

/** The folder of host lines, which dnsmasq watches. */
export const machinesFolder = 'machines';
const secureTag = 'temper-secure';

const address = (text: string, what: string): string =>
  isIPv4(text) ? text : badOption(`${what} must be IPv4 addresses, such as 192.0.2.100`);

const badOption = (says: string): never => {
  throw new BuildFault(`${says}.`);
};

const checkedUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : badOption('--url must be a URL, such as http://192.0.2.1:6386');
  if (url.protocol !== 'http:') badOption('--url must begin with http://: boot loaders verify no certificate');
  if (url.pathname !== '/' || url.search || url.hash || url.username)
    badOption('--url must be a host and perhaps a port, no more');
  return url;
};

const numberOf = (ip: string): number => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
type Range = readonly [string, string];
/** Undefined if machines without a node get no address, or get it from another DHCP server. */
const rangeOf = (discovery: DhcpOptions['discovery']): Range | undefined =>
  discovery === true ? undefined : discovery;
const checkApart = ([first, last]: Range, [from, to]: Range): void => {
  if (numberOf(from) > numberOf(to)) badOption('--discovery must begin with its first address');
  if (numberOf(from) <= numberOf(last) && numberOf(first) <= numberOf(to))
    badOption('--discovery must have none of the addresses of --range');
};

/** dnsmasq tags the machines of nodes `known`. It answers others only with discovery. */
const ranges = ({ range, proxy, discovery, netmask, lease }: DhcpFolder): string[] => {
  if (!range) return [`dhcp-range=${proxy},proxy,${netmask}`];
  const given = (ends: Range, tag: string) => `dhcp-range=${tag}${ends.join(',')},${netmask},${lease}`;
  const discovered = rangeOf(discovery);
  return discovered ? [given(range, 'tag:known,'), given(discovered, 'tag:!known,')] : [given(range, '')];
};

const checked = ({ dir, interface: name, range, proxy, discovery, netmask, lease, router }: DhcpFolder): void => {
  // Refuses characters that end a line of dnsmasq's file or start a comment.
  if (!/^\/[A-Za-z0-9._/-]+$/.test(dir))
    badOption('--dir must be an absolute path of letters, digits, dots and dashes');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/.test(name)) badOption('--interface must be the name of a network interface');
  if ((range === undefined) === (proxy === undefined))
    badOption('Give --range, or --proxy if the site has a DHCP server');
  if (discovery !== undefined && (range === undefined) !== (discovery === true))
    badOption('Give --discovery two addresses beside --range, and none beside --proxy');
  for (const text of range ?? []) address(text, 'The two ends of --range');
  const discovered = rangeOf(discovery);
  for (const text of discovered ?? []) address(text, 'The two ends of --discovery');
  if (range && discovered) checkApart(range, discovered);
  for (const [what, text] of [['--proxy', proxy], ['--netmask', netmask], ['--router', router]] as const) // biome-ignore format: one row
    if (text !== undefined) address(text, what);
  if (!/^(?:\d{1,6}[mhd]?|infinite)$/.test(lease)) badOption('--lease must be a time such as 1h');
};

// Client architectures, option 93: https://www.iana.org/assignments/dhcpv6-parameters (processor architecture types).
const firmwareKinds = [
  'dhcp-match=set:bios,option:client-arch,0',
  'dhcp-match=set:uefi,option:client-arch,7',
  'dhcp-match=set:uefi,option:client-arch,9',
  'dhcp-match=set:uefi-http,option:client-arch,16',
  // iPXE sends its user class and its own options.
  'dhcp-userclass=set:ipxe,iPXE',
  'dhcp-match=set:ipxe,175',
];

const loaders = (base: string, secureBoot: boolean): string[] => [
  `dhcp-boot=tag:ipxe,${base}${firstPath}`,
  'dhcp-boot=tag:bios,tag:!ipxe,undionly.kpxe',
  `dhcp-boot=tag:uefi,tag:!ipxe,tag:!${secureTag},snponly.efi`,
  ...(secureBoot ? [`dhcp-boot=tag:uefi,tag:!ipxe,tag:${secureTag},shimx64.efi`] : []),
  `dhcp-boot=tag:uefi-http,tag:!ipxe,tag:!${secureTag},${base}/boot/network/snponly.efi`,
  // Firmware accepts a URL only with this vendor class (UEFI specification, section 24.7).
  'dhcp-option-force=tag:uefi-http,tag:!ipxe,option:vendor-class,HTTPClient',
];

/** In proxy mode, machines get a boot menu of one entry (https://thekelleys.org.uk/dnsmasq/docs/dnsmasq-man.html). */
const services = (base: string, secureBoot: boolean): string[] =>
  [
    ['X86PC', `tag:!ipxe,x86PC,"Temper",undionly.kpxe`],
    ...['X86-64_EFI', 'BC_EFI'].flatMap((kind) => [
      [kind, `tag:!ipxe,tag:!${secureTag},${kind},"Temper",snponly.efi`],
      ...(secureBoot ? [[kind, `tag:!ipxe,tag:${secureTag},${kind},"Temper",shimx64.efi`]] : []),
    ]),
    ...['x86PC', 'X86-64_EFI', 'BC_EFI'].map((kind) => [kind, `tag:ipxe,${kind},"Temper",${base}${firstPath}`]),
  ].map(([, line]) => `pxe-service=${line}`);

/** Throws BuildFault for invalid options. */
export const dnsmasqConfig = (wanted: DhcpFolder): string => {
  checked(wanted);
  const { dir, interface: name, range, discovery, router, url, secureBoot } = wanted;
  const base = checkedUrl(url).origin;
  return [
    '# Made by `temper boot dnsmasq`, which overwrites it.',
    'port=0',
    `interface=${name}`,
    'bind-interfaces',
    ...ranges(wanted),
    router === undefined ? 'dhcp-option=option:router' : `dhcp-option=option:router,${router}`,
    `dhcp-leasefile=${join(dir, 'leases')}`,
    `pid-file=${join(dir, 'dnsmasq.pid')}`,
    `# The boot service keeps the machines that have a node${discovery ? '' : '; all others get nothing'}.`,
    `dhcp-hostsdir=${join(dir, machinesFolder)}`,
    ...(discovery ? [] : ['dhcp-ignore=tag:!known']),
    'enable-tftp',
    `tftp-root=${join(dir, 'tftp')}`,
    ...firmwareKinds,
    ...(range ? loaders(base, secureBoot) : services(base, secureBoot)),
    '',
  ].join('\n');
};

/** GRUB's first configuration, by TFTP. It loads the machine's own from the boot service. */
export const grubStart = (url: string): string =>
  [
    'set timeout=0',
    `set temper=(http,${checkedUrl(url).host})`,
    'export temper',
    'configfile $temper/boot/network/$net_default_mac/grub.cfg',
    '',
  ].join('\n');

export const hostLines = (machines: readonly BootMachine[]): string =>
  machines.map(({ address: mac, secure_boot }) => `${mac}${secure_boot ? `,set:${secureTag}` : ''}\n`).join('');
