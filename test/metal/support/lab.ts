/** A machine room in a network namespace: one bridge, DHCP on it, a BMC emulator, and Temper's own processes. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type System, startSystem } from '../../e2e/support/system';
import { type BmcConsole, bmcConsole } from './bmc';
import { documented } from './documented';
import type { Given } from './given';
import { type Image, serveImage } from './images';
import { defineMachine, diskBytes, type Machine } from './machine';
import { type Relay, startRelay } from './relay';
import { endBeside, must, started, until } from './shell';
import { layOutTools, startLibvirt, type ToolsRoot } from './tools-root';

const bridge = 'metal0';
const net = '10.77.0';
const gateway = `${net}.1`;
const machineAddress = `${net}.51`;
const mac = '52:54:00:77:00:01';
// Ports of a namespace that has nothing else in it.
const [bmcPort, ramdiskPort, bootPort, relayPort] = [8000, 6387, 6386, 6388];
const bootUrl = `http://${gateway}:${bootPort}`;

export type Lab = {
  readonly system: System;
  readonly machine: Machine;
  readonly folder: string;
  readonly tools: ToolsRoot;
  readonly image: Image;
  /** Between BMCs and the boot service. */
  readonly relay: Relay;
  /** Redfish settings of the machine's BMC, as driver_info. */
  readonly bmc: Readonly<Record<string, string>>;
  /** The real `baremetal` command, as an operator. */
  baremetal(...args: string[]): Promise<string>;
  /** The `temper` command, as an operator. */
  temper(...args: string[]): Promise<string>;
  /** Types a line into a shell that has both, in the lab's folder. */
  type(line: string): Promise<string>;
  /** The console of the machine's BMC. */
  readonly atBmc: BmcConsole;
  /** The boot service as machines reach it. */
  readonly bootUrl: string;
  /** The API of ramdisks, without /v1. */
  readonly ramdiskApi: string;
  /** Address that the machine got on the bridge last. */
  address(): string;
  /** What is known of the node and its machine, for the output of a test that failed. */
  explain(): Promise<string>;
  close(): Promise<void>;
};

/** How the machine boots: the firmware, and who answers its DHCP. */
export type Wired = {
  readonly firmware: 'uefi' | 'bios';
  /** By the network, with the configuration that Temper makes; else from media of its BMC. */
  readonly byNetwork?: boolean;
  /** Whether machines without a node are booted by the network, too. */
  readonly discovery?: boolean;
};

/** First and last address of machines without a node. */
export const discoveredRange = [`${net}.210`, `${net}.240`] as const;

const openNetwork = async (): Promise<void> => {
  await must('ip', ['link', 'set', 'lo', 'up']);
  await must('ip', ['link', 'add', 'name', bridge, 'type', 'bridge']);
  await must('ip', ['address', 'add', `${gateway}/24`, 'dev', bridge]);
  await must('ip', ['link', 'set', bridge, 'up']);
};

const closeNetwork = async (): Promise<void> => {
  await endBeside();
  await must('ip', ['link', 'delete', bridge]);
};

/** DHCP of a site: one address, no boot loader. @returns arguments of dnsmasq */
const plainDhcp = (): string[] => [
  `--interface=${bridge}`,
  '--bind-interfaces',
  '--except-interface=lo',
  '--port=0',
  `--dhcp-range=${net}.100,${net}.200,1h`,
  `--dhcp-host=${mac},${machineAddress}`,
  '--dhcp-leasefile=/run/leases',
];

/** The one that Temper makes. @returns arguments of dnsmasq */
const generatedDhcp = async (tools: ToolsRoot, dir: string, discovery: boolean): Promise<string[]> => {
  const values = {
    '--dir': dir,
    '--interface': bridge,
    '--range': `${net}.100,${net}.200`,
    '--url': bootUrl,
  };
  const made = [
    ...documented('temper boot dnsmasq', values, ['--secure-boot']),
    ...(discovery ? ['--discovery', discoveredRange.join(',')] : []),
    ...['--loaders', tools.path],
  ];
  await must(process.execPath, [jest.requireActual('../../../scripts/lib/paths').bin('temper'), ...made]);
  return [`--conf-file=${join(dir, 'dnsmasq.conf')}`, '--user=root'];
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

// Weaknesses of processors are not emulated, and what guards against them costs an emulated one dearly. Whether its timer ticks is
// not asked: on a busy machine it may not within the ten ticks that the kernel waits, and the kernel stops (check_timer of io_apic.c).
const kernelArguments = 'console=ttyS0,115200 net.ifnames=0 mitigations=off no_timer_check quiet';

const settings = {
  TEMPER_BOOT_HOST: gateway,
  TEMPER_BOOT_PORT: String(bootPort),
  TEMPER_BOOT_URL: `http://${gateway}:${relayPort}`,
  TEMPER_RAMDISK_LISTEN: `${gateway}:${ramdiskPort}`,
  TEMPER_BMC_NETWORKS: `${net}.0/24`,
  TEMPER_AGENT_NETWORKS: `${net}.0/24`,
  TEMPER_CLEANING_RUNBOOKS: 'metal=CUSTOM_METADATA',
  // A processor that is emulated, on a busy machine, starts its ramdisk in minutes.
  TEMPER_AGENT_TIMEOUT_MS: '3600000',
  TEMPER_AGENT_SILENCE_MS: '1800000',
};

/** Of dnsmasq's lines of expiry, MAC address, address, name and client: a ramdisk and a system are two clients of one machine. */
const lastLease = (file: string): string => {
  const leases = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, leased]) => leased === mac);
  const [latest] = leases.sort(([one], [other]) => Number(other) - Number(one));
  if (latest === undefined) throw new Error('the machine has no address');
  return latest[2]!;
};

