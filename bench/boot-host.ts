/** The boot service of the bench, as a process of its own, with its capabilities in memory. Argument: the folder of its image. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootListener, createImageCache, createImages } from '../src/boot';
import type { Served } from '../src/inventory/nodes/boot-capabilities';
import { hashOf, newUrlToken } from '../src/inventory/secrets/boot-tokens';
import { guardedServer } from '../src/process/guarded-server';
import { answerParent } from './child';

type File = { readonly sha256: string; readonly bytes: number };
/** The files are in the folder already: made here, they would count as memory of the service. */
export type BootQuestion = {
  readonly nodes: number;
  readonly readers: number;
  readonly iso: File;
  readonly image: File;
};
/** Paths of the nodes' boot images, and of the readers' image. */
export type BootAnswer = { readonly port: number; readonly iso: readonly string[]; readonly images: readonly string[] };

const folder = process.argv[2]!;
let server: Server | undefined;

const ramdiskOf = ({ bytes, sha256 }: File): Served['ramdisk'] => {
  const areas = { arguments_at: 70_000, arguments_bytes: 2_048, files_at: 300_000, files_bytes: 65_536 };
  return { iso_sha256: sha256, iso_bytes: bytes, ...areas, kernel_sha256: null, initrd_sha256: null };
};

const log = { info() {}, warn() {} };

/** The image is compared with its digest before it counts. */
const cacheOf = async (image: File) => {
  const of = { algorithm: 'sha256', digest: image.sha256, glance_id: null } as const;
  const record = { bytes: image.bytes, name: 'bench', url: null, ...of };
  const inventory = { imageCapabilities: { kept: async () => [] } };
  const cache = createImageCache({ dir: folder, mostBytes: 2 ** 40, inventory, origins: [], log });
  for (let found = await cache.find(record); found.is !== 'ready'; found = await cache.find(record)) {
    if (found.is === 'refused') throw new Error(found.reason);
    await sleep(20);
  }
  return { cache, record };
};

const open = async ({ nodes, readers, iso, image }: BootQuestion): Promise<BootAnswer> => {
  const ramdisk = ramdiskOf(iso);
  const [tokens, ofImage] = [Array.from({ length: nodes }, newUrlToken), Array.from({ length: readers }, newUrlToken)];
  const node = { node_uuid: 'n' as Served['node_uuid'], run_id: 'r' as Served['run_id'] };
  const served: Served = { ...node, arguments: 'quiet', inspection_url: null, network: false, ramdisk };
  const [known, knownImages] = [new Set(tokens.map(hashOf)), new Set(ofImage.map(hashOf))];
  const { cache: imageCache, record } = await cacheOf(image);
  const listener = bootListener({
    inventory: {
      bootCapabilities: { served: async (hash) => (known.has(hash) ? served : undefined) },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities: { served: async (hash) => (knownImages.has(hash) ? { ...node, image: record } : undefined) },
    },
    imageCache,
    images: createImages(folder, () => {}),
    files: [],
    log,
    trusts: () => false,
    pieceMs: 60_000,
  });
  const ms = 60_000;
  const connections = 2 * nodes + readers;
  server = guardedServer(
    { headersMs: ms, requestMs: ms, keepAliveMs: ms, connections, ofSender: connections },
    listener,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    iso: tokens.map((token) => `/boot/${token}/ramdisk.iso`),
    images: ofImage.map((token) => `/boot/${token}/image`),
  };
};

answerParent(open, async () => server?.closeAllConnections());
