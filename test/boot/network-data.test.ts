/** network_data of a node as the files of its ramdisk: what is refused, and that nothing of it but addresses and numbers gets into them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContents } from '../../src/boot/contents';
import { filesOf, patchesOf } from '../../src/boot/patches';
import type { Served } from '../../src/inventory/nodes/boot-capabilities';
import { newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { longestNetwork, networkBytes, networkFiles } from '../../src/model/boot/network-data';
import { foundBy } from '../support/found';

const { programs, missing } = foundBy<{ programs: Record<string, string> }>('ramdisk-tools.js');

type Values = Record<string, unknown>;
const mac = '52:54:00:00:00:01';
const card = { id: 'a', type: 'phy', ethernet_mac_address: mac };
const address = { id: 'n', type: 'ipv4', link: 'a', ip_address: '192.0.2.5', netmask: '255.255.255.0' };
const of = (more: Values = {}): Values => ({ links: [card], networks: [address], services: [], ...more });
const textOf = (data: Values, name: string) => networkFiles(data).find(({ path }) => path.endsWith(name))?.content;

test('a card with an address of its own asks for none', () => {
  const routes = [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway: '192.0.2.1' }];
  const data = of({
    links: [{ ...card, ethernet_mac_address: mac.toUpperCase(), mtu: 9000 }],
    networks: [{ ...address, routes, services: [{ type: 'dns', address: '192.0.2.53' }] }],
    services: [{ type: 'dns', address: '2001:db8::53' }],
  });
  expect(textOf(data, 'physical0.network')).toBe(
    [
      '[Match]',
      'Type=ether',
      `MACAddress=${mac}`,
      '',
      '[Link]',
      'MTUBytes=9000',
      '',
      '[Network]',
      'DHCP=no',
      'Address=192.0.2.5/24',
      'DNS=192.0.2.53',
      'DNS=2001:db8::53',
      'IPv6AcceptRA=no',
      '',
      '[DHCPv4]',
      'ClientIdentifier=mac',
      '',
      '[Route]',
      'Destination=0.0.0.0/0',
      'Gateway=192.0.2.1',
      '',
    ].join('\n'),
  );
  expect(JSON.parse(textOf(data, 'openstack/latest/network_data.json')!)).toEqual(data);
});

test('a VLAN on a bond of two cards', () => {
  const links = [
    card,
    { ...card, id: 'b', ethernet_mac_address: '52:54:00:00:00:02' },
    { id: 'c', type: 'bond', bond_links: ['a', 'b'], bond_mode: '802.3ad', ethernet_mac_address: mac },
    { id: 'd', type: 'vlan', vlan_link: 'c', vlan_id: '101' },
  ];
  const networks = [{ id: 'n', type: 'ipv6', link: 'd', ip_address: '2001:db8::5/64', gateway: '2001:db8::1' }];
  const data = of({ links, networks });
  expect(textOf(data, 'bond2.netdev')).toContain('Mode=802.3ad\n');
  expect(textOf(data, 'vlan3.netdev')).toContain('Kind=vlan\n\n[VLAN]\nId=101\n');
  expect(textOf(data, 'physical1.network')).toMatch(/PermanentMACAddress=52:54:00:00:00:02\n[\s\S]*Bond=bond2\n/);
  expect(textOf(data, 'bond2.network')).toMatch(/Name=bond2\n[\s\S]*VLAN=vlan3\n/);
  expect(textOf(data, 'vlan3.network')).toMatch(
    /Address=2001:db8::5\/64\n[\s\S]*Destination=::\/0\nGateway=2001:db8::1\n/,
  );
});

test.each([
  ['ipv4_dhcp', 'DHCP=ipv4'],
  ['ipv6_dhcp', 'DHCP=ipv6'],
  ['ipv6_slaac', 'IPv6AcceptRA=yes'],
])('a network of type %s', (type, line) => {
  expect(textOf(of({ networks: [{ id: 'n', type, link: 'a' }] }), '.network')).toContain(`\n${line}\n`);
});

const many = (count: number, make: (at: number) => Values) => Array.from({ length: count }, (_, at) => make(at));
const hex = (at: number) => at.toString(16).padStart(2, '0');
test.each<[string, Values, RegExp]>([
  ['no list', { links: {}, networks: [], services: [] }, /needs links as lists/],
  ['a list of something else', of({ links: ['a'] }), /links must be a list of objects/],
  ['a type that is none', of({ links: [{ ...card, type: 'infiniband' }] }), /links\[0\]\.type must be one of/],
  ['a type every object has', of({ links: [{ ...card, type: 'constructor' }] }), /links\[0\]\.type must be one of/],
  ['no MAC address', of({ links: [{ ...card, ethernet_mac_address: '' }] }), /must be a MAC address/],
  ['one card twice', of({ links: [card, { ...card, id: 'b' }] }), /two cards with one MAC/],
  [
    'one id twice',
    of({ links: [card, { ...card, ethernet_mac_address: '52:54:00:00:00:02' }] }),
    /two entries with one id/,
  ],
  ['a link that is none', of({ networks: [{ ...address, link: 'x' }] }), /networks\[0\]\.link names no entry/],
  ['an address that is none', of({ networks: [{ ...address, ip_address: '192.0.2.256' }] }), /must be an IPv4 address/],
  ['another family', of({ networks: [{ ...address, ip_address: '2001:db8::1' }] }), /must be an IPv4 address/],
  ['a netmask with holes', of({ networks: [{ ...address, netmask: '255.0.255.0' }] }), /must be a netmask/],
  ['no netmask', of({ networks: [{ ...address, netmask: undefined }] }), /whole number from 0 to 32/],
  ['a second line in an address', of({ networks: [{ ...address, ip_address: '192.0.2.5\nDNS=192.0.2.9' }] }), /IPv4/],
  ['a second line in a MAC address', of({ links: [{ ...card, ethernet_mac_address: `${mac}\n[Network]` }] }), /MAC/],
  ['a zone in an address', of({ networks: [{ ...address, type: 'ipv6', ip_address: 'fe80::1%a\nDNS=x/64' }] }), /IPv6/],
  ['a gateway that is a name', of({ networks: [{ ...address, gateway: 'router' }] }), /must be an IPv4 address/],
  ['a server that is a name', of({ services: [{ type: 'dns', address: 'dns.example.org' }] }), /must be an IP address/],
  ['an MTU of none', of({ links: [{ ...card, mtu: 1e9 }] }), /links\[0\]\.mtu must be a whole number/],
  [
    'a VLAN on a VLAN',
    of({ links: [card, { id: 'b', type: 'vlan', vlan_link: 'b', vlan_id: 1 }] }),
    /a card or a bond/,
  ],
  [
    'a mode of a bond that is no text',
    of({ links: [card, { id: 'b', type: 'bond', bond_links: ['a'], bond_mode: { toString: 'x' } }] }),
    /links\[1\]\.bond_mode must be one of/,
  ],
  ['a VLAN beyond 4094', of({ links: [card, { id: 'b', type: 'vlan', vlan_link: 'a', vlan_id: 4095 }] }), /1 to 4094/],
  ['a bond of nothing', of({ links: [card, { id: 'b', type: 'bond', bond_links: [] }] }), /must name links/],
  ['a bond of itself', of({ links: [card, { id: 'b', type: 'bond', bond_links: ['b'] }] }), /must name cards/],
  ['an address on a card of a bond', of({ links: [card, { id: 'b', type: 'bond', bond_links: ['a'] }] }), /in a bond/],
  [
    'too many links',
    of({ links: many(33, (at) => ({ ...card, id: `${at}`, ethernet_mac_address: `52:54:00:00:00:${hex(at)}` })) }),
    /33 entries, and may have 32/,
  ],
  ['too many networks', of({ networks: many(65, () => address) }), /65 entries/],
  ['too much besides', of({ more: 'x'.repeat(longestNetwork) }), /may take 24576/],
])('refuses %s', (_, data, says) => {
  expect(() => networkFiles(data)).toThrow(says);
});

test('the longest that is taken fits beside the authorities of the API', () => {
  const routes = many(20, (at) => ({ network: `198.51.${at}.0/24`, gateway: '192.0.2.1' }));
  const data = of({
    links: many(16, (at) => ({ ...card, id: `${at}`, ethernet_mac_address: `52:54:00:00:00:${hex(at)}` })),
    networks: many(4, (at) => ({ ...address, link: `${at}`, routes })),
  });
  expect(networkBytes(networkFiles(data))).toBeLessThan(longestNetwork);
  const archive = patchesOf(served(data), newUrlToken(), certificates).at(-1)!.bytes;
  expect(archive.length).toBeLessThanOrEqual(networkBytes(networkFiles(data)) + 4_096);
});

const room = { arguments_at: 0, arguments_bytes: 1_024, files_at: 2_048, files_bytes: 65_536 };
const certificates = [{ path: 'etc/ironic-python-agent/ironic.crt', content: Buffer.from('PEM') }];
const served = (network_data: Values | null, network = false): Served => ({
  node_uuid: 'n' as Served['node_uuid'],
  run_id: 'r' as Served['run_id'],
  arguments: 'quiet',
  inspection_url: null,
  network_data,
  network,
  ramdisk: { iso_sha256: 'a'.repeat(64), iso_bytes: 1 << 20, ...room, kernel_sha256: null, initrd_sha256: null },
});

/** Whether the archive is one that cpio unpacks: names and modes as it lists them. */
const listed = (archive: Uint8Array): string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'network-data-'));
  try {
    const file = join(folder, 'files.img');
    writeFileSync(file, archive);
    execFileSync(programs!.cpio!, ['-idm', '--quiet', '-F', file], { cwd: folder });
    const names = execFileSync('find', ['.', '-type', 'f', '-printf', '%m %P\n'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(readFileSync(join(folder, 'mnt/config/openstack/latest/network_data.json'), 'utf8'))).toEqual(
      of(),
    );
    return names
      .split('\n')
      .filter((name) => name && !name.endsWith('files.img'))
      .sort();
  } finally {
    rmSync(folder, { recursive: true });
  }
};

