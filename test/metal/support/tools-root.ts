/** The root of the tools with a layer of its own over it, so that nothing that they write stays. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Given } from './given';
import { beside, must, started, until } from './shell';

export type ToolsRoot = {
  readonly path: string;
  /** Runs one of the tools to its end; paths below the work folder are the same inside. */
  run(command: string, ...args: string[]): Promise<string>;
  /** Starts one that stays. */
  start(log: string, command: string, ...args: string[]): ReturnType<typeof beside>;
};

/** Mounts the root at `path`, with a layer for what is written. */
const layered = async (tools: string, work: string, path: string): Promise<void> => {
  const layer = join(work, 'layer');
  const [upper, scratch] = [join(layer, 'upper'), join(layer, 'scratch')];
  const options = `lowerdir=${tools},upperdir=${upper},workdir=${scratch}`;
  const laid = async (): Promise<boolean> => {
    for (const folder of [upper, scratch]) mkdirSync(folder, { recursive: true });
    return (await started('mount', ['-t', 'overlay', 'overlay', '-o', options, path])).status === 0;
  };
  if (await laid()) return;
  // The file system of a container is an overlay itself, and those are no layer to write to.
  await must('mount', ['-t', 'tmpfs', 'tmpfs', layer]);
  if (!(await laid())) throw new Error(`${tools} cannot be mounted with a layer over it`);
};

/** Lays the root out below `work`. The mounts end with the namespace of the tests. */
export const layOutTools = async ({ tools, accelerator }: Given, work: string): Promise<ToolsRoot> => {
  const path = join(work, 'root');
  mkdirSync(path);
  await layered(tools, work, path);
  await must('mount', ['--rbind', '/dev', join(path, 'dev')]);
  // libvirt starts QEMU with KVM to see what it can, and waits for one that never answers where KVM cannot start firmware.
  if (accelerator === 'tcg' && existsSync('/dev/kvm'))
    await must('mount', ['--bind', '/dev/null', join(path, 'dev/kvm')]);
  await must('mount', ['-t', 'proc', 'proc', join(path, 'proc')]);
  // A view of this namespace's own network devices.
  await must('mount', ['-t', 'sysfs', 'sysfs', join(path, 'sys')]);
  await must('mount', ['-t', 'tmpfs', 'tmpfs', join(path, 'run')]);
  mkdirSync(join(path, work), { recursive: true });
  const shared = join(work, 'shared');
  mkdirSync(shared);
  mkdirSync(join(path, shared), { recursive: true });
  await must('mount', ['--bind', shared, join(path, shared)]);
  const inside = (command: string, args: string[]) => [path, '/usr/bin/env', 'PYTHONPATH=/opt/sushy', command, ...args];
  return {
    path,
    run: (command, ...args) => must('chroot', inside(command, args)),
    start: (log, command, ...args) => beside('chroot', inside(command, args), log),
  };
};

const qemuSettings = [
  'user = "root"',
  'group = "root"',
  'dynamic_ownership = 0',
  'remember_owner = 0',
  'security_driver = "none"',
  'cgroup_controllers = [ ]',
  'namespaces = [ ]',
  'stdio_handler = "file"',
  '',
].join('\n');

/** Starts libvirt, with a storage pool for virtual media in the shared folder. */
export const startLibvirt = async (tools: ToolsRoot, shared: string): Promise<void> => {
  writeFileSync(join(tools.path, 'etc/libvirt/qemu.conf'), qemuSettings);
  await tools.run('rm', '-f', '/etc/libvirt/qemu/networks/autostart/default.xml');
  tools.start(join(shared, 'libvirtd.log'), 'libvirtd');
  await until('libvirt', 60_000, async () =>
    tools.run('virsh', 'version').then(
      () => true,
      () => false,
    ),
  );
  mkdirSync(join(shared, 'pool'));
  chmodSync(join(shared, 'pool'), 0o777);
  await tools.run('virsh', 'pool-define-as', 'media', 'dir', '--target', join(shared, 'pool'));
  await tools.run('virsh', 'pool-start', 'media');
};
