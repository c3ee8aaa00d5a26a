/** A virtual machine with real firmware, two empty disks and a serial console, behind a BMC that other people's emulator plays. */
import { closeSync, openSync, readFileSync, readSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './shell';
import type { ToolsRoot } from './tools-root';

export type Machine = {
  readonly uuid: string;
  readonly mac: string;
  /** Where the serial console is written to. */
  readonly console: string;
  /** The bytes at a place of its first disk. */
  disk(at: number, bytes: number): Buffer;
  /** Waits until a line of the console since `mark` fits. @returns the line */
  says(line: RegExp, withinMs: number, mark?: number): Promise<string>;
  /** The end of the console now, for `says`. */
  mark(): number;
};

const gib = 1024 ** 3;
// The agent takes the smallest disk of at least 4 GiB for the system.
export const diskBytes = [5 * gib, 6 * gib] as const;

type Wanted = {
  readonly name: string;
  readonly mac: string;
  readonly bridge: string;
  readonly firmware: 'uefi' | 'bios';
  readonly accelerator: 'kvm' | 'tcg';
};

const uefi = (nvram: string): string => `
    <loader readonly='yes' type='pflash'>/usr/share/OVMF/OVMF_CODE_4M.fd</loader>
    <nvram template='/usr/share/OVMF/OVMF_VARS_4M.fd'>${nvram}</nvram>`;

const domain = ({ name, mac, bridge, accelerator, firmware }: Wanted, folder: string): string => `
<domain type='${accelerator === 'kvm' ? 'kvm' : 'qemu'}'>
  <name>${name}</name><memory unit='MiB'>2560</memory><vcpu>2</vcpu>
  <cpu mode='${accelerator === 'kvm' ? 'host-passthrough' : 'maximum'}'/>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>${firmware === 'uefi' ? uefi(`${folder}/${name}.nvram`) : ''}
    <boot dev='hd'/>
  </os>
  <features><acpi/><apic/></features><clock offset='utc'/>
  <on_poweroff>destroy</on_poweroff><on_reboot>restart</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='scsi' index='0' model='virtio-scsi'/>
    ${['a', 'b']
      .map(
        (disk) => `<disk type='file' device='disk'><driver name='qemu' type='raw' discard='unmap' cache='unsafe'/>
      <source file='${folder}/${name}-${disk}.raw'/><target dev='sd${disk}' bus='scsi'/><serial>disk-${disk}</serial></disk>`,
      )
      .join('\n    ')}
    <interface type='bridge'><source bridge='${bridge}'/><mac address='${mac}'/><model type='virtio'/></interface>
    <serial type='file'><source path='${folder}/${name}.console' append='on'/><target port='0'/></serial>
    <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
    <video><model type='vga'/></video>
  </devices>
</domain>`;

/** Defines a machine, powered off. `folder` is the shared one. */
export const defineMachine = async (tools: ToolsRoot, wanted: Wanted, folder: string): Promise<Machine> => {
  const { name, mac } = wanted;
  const first = join(folder, `${name}-a.raw`);
  const log = join(folder, `${name}.console`);
  for (const [file, size] of [
    [first, diskBytes[0]],
    [join(folder, `${name}-b.raw`), diskBytes[1]],
  ] as const) {
    writeFileSync(file, '');
    truncateSync(file, size);
  }
  writeFileSync(log, '');
  const file = join(folder, `${name}.xml`);
  writeFileSync(file, domain(wanted, folder));
  await tools.run('virsh', 'define', file);
  const uuid = (await tools.run('virsh', 'domuuid', name)).trim();
  const mark = () => readFileSync(log).length;
  return {
    uuid,
    mac,
    console: log,
    mark,
    disk(at, bytes) {
      const piece = Buffer.alloc(bytes);
      const file = openSync(first, 'r');
      readSync(file, piece, 0, bytes, at);
      closeSync(file);
      return piece;
    },
    async says(line, withinMs, since = 0) {
      let found: string | undefined;
      await until(`${line} on the console of ${name}`, withinMs, () => {
        const lines = readFileSync(log).subarray(since).toString('latin1').split(/\r?\n/);
        found = lines.find((text) => line.test(text));
        return found !== undefined;
      });
      return found!;
    },
  };
};
