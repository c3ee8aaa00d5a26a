/** The boot service of the bench, as a process of its own, with its capabilities in memory. Argument: the folder of its image. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootListener, createImages } from '../src/boot';
import type { Served } from '../src/inventory/nodes/boot-capabilities';
import { hashOf, newUrlToken } from '../src/inventory/secrets/boot-tokens';
import { patientServer } from '../src/process/listen';
import { answerParent } from './child';

/** The image is in the folder already: made here, it would count as memory of the service. */
export type BootQuestion = { readonly nodes: number; readonly bytes: number; readonly sha256: string };
/** Paths of the nodes' images. */
export type BootAnswer = { readonly port: number; readonly paths: readonly string[] };

const folder = process.argv[2]!;
let server: Server | undefined;

const ramdiskOf = ({ bytes, sha256 }: BootQuestion): Served['ramdisk'] => {
  const areas = { arguments_at: 70_000, arguments_bytes: 2_048, files_at: 300_000, files_bytes: 65_536 };
  return { iso_sha256: sha256, iso_bytes: bytes, ...areas, kernel_sha256: null, initrd_sha256: null };
};

const open = async (question: BootQuestion): Promise<BootAnswer> => {
  const { nodes } = question;
  const ramdisk = ramdiskOf(question);
  const tokens = Array.from({ length: nodes }, newUrlToken);
  const node = { node_uuid: 'n' as Served['node_uuid'], run_id: 'r' as Served['run_id'] };
  const served: Served = { ...node, arguments: 'quiet', inspection_url: null, network: false, ramdisk };
  const known = new Set(tokens.map(hashOf));
  const listener = bootListener({
    inventory: {
      bootCapabilities: { served: async (hash) => (known.has(hash) ? served : undefined) },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities: { served: async () => undefined },
    },
    imageCache: { find: async () => ({ is: 'fetching' }) },
    images: createImages(folder, () => {}),
    files: [],
    log: { info() {}, warn() {} },
    pieceMs: 60_000,
  });
  const ms = 60_000;
  server = patientServer({ headersMs: ms, requestMs: ms, keepAliveMs: ms, connections: 2 * nodes }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, paths: tokens.map((token) => `/boot/${token}/ramdisk.iso`) };
};

answerParent(open, async () => server?.closeAllConnections());
