/** The root of the tools with a layer of its own over it, so that nothing that they write stays. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Given } from './given';
import { beside, must, until } from './shell';

export type ToolsRoot = {
  readonly path: string;
  /** Runs one of the tools to its end; paths below the work folder are the same inside. */
  run(command: string, ...args: string[]): Promise<string>;
  /** Starts one that stays. */
  start(log: string, command: string, ...args: string[]): ReturnType<typeof beside>;
};

/** Lays the root out below `work`. The mounts end with the namespace of the tests. */
export const layOutTools = async ({ tools, accelerator }: Given, work: string): Promise<ToolsRoot> => {
  const [upper, scratch, path] = ['upper', 'scratch', 'root'].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [upper, scratch, path]) mkdirSync(folder);
  await must('mount', [
    '-t',
    'overlay',
    'overlay',
    '-o',
    `lowerdir=${tools},upperdir=${upper},workdir=${scratch}`,
    path,
  ]);
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
