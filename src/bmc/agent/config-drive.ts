/** Config drive for the ramdisk: the given text, or a gzipped ISO of the documents in base64. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Document, isDocument } from '../../model/document';
import { raise } from '../../model/errors';
import type { BmcNode } from '../contract';

const execute = promisify(execFile);

/** Programs in the order of trial; all take the same arguments. */
const isoPrograms = ['genisoimage', 'mkisofs', 'xorrisofs'] as const;
const isoMs = 60_000;
/** Limit of the compressed drive. */
const maxBytes = 64 * 1024 * 1024;

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Files below openstack/<version>/. Instances look for their uuid in meta_data, so it is always there. */
const driveFiles = (node: BmcNode, drive: Document): Record<string, string> => {
  const meta = {
    uuid: node.uuid,
    ...(node.name && { name: node.name }),
    ...(isDocument(drive.meta_data) && drive.meta_data),
  };
  return {
    'meta_data.json': asText(meta),
    ...(drive.user_data != null && { user_data: asText(drive.user_data) }),
    ...(drive.network_data != null && { 'network_data.json': asText(drive.network_data) }),
    ...(drive.vendor_data != null && { 'vendor_data.json': asText(drive.vendor_data) }),
  };
};

// https://docs.openstack.org/nova/latest/user/metadata.html: readers use one of these directories.
const versions = ['latest', '2012-08-10'] as const;

const lay = async (root: string, files: Record<string, string>): Promise<void> => {
  for (const version of versions) {
    const dir = join(root, 'openstack', version);
    await mkdir(dir, { recursive: true });
    for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content, { mode: 0o600 });
  }
};

/** Returns undefined if the program is missing. */
const pack = async (program: string, from: string, to: string, signal: AbortSignal): Promise<true | undefined> => {
  try {
    await execute(program, ['-quiet', '-o', to, '-V', 'config-2', '-J', '-r', from], { timeout: isoMs, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

type Options = { readonly signal: AbortSignal; readonly programs?: readonly string[] };

const build = async (node: BmcNode, drive: Document, { signal, programs = isoPrograms }: Options): Promise<Buffer> => {
  const fail = (reason: string) => raise('ConfigDriveFailed', { node: node.name ?? node.uuid, reason });
  // mkdtemp makes it private: user_data has passwords.
  const dir = await mkdtemp(join(tmpdir(), 'config-drive-'));
  try {
    await lay(join(dir, 'files'), driveFiles(node, drive));
    for (const program of programs) {
      const packed = await pack(program, join(dir, 'files'), join(dir, 'iso'), signal).catch(() => {
        signal.throwIfAborted();
        return fail(`${program} failed on this worker`);
      });
      if (packed) return await readFile(join(dir, 'iso'));
    }
    return fail(
      `this worker has none of ${programs.join(', ')}; install one, or give the config drive as base64 of a gzipped ISO`,
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

/**
 * Returns undefined if the node has no config drive.
 * @throws ConfigDriveFailed
 */
export const configDrive = async (node: BmcNode, options: Options): Promise<string | undefined> => {
  const given = node.instance_info?.configdrive;
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given === 'string') return given;
  const fail = (reason: string) => raise('ConfigDriveFailed', { node: node.name ?? node.uuid, reason });
  if (!isDocument(given)) return fail('instance_info configdrive is neither a text nor an object');
  const compressed = await promisify(gzip)(await build(node, given, options));
  return compressed.length > maxBytes ? fail(`it is larger than ${maxBytes} bytes`) : compressed.toString('base64');
};