/** What a machine has written, without what moves a cursor. */
const readable = (file: string): string =>
  stripVTControlCharacters(readFileSync(file, 'latin1')).replace(/\r+\n/g, '\n');

const endOf = (file: string): string =>
  readable(file)
    .split('\n')
    .slice(-40)
    .map((line) => line.slice(0, 240))
    .join('\n');

const shown = ['provision_state', 'target_provision_state', 'last_error', 'maintenance_reason', 'fault', 'power_state'];

/**
 * Brings everything up: the machine is powered off, its ramdisk is recorded as `debian`. What fails takes down what was there, for the
 * labs of other files are on the same network.
 */
export const openLab = async (given: Given, wired: Wired): Promise<Lab> => {
  const work = mkdtempSync(join(tmpdir(), 'temper-metal-'));
  const tools = await layOutTools(given, work);
  await openNetwork();
  try {
    return await openOn(given, wired, tools, join(work, 'shared'));
  } catch (failure) {
    await closeNetwork();
    throw failure;
  }
};

const openOn = async (
  given: Given,
  { firmware, byNetwork = false, discovery = false }: Wired,
  tools: ToolsRoot,
  folder: string,
): Promise<Lab> => {
  const dhcpFolder = join(folder, 'dhcp');
  const dhcp = byNetwork ? await generatedDhcp(tools, dhcpFolder, discovery) : plainDhcp();
  tools.start(
    join(folder, 'dnsmasq.log'),
    'dnsmasq',
    '--keep-in-foreground',
    ...dhcp,
    '--log-facility=-',
    '--log-dhcp',
  );
  await startLibvirt(tools, folder);
  const wanted = { name: 'metal-1', mac, bridge, firmware, accelerator: given.accelerator };
  const machine = await defineMachine(tools, wanted, folder);
  await startBmc(tools, folder, machine.uuid);
  const image = await serveImage(given.image, gateway);
  const relay = await startRelay(gateway, relayPort, bootPort);
  const system = await startSystem(0, {
    ...settings,
    ...(byNetwork && { TEMPER_BOOT_DHCP_DIR: dhcpFolder }),
    ...(discovery && { TEMPER_DISCOVERY: 'true', TEMPER_DEFAULT_RAMDISK: 'debian' }),
  });
  const env = {
    OS_CLIENT_CONFIG_FILE: system.record().addresses.clouds,
    OS_CLOUD: 'operator',
    TEMPER_SYSTEM_FILE: join(system.data, 'system.json'),
  };
  const temper = (...args: string[]) => must(process.execPath, [system.program('temper'), ...args], { env });
  const baremetal = (...args: string[]) => must(join(given.clients, 'baremetal'), args, { env });
  const shell = `cd '${folder}'; temper() { '${process.execPath}' '${system.program('temper')}' "$@"; }`;
  const path = { PATH: `${given.clients}:${process.env.PATH}` };
  const type = (line: string) => must('bash', ['-c', `${shell}\n${line}`], { env: { ...env, ...path } });
  const files = { '--kernel': given.kernel, '--initrd': given.initrd, '--dir': join(system.data, 'boot') };
  await temper(...documented('temper ramdisk add', { ...files, '--args': kernelArguments }));
  return {
    system,
    machine,
    folder,
    tools,
    image,
    relay,
    bmc: {
      redfish_address: `http://${gateway}:${bmcPort}`,
      redfish_system_id: `/redfish/v1/Systems/${machine.uuid}`,
      redfish_username: 'root',
      redfish_password: 'calvin',
      deploy_iso: 'ramdisk:debian',
    },
    baremetal,
    temper,
    type,
    bootUrl,
    ramdiskApi: `http://${gateway}:${ramdiskPort}`,
    address: () => (byNetwork ? lastLease(join(dhcpFolder, 'leases')) : machineAddress),
    atBmc: bmcConsole(`http://${gateway}:${bmcPort}`, machine.uuid),
    explain: async () =>
      [
        `--- the end of the console of metal-1\n${endOf(machine.console)}`,
        `--- the node\n${await baremetal('node', 'show', 'metal-1', '--fields', ...shown)}`,
        `--- its runs\n${await temper('runs', 'list', 'metal-1').catch(String)}`,
      ].join('\n'),
    async close() {
      image.close();
      relay.close();
      await started('chroot', [tools.path, 'virsh', 'destroy', 'metal-1']);
      await system.stop();
      await closeNetwork();
      const kept = process.env.TEMPER_TEST_METAL_CONSOLE;
      if (kept !== undefined) writeFileSync(kept, readable(machine.console));
    },
  };
};
