/** GET /boot/network/...: requests of machines that have no boot URL yet. */
import { open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Inventory } from '../inventory';
import type { GrantedBoot } from '../inventory/nodes/network-boots';
import { hashOf } from '../inventory/secrets/boot-tokens';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderAddress, type Trusts } from '../model/access/senders';
import { longestArguments } from '../model/boot/kernel-arguments';
import type { Log } from './contents';
import { type DiscoveryDeps, discoveryScript } from './discovery';
import { argumentsOf, filesOf } from './patches';
import { bootScript, exitScript, firstScript, type Loader, waitingScript } from './scripts';
import { answer, answerEmpty, answerText } from './send';

export type NetworkDeps = DiscoveryDeps & {
  readonly inventory: {
    readonly networkBoots: Pick<Inventory['networkBoots'], 'give'>;
    readonly bootCapabilities: Pick<Inventory['bootCapabilities'], 'served'>;
  };
  readonly log: Log;
  /** Folder of the boot loaders that firmware fetches by HTTP. */
  readonly loaders?: string;
  readonly pieceMs: number;
  /** True for a proxy in front. Its X-Forwarded-For is trusted. */
  readonly trusts: Trusts;
};

/** A loader with a broken connection retries. In this time its address gets the same script. */
const repeatedMs = 60_000;
const mostKnown = 5_000;

/** Ramdisk architectures by loader names. iPXE's buildarch under BIOS is i386 on any machine. */
const architectures: Readonly<Record<string, string>> = {
  i386: 'x86_64',
  x86_64: 'x86_64',
  arm64: 'aarch64',
};

const scriptPath =
  /^\/boot\/network\/([0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})\/(boot\.ipxe|grub\.cfg)(?:\?arch=([A-Za-z0-9_]{1,16}))?$/i;

// Debian's packages ipxe, shim-signed and grub-efi-amd64-signed have them; `temper boot dnsmasq` copies them.
const loaderPath = /^\/boot\/network\/(snponly\.efi|ipxe\.efi|shimx64\.efi|grubx64\.efi)$/;

/** Named in the configuration of `temper boot dnsmasq`. */
export const firstPath = '/boot/network/boot.ipxe';

const refusedTexts: Partial<Record<GrantedBoot['is'], string>> = {
  none: 'Nothing to boot here.',
  again: 'This boot was given before.',
  taken: 'Two machines asked for this boot.',
  contested: 'Two machines asked for this boot.',
  architecture: 'The ramdisk of this node is of another architecture.',
};

const scriptOf = async (
  { inventory, files }: NetworkDeps,
  loader: Loader,
  mac: string,
  token: string,
): Promise<string | undefined> => {
  const served = await inventory.bootCapabilities.served(hashOf(token));
  if (!served) return undefined;
  const text = argumentsOf(served, token, longestArguments);
  return bootScript(loader, { at: token, mac, arguments: text, files: filesOf(served, files).length > 0 });
};

const sendLoader = async ({ loaders, pieceMs }: NetworkDeps, response: ServerResponse, name: string): Promise<void> => {
  const file = loaders === undefined ? undefined : await open(join(loaders, name)).catch(() => undefined);
  if (!file) return answerEmpty(response, 404, { connection: 'close' });
  try {
    const { size, mtimeMs } = await file.stat();
    await answer(response, { file, size, patches: [], etag: `"${size}-${Math.trunc(mtimeMs)}"` }, pieceMs);
  } finally {
    await file.close();
  }
};

const noteGiven = ({ log }: NetworkDeps, given: GrantedBoot, mac: string, peer: string): void => {
  if (given.is === 'none') return;
  const facts = { node_uuid: given.node_uuid, run: given.run_id, mac, address: peer };
  if (given.is === 'given') log.info('network boot given', facts);
  if (given.is === 'contested') log.warn('two machines ask for one network boot', facts);
  if (given.is === 'architecture') log.warn('machine of another architecture than its ramdisk', facts);
};

/** @returns finds the handler of a request; undefined for any other path */
export const createNetwork = (deps: NetworkDeps) => {
  const { inventory } = deps;
  const repeated = new LRUCache<string, string>({ max: mostKnown, ttl: repeatedMs });

  const answerScript = async (
    request: IncomingMessage,
    response: ServerResponse,
    { mac, loader, called }: { mac: string; loader: Loader; called: string | undefined },
  ): Promise<void> => {
    const sender = senderAddress(request, deps.trusts);
    const peer = sender || peerAddress(request.socket.remoteAddress);
    const say = (text: string) => answerText(response, request.method, text);
    // HEAD is no boot.
    if (request.method === 'HEAD') return say(firstScript);
    const key = `${mac} ${peer}`;
    const arch = called === undefined ? undefined : (architectures[called.toLowerCase()] ?? called);
    const given = await inventory.networkBoots.give({
      mac,
      peer,
      ...(arch !== undefined && { arch }),
      conflict: 'Two machines asked for the network boot of this node; which one is its own cannot be known.',
    });
    noteGiven(deps, given, mac, peer);
    if (given.is === 'early') return say(waitingScript(loader));
    // Behind a proxy without X-Forwarded-For, two machines look the same.
    if (given.is === 'given' && sender !== '') repeated.set(key, given.secret);
    const before = given.is === 'again' ? repeated.get(key) : undefined;
    const token = given.is === 'given' ? given.secret : before;
    const discovered = given.is === 'none' ? await discoveryScript(deps, { mac, loader, arch }) : undefined;
    const script = token === undefined ? discovered : await scriptOf(deps, loader, mac, token);
    return say(script ?? exitScript(loader, refusedTexts[given.is] ?? 'Nothing to boot here.'));
  };

  return (request: IncomingMessage): ((response: ServerResponse) => Promise<void>) | undefined => {
    const url = request.url ?? '';
    if (!url.startsWith('/boot/network/')) return undefined;
    if (url === firstPath) return async (response) => answerText(response, request.method, firstScript);
    const [, mac, loader, called] = scriptPath.exec(url) ?? [];
    if (mac !== undefined) {
      const asked = { mac: mac.toLowerCase().replaceAll('-', ':'), loader: loader!.toLowerCase() as Loader, called };
      return (response) => answerScript(request, response, asked);
    }
    const [, name] = loaderPath.exec(url) ?? [];
    return async (response) => (name === undefined ? answerEmpty(response, 404) : sendLoader(deps, response, name));
  };
};
