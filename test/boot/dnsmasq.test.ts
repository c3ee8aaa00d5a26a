/** The folder that dnsmasq reads: its own check of the syntax, and what never gets into it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMachineList } from '../../src/boot';
import { type DhcpFolder, dnsmasqConfig, grubStart, hostLines } from '../../src/boot/dnsmasq';
import { makeDhcpFolder } from '../../src/process/command/dnsmasq';
import { foundBy } from '../support/found';

const { programs, missing } = foundBy<{ programs: { dnsmasq: string } }>('boot-programs.js', 'dnsmasq');
const withDnsmasq = programs ? it : it.skip;
const why = programs ? '' : ` (skipped: ${missing})`;

const folder = mkdtempSync(join(tmpdir(), 'dhcp-'));
afterAll(() => rmSync(folder, { recursive: true }));

const wanted: DhcpFolder = {
  dir: join(folder, 'site'),
  interface: 'br0',
  range: ['192.0.2.100', '192.0.2.200'],
  netmask: '255.255.255.0',
  lease: '1h',
  url: 'http://192.0.2.1:6386',
  secureBoot: true,
};
const { range: _, ...unranged } = wanted;

it('answers enrolled machines alone, and sends each kind of firmware its own loader', () => {
  const lines = dnsmasqConfig(wanted).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'dhcp-ignore=tag:!known',
      `dhcp-hostsdir=${join(wanted.dir, 'machines')}`,
      'dhcp-boot=tag:ipxe,http://192.0.2.1:6386/boot/network/boot.ipxe',
      'dhcp-boot=tag:bios,tag:!ipxe,undionly.kpxe',
      'dhcp-boot=tag:uefi,tag:!ipxe,tag:!temper-secure,snponly.efi',
      'dhcp-boot=tag:uefi,tag:!ipxe,tag:temper-secure,shimx64.efi',
    ]),
  );
  expect(lines).toContain('dhcp-option=option:router');
  expect(dnsmasqConfig({ ...wanted, secureBoot: false })).not.toContain('shimx64');
});

it('with discovery, machines without a node are answered too, from addresses of their own', () => {
  const lines = dnsmasqConfig({ ...wanted, discovery: ['192.0.2.210', '192.0.2.240'] }).split('\n');
  expect(lines.filter((line) => /^dhcp-(range|ignore)/.test(line))).toEqual([
    'dhcp-range=tag:known,192.0.2.100,192.0.2.200,255.255.255.0,1h',
    'dhcp-range=tag:!known,192.0.2.210,192.0.2.240,255.255.255.0,1h',
  ]);
  const beside = dnsmasqConfig({ ...unranged, proxy: '192.0.2.0', discovery: true }).split('\n');
  expect(beside.filter((line) => /^dhcp-(range|ignore)/.test(line))).toEqual([
    'dhcp-range=192.0.2.0,proxy,255.255.255.0',
  ]);
});

it.each([
  ['a second line', { interface: 'br0\ndhcp-script=/tmp/x' }, /--interface/],
  ['a comma', { interface: 'br0,lo' }, /--interface/],
  ['a relative folder', { dir: 'site' }, /--dir/],
  ['a blank in the folder', { dir: '/srv/a b' }, /--dir/],
  ['a name for an address', { range: ['first', 'last'] as const }, /--range/],
  ['a router that is none', { router: '192.0.2.300' }, /--router/],
  ['a lease with more in it', { lease: '1h,static' }, /--lease/],
  ['https', { url: 'https://192.0.2.1' }, /http:\/\//],
  ['a path', { url: 'http://192.0.2.1/x' }, /host and perhaps a port/],
  ['no URL', { url: 'none' }, /must be a URL/],
  ['discovery without addresses', { discovery: true as const }, /--discovery two addresses/],
  ['discovery by a name', { discovery: ['first', 'last'] as const }, /--discovery/],
  ['discovery among the nodes', { discovery: ['192.0.2.200', '192.0.2.240'] as const }, /none of the addresses/],
  ['discovery around the nodes', { discovery: ['192.0.2.2', '192.0.2.240'] as const }, /none of the addresses/],
  ['discovery upside down', { discovery: ['192.0.2.240', '192.0.2.210'] as const }, /--discovery/],
  ['both ways', { proxy: '192.0.2.0' }, /--range, or --proxy/],
])('refuses %s', (_name, over, says) => expect(() => dnsmasqConfig({ ...wanted, ...over })).toThrow(says));

withDnsmasq.each([
  ['with addresses of its own', wanted],
  ['with a router', { ...wanted, router: '192.0.2.254' }],
  ['beside a DHCP server of the site', { ...unranged, proxy: '192.0.2.0' }],
  ['with discovery', { ...wanted, discovery: ['192.0.2.210', '192.0.2.240'] as const }],
  ['with discovery beside a DHCP server of the site', { ...unranged, proxy: '192.0.2.0', discovery: true as const }],
  ['without signed loaders', { ...wanted, secureBoot: false }],
])(`dnsmasq takes the configuration %s${why}`, (_name, given) => {
  const config = join(folder, 'dnsmasq.conf');
  writeFileSync(config, dnsmasqConfig({ ...given, dir: folder }));
  mkdirSync(join(folder, 'machines'), { recursive: true });
  mkdirSync(join(folder, 'tftp'), { recursive: true });
  expect(execFileSync(programs!.dnsmasq, ['--test', `--conf-file=${config}`], { stdio: 'pipe' }).toString()).toBe('');
});

it('makes the folder with its loaders, twice if asked, and names the packages of those that are missing', async () => {
  const loaders = join(folder, 'unpacked');
  const given = { ...wanted, secureBoot: false, loaders };
  const { dir: __, ...rest } = given;
  const made = () => makeDhcpFolder({ TEMPER_BOOT_DHCP_DIR: wanted.dir }, rest);
  await expect(made()).rejects.toThrow(/apt-get install ipxe\), or name the folder .* --loaders\.$/);
  mkdirSync(join(loaders, 'usr/lib/ipxe'), { recursive: true });
  for (const name of ['undionly.kpxe', 'snponly.efi']) writeFileSync(join(loaders, 'usr/lib/ipxe', name), `of ${name}`);
  await made();
  const config = await made();
  expect(readFileSync(config, 'utf8')).toBe(dnsmasqConfig(given));
  expect(readdirSync(wanted.dir).sort()).toEqual(['dnsmasq.conf', 'machines', 'tftp']);
  expect(readdirSync(join(wanted.dir, 'tftp')).sort()).toEqual(['snponly.efi', 'undionly.kpxe']);
  expect(readFileSync(join(wanted.dir, 'tftp/snponly.efi'), 'utf8')).toBe('of snponly.efi');
  await expect(makeDhcpFolder({}, { ...given, secureBoot: true })).rejects.toThrow(
    /install shim-signed, grub-efi-amd64-signed \(/,
  );
});

it('is made where a folder is named, and for options that hold', async () => {
  const { dir: __, ...rest } = wanted;
  await expect(makeDhcpFolder({}, rest)).rejects.toMatchObject({ exit: 'usage' });
  await expect(makeDhcpFolder({}, { ...wanted, lease: 'x' })).rejects.toMatchObject({ exit: 'refused' });
});

it('GRUB’s first configuration names the boot service in GRUB’s words', () =>
  expect(grubStart('http://192.0.2.1:6386')).toContain('set temper=(http,192.0.2.1:6386)\n'));

it('the list of machines is written where it has changed, whole or not at all', async () => {
  const dir = join(folder, 'kept');
  let machines = [{ address: '52:54:00:00:00:01', secure_boot: false }];
  const logged: unknown[] = [];
  const log = { info: (_: string, facts?: object) => void logged.push(facts), warn: () => {} };
  const write = createMachineList({ dir, machines: async () => machines, log });
  expect(await write()).toBe(true);
  expect(await write()).toBe(false);
  machines = [...machines, { address: '52:54:00:00:00:02', secure_boot: true }];
  expect(await write()).toBe(true);
  expect(readFileSync(join(dir, 'machines/temper'), 'utf8')).toBe(hostLines(machines));
  expect(hostLines(machines)).toBe('52:54:00:00:00:01\n52:54:00:00:00:02,set:temper-secure\n');
  expect(readdirSync(join(dir, 'machines'))).toEqual(['temper']);
  expect(logged).toMatchObject([{ machines: 1, not_reloaded: expect.any(String) }, { machines: 2 }]);
  // Another process goes on where this one was.
  expect(await createMachineList({ dir, machines: async () => machines, log })()).toBe(false);
});

it('the list of machines needs no more than its own folder, and dnsmasq may read it whatever the process’s mask is', async () => {
  const dir = join(folder, 'confined');
  // What another user owns: a configuration beside it could name a program that dnsmasq starts as root.
  mkdirSync(join(dir, '.temper.new'), { recursive: true });
  const machines = async () => [{ address: '52:54:00:00:00:01', secure_boot: false }];
  const mask = process.umask(0o077);
  try {
    await createMachineList({ dir, machines, log: { info: () => {}, warn: () => {} } })();
  } finally {
    process.umask(mask);
  }
  expect(readdirSync(join(dir, 'machines'))).toEqual(['temper']);
  expect(statSync(join(dir, 'machines/temper')).mode & 0o777).toBe(0o644);
});
