/** A machine room in a network namespace: one bridge, DHCP on it, a BMC emulator, and Temper's own processes. */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startSystem } from '../../e2e/support/system';
import type { Given } from './given';
import { defineMachine, diskBytes, type Machine } from './machine';
import { must, started, until } from './shell';
import { layOutTools, startLibvirt, type ToolsRoot } from './tools-root';

const bridge = 'metal0';
const net = '10.77.0';
const gateway = `${net}.1`;
export const machineAddress = `${net}.51`;
// Ports of a namespace that has nothing else in it.
const [bmcPort, ramdiskPort, bootPort] = [8000, 6387, 6386];

export type Lab = {
  readonly system: System;
  readonly machine: Machine;
  readonly folder: string;
  readonly tools: ToolsRoot;
  readonly image: { readonly url: string; readonly sha256: string; readonly bytes: number; requests(): number };
  /** Redfish settings of the machine's BMC, as driver_info. */
  readonly bmc: Readonly<Record<string, string>>;
  /** The real `baremetal` command, as an operator. */
  baremetal(...args: string[]): Promise<string>;
  /** The `temper` command, as an operator. */
  temper(...args: string[]): Promise<string>;
  /** The API of ramdisks, without /v1. */
  readonly ramdiskApi: string;
  close(): Promise<void>;
};

const openNetwork = async (tools: ToolsRoot, folder: string, mac: string): Promise<void> => {
  await must('ip', ['link', 'set', 'lo', 'up']);
  await must('ip', ['link', 'add', 'name', bridge, 'type', 'bridge']);
  await must('ip', ['address', 'add', `${gateway}/24`, 'dev', bridge]);
  await must('ip', ['link', 'set', bridge, 'up']);
  const dhcp = [
    `--interface=${bridge}`,
    '--bind-interfaces',
    '--except-interface=lo',
    '--port=0',
    '--keep-in-foreground',
  ];
  const leases = [`--dhcp-range=${net}.100,${net}.200,1h`, `--dhcp-host=${mac},${machineAddress}`];
  tools.start(
    join(folder, 'dnsmasq.log'),
    'dnsmasq',
    ...dhcp,
    ...leases,
    '--dhcp-leasefile=/run/leases',
    '--log-facility=-',
    '--log-dhcp',
  );
};

/** What the emulator says of disks: it has no way to read it from libvirt, and answers 500 where it was given nothing. */
const storage = (uuid: string): string[] => [
  `SUSHY_EMULATOR_STORAGE = {'${uuid}': [{'Id': '1', 'Name': 'controller', 'StorageControllers': [], 'Drives': ['a', 'b']}]}`,
  `SUSHY_EMULATOR_DRIVES = {('${uuid}', '1'): [${['a', 'b'].map((disk, at) => `{'Id': '${disk}', 'Name': 'disk ${disk}', 'CapacityBytes': ${diskBytes[at]}, 'Protocol': 'SAS'}`).join(', ')}]}`,
];

const bmcSettings = (folder: string, uuid: string): string =>
  [
    `SUSHY_EMULATOR_LISTEN_IP = '${gateway}'`,
    `SUSHY_EMULATOR_LISTEN_PORT = ${bmcPort}`,
    "SUSHY_EMULATOR_LIBVIRT_URI = 'qemu:///system'",
    "SUSHY_EMULATOR_STORAGE_POOL = 'media'",
    `SUSHY_EMULATOR_STATE_DIR = '${folder}/bmc'`,
    `SUSHY_EMULATOR_AUTH_FILE = '${folder}/bmc.users'`,
    "SUSHY_EMULATOR_BOOT_LOADER_MAP = {'UEFI': {'x86_64': '/usr/share/OVMF/OVMF_CODE_4M.fd'}, 'Legacy': {'x86_64': None}}",
    "SUSHY_EMULATOR_SECURE_BOOT_DISABLED_NVRAM = '/usr/share/OVMF/OVMF_VARS_4M.fd'",
    "SUSHY_EMULATOR_SECURE_BOOT_ENABLED_NVRAM = '/usr/share/OVMF/OVMF_VARS_4M.ms.fd'",
    ...storage(uuid),
    '',
  ].join('\n');

