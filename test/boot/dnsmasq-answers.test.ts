/** A real dnsmasq in network namespaces that end with it: which machines it answers, with which boot loader. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createMachineList } from '../../src/boot';
import { type DhcpFolder, dnsmasqConfig } from '../../src/boot/dnsmasq';
import { foundBy } from '../support/found';

const has = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
const { programs, missing } = foundBy<{ programs: { dnsmasq: string } }>('boot-programs.js', 'dnsmasq');
const namespaces = has('unshare', '-n', 'sh', '-c', 'ip link add name boot0 type veth peer name machine0');
const reason = missing ?? (namespaces ? undefined : 'no ip, or no right to make network namespaces');
const able = reason === undefined ? it : it.skip;
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

const folder = mkdtempSync(join(tmpdir(), 'dnsmasq-'));
afterAll(() => rmSync(folder, { recursive: true }));

// The shell's namespace is the server's; a child's is the machines'. Both end with their processes.
const script = `
set -e
ip link set lo up
ip link add name boot0 type veth peer name machine0
ip addr add 192.0.2.1/24 dev boot0
ip link set boot0 up
unshare -n sleep 120 & machines=$!
"$2" --keep-in-foreground --user=root --conf-file="$1/dnsmasq.conf" --log-facility="$1/log" & server=$!
trap 'kill $machines $server' EXIT
until [ "$(readlink /proc/$machines/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do :; done
ip link set machine0 netns $machines
shift 2
in_machines() { nsenter -t $machines -n "$@"; }
in_machines ip addr add 192.0.2.250/24 dev machine0
in_machines ip link set machine0 up
in_machines ip route add default dev machine0
in_machines "$@"
`;

type Offer = { readonly file: string; readonly address: string };

const answersTo = (machines: readonly string[]): (Offer | null)[] => {
  const client = [process.execPath, resolve('test/boot/support/dhcp-client.js'), ...machines];
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['-n', 'bash', '-c', script, 'bash', folder, programs!.dnsmasq, ...client],
    {
      encoding: 'utf8',
      timeout: 50_000,
    },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as (Offer | null)[];
};

const [bios, secure, unknown] = ['52:54:00:00:00:01', '52:54:00:00:00:02', '52:54:00:00:00:66'];
const asked = [
  `${unknown},0,firmware`,
  `${unknown},7,ipxe`,
  `${bios},0,firmware`,
  `${bios},7,firmware`,
  `${bios},16,firmware`,
  `${secure},7,firmware`,
  `${bios},0,ipxe`,
];
const ofNodes = [
  'undionly.kpxe',
  'snponly.efi',
  'http://192.0.2.1:6386/boot/network/snponly.efi',
  'shimx64.efi',
  'http://192.0.2.1:6386/boot/network/boot.ipxe',
];

const configured = async (more: Pick<DhcpFolder, 'discovery'> = {}): Promise<void> => {
  rmSync(join(folder, 'leases'), { force: true });
  mkdirSync(join(folder, 'tftp'), { recursive: true });
  const config = dnsmasqConfig({
    dir: folder,
    interface: 'boot0',
    range: ['192.0.2.100', '192.0.2.200'],
    netmask: '255.255.255.0',
    lease: '1h',
    url: 'http://192.0.2.1:6386',
    secureBoot: true,
    ...more,
  });
  writeFileSync(join(folder, 'dnsmasq.conf'), config);
  // Half written: dnsmasq passes over files that begin with a dot.
  mkdirSync(join(folder, 'machines'), { recursive: true });
  writeFileSync(join(folder, 'machines', '.half.new'), `${unknown}\n`);
  const machines = [
    { address: bios, secure_boot: false },
    { address: secure, secure_boot: true },
  ];
  await createMachineList({ dir: folder, machines: async () => machines, log: { info() {}, warn() {} } })();
};
const filesOf = (offers: readonly (Offer | null)[]) => offers.map((offer) => offer?.file ?? null);
const lastPart = (offer: Offer | null | undefined) => Number(offer?.address.split('.')[3]);

able(`answers enrolled machines alone, each kind of firmware with its loader${why}`, async () => {
  await configured();
  expect(filesOf(answersTo(asked))).toEqual([null, null, ...ofNodes]);
});

able(`with discovery, answers the others too, with a loader and an address of their own range${why}`, async () => {
  await configured({ discovery: ['192.0.2.210', '192.0.2.212'] });
  const offers = answersTo(asked);
  expect(filesOf(offers)).toEqual(['undionly.kpxe', 'http://192.0.2.1:6386/boot/network/boot.ipxe', ...ofNodes]);
  for (const offer of offers.slice(0, 2)) expect(lastPart(offer)).toBeGreaterThanOrEqual(210);
  for (const offer of offers.slice(2)) expect(lastPart(offer)).toBeLessThanOrEqual(200);
});