(programs ? test : test.skip)(
  `the files of one boot are in its image, beside those of all boots, and networkd may read them${programs ? '' : ` (skipped: ${missing})`}`,
  () => {
    const patches = patchesOf(served(of()), newUrlToken(), certificates);
    expect(listed(patches.at(-1)!.bytes)).toEqual([
      '600 etc/ironic-python-agent/ironic.crt',
      '644 etc/systemd/network/10-physical0.network',
      '644 mnt/config/openstack/latest/network_data.json',
    ]);
  },
);

test('what one boot does not fill is zeros of all boots, and a boot without a network of its own has theirs', () => {
  const [one, other] = [of(), of({ networks: [] })].map((data) => patchesOf(served(data), newUrlToken(), certificates));
  expect(one![1]!.bytes).toBe(other![1]!.bytes);
  expect(one![1]!.bytes.every((byte) => byte === 0)).toBe(true);
  expect(one![1]!.bytes).toHaveLength(room.files_bytes);
  expect(one![2]!.bytes.length).toBeLessThan(4_096);
  expect(patchesOf(served(null), newUrlToken(), certificates)).toHaveLength(2);
  expect(filesOf(served(null), certificates)).toBe(certificates);
});

test('a machine that boots by the network is sent them as well', async () => {
  const find = createContents({
    inventory: { bootCapabilities: { served: async () => served(of(), true) } },
    images: { find: async () => undefined },
    files: [],
    log: { info() {}, warn() {} },
  });
  const content = (await find(newUrlToken(), 'files.img'))!;
  const bytes = Buffer.alloc(content.size);
  await content.file.read(bytes, 0, bytes.length, 0);
  expect(bytes.toString('latin1')).toContain('Address=192.0.2.5/24');
});