const startBmc = async (tools: ToolsRoot, folder: string, uuid: string): Promise<void> => {
  mkdirSync(join(folder, 'bmc'));
  writeFileSync(join(folder, 'bmc.conf'), bmcSettings(folder, uuid));
  const hash = "import bcrypt; print(bcrypt.hashpw(b'calvin', bcrypt.gensalt(4)).decode(), end='')";
  writeFileSync(join(folder, 'bmc.users'), `root:${await tools.run('python3', '-c', hash)}\n`);
  const program = 'import sys; from sushy_tools.emulator.main import main; sys.exit(main())';
  tools.start(join(folder, 'bmc.log'), 'python3', '-c', program, '--config', join(folder, 'bmc.conf'));
  await until('the BMC', 60_000, () =>
    fetch(`http://${gateway}:${bmcPort}/redfish/v1/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
};

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  return hash.digest('hex');
};

/** A plain web server with one image on the bridge. */
const serveImage = async (file: string): Promise<Lab['image'] & { close(): void }> => {
  const bytes = statSync(file).size;
  let downloads = 0;
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
    if (request.method !== 'GET') return void response.end();
    downloads++;
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, gateway, resolve));
  return {
    url: `http://${gateway}:${(server.address() as AddressInfo).port}/system.raw`,
    sha256: await digestOf(file),
    bytes,
    requests: () => downloads,
    close: () => void server.close(),
  };
};

const settings = {
  TEMPER_BOOT_HOST: gateway,
  TEMPER_BOOT_PORT: String(bootPort),
  TEMPER_RAMDISK_LISTEN: `${gateway}:${ramdiskPort}`,
  TEMPER_BMC_NETWORKS: `${net}.0/24`,
  TEMPER_AGENT_NETWORKS: `${net}.0/24`,
  TEMPER_CLEANING_RUNBOOKS: 'metal=CUSTOM_METADATA',
  // A processor that is emulated, on a busy machine, starts its ramdisk in minutes.
  TEMPER_AGENT_TIMEOUT_MS: '3600000',
};

/** Brings everything up: the machine is powered off, its ramdisk is recorded as `metal`. */
export const openLab = async (given: Given): Promise<Lab> => {
  const work = mkdtempSync(join(tmpdir(), 'temper-metal-'));
  const tools = await layOutTools(given, work);
  const folder = join(work, 'shared');
  const mac = '52:54:00:77:00:01';
  await openNetwork(tools, folder, mac);
  await startLibvirt(tools, folder);
  const machine = await defineMachine(tools, { name: 'metal-1', mac, bridge, accelerator: given.accelerator }, folder);
  await startBmc(tools, folder, machine.uuid);
  const image = await serveImage(given.image);
  const system = await startSystem(0, settings);
  const env = {
    OS_CLIENT_CONFIG_FILE: system.record().addresses.clouds,
    OS_CLOUD: 'operator',
    TEMPER_SYSTEM_FILE: join(system.data, 'system.json'),
  };
  const temper = (...args: string[]) => must(process.execPath, [system.program('temper'), ...args], { env });
  const files = ['--kernel', given.kernel, '--initrd', given.initrd];
  const dir = ['--dir', join(system.data, 'boot')];
  await temper('ramdisk', 'add', 'metal', ...files, '--args', 'console=ttyS0,115200 net.ifnames=0 quiet', ...dir);
  return {
    system,
    machine,
    folder,
    tools,
    image,
    bmc: {
      redfish_address: `http://${gateway}:${bmcPort}`,
      redfish_system_id: `/redfish/v1/Systems/${machine.uuid}`,
      redfish_username: 'root',
      redfish_password: 'calvin',
      deploy_iso: 'ramdisk:metal',
    },
    baremetal: (...args) => must(join(given.clients, 'baremetal'), args, { env }),
    temper,
    ramdiskApi: `http://${gateway}:${ramdiskPort}`,
    async close() {
      image.close();
      await started('chroot', [tools.path, 'virsh', 'destroy', 'metal-1']);
      await system.stop();
      // The mounts go with the namespace; what is below them goes with the folder, later.
      if (process.env.TEMPER_TEST_METAL_KEEP === undefined) rmSync(join(folder, 'metal-1-a.raw'), { force: true });
    },
  };
};
