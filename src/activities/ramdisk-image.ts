/** Boots from a ramdisk record by a URL that is valid for one boot. */
import { randomUUID } from 'node:crypto';
import type { RamdiskRow } from '../inventory/ramdisks';
import type { ActKey } from '../inventory/runs/run-steps';
import { agentTokenOf, hashOf, inspectionTokenOf, newUrlToken } from '../inventory/secrets/boot-tokens';
import type { BoxedSecret } from '../inventory/secrets/sealing';
import { argumentLine, inspectionUrl, networkRoom } from '../model/boot/kernel-arguments';
import { networkBytes, networkFiles } from '../model/boot/network-data';
import { isLoadable, notLoadable, ramdiskNamed } from '../model/boot/ramdisks';
import { raise } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import type { Attempted } from './act-context';
import type { BmcDeps, BootSettings } from './bmc-deps';

type Arguments = Readonly<Record<string, unknown>>;
type Booted = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver_info: Arguments;
};
/** `secrets` must not be shown. */
type Composed = { readonly args: Record<string, unknown>; readonly secrets: readonly string[] };

/** `vmedia`: an image URL for the BMC. `network`: the machine loads kernel and initramfs. */
type Source = { readonly ramdisk: string; readonly by: 'vmedia' | 'network' };

const sourceOf = ({ image_url, network_image }: Arguments): Source | undefined => {
  const image = ramdiskNamed(image_url);
  if (image !== undefined) return { ramdisk: image, by: 'vmedia' };
  const loaded = ramdiskNamed(network_image);
  return loaded === undefined ? undefined : { ramdisk: loaded, by: 'network' };
};

const isMade = ({ act }: Attempted, { by }: Source, args: Arguments): boolean =>
  by === 'network'
    ? act === 'set_boot_device'
    : act === 'insert_media' || (act === 'set_boot_device' && args.boot_device === 'uefihttp');

/**
 * Replaces a ramdisk's name by a boot service URL; a repeat gets the same one.
 * Throws RamdiskNotServed, RamdiskNotFound, KernelArgumentsRefused, NetworkDataRefused, StaleOperation.
 */
export const withRamdisk = async (
  input: Attempted,
  key: ActKey,
  node: Booted,
  args: Record<string, unknown>,
  deps: BmcDeps,
): Promise<Composed> => {
  const source = sourceOf(args);
  if (source === undefined) return { args, secrets: [] };
  const { image_url: _, network_image: __, ...rest } = args;
  if (!isMade(input, source, args)) return { args: rest, secrets: [] };
  const { boot } = deps;
  if (!boot)
    return raise('RamdiskNotServed', {
      ramdisk: source.ramdisk,
      reason: 'TEMPER_BOOT_URL and TEMPER_RAMDISK_API_URL are not set on the worker of this node’s conductor group',
    });
  const token = (await madeBefore(input, key, deps)) ?? (await make(input, key, node, { ...source, boot }, deps));
  const secrets = [token, agentTokenOf(token), inspectionTokenOf(token)];
  if (source.by === 'network') return { args: rest, secrets };
  return { args: { ...rest, image_url: `${boot.url}/boot/${token}/ramdisk.iso` }, secrets };
};

/** The same for all attempts of an act, different for its next call. */
const actIn = ({ execution, nth, index }: ActKey): string => `${execution}/${index}/${nth}`;

const madeBefore = async ({ lock }: Attempted, key: ActKey, deps: BmcDeps): Promise<string | undefined> => {
  const id = await deps.inventory.bootCapabilities.made(lock, actIn(key));
  const [row] = id === undefined ? [] : await deps.inventory.secrets.read([id]);
  return row && String(deps.vault.open(row));
};

type Wanted = Source & { readonly boot: BootSettings };

/** Throws RamdiskNotFound; RamdiskNotServed without files for a network boot. */
const recordOf = async ({ ramdisk, by }: Source, { inventory }: BmcDeps): Promise<RamdiskRow> => {
  const row = (await inventory.ramdisks.find(ramdisk)) ?? raise('RamdiskNotFound', { ramdisk });
  return by === 'network' && !isLoadable(row) ? raise('RamdiskNotServed', { ramdisk, reason: notLoadable }) : row;
};

const make = async (
  { lock, step }: Attempted,
  key: ActKey,
  node: Booted,
  { boot, ...source }: Wanted,
  deps: BmcDeps,
): Promise<string> => {
  const { inventory } = deps;
  const row = await recordOf(source, deps);
  const { by } = source;
  const inspection_url = step.awaits === 'inspection' ? inspectionUrl(boot.apiUrl) : null;
  const line = argumentLine({
    facts: { apiUrl: boot.apiUrl, inspection_url, ...(await pathOf(by, node, inventory)) },
    ramdisk: row.args,
    node: textOf(node.driver_info.kernel_append_params),
    room: by === 'network' ? networkRoom : row.arguments_bytes,
  });
  const network_data = await networkOf(node, row, deps);
  const token = newUrlToken();
  const sealed = (value: string, name: string): BoxedSecret =>
    boot.sealer.sealAgain(
      value,
      { id: randomUUID(), holder: 'agent', holder_id: node.uuid, path: `/agent/${name}`, bound: null },
      [boot.group],
    );
  const made = await inventory.transaction((store) =>
    store.bootCapabilities.make(lock, {
      act: actIn(key),
      ramdisk_uuid: row.uuid,
      arguments: line,
      inspection_url,
      network_data,
      url_hash: hashOf(token),
      token_hash: hashOf(agentTokenOf(token)),
      inspection_hash: hashOf(inspectionTokenOf(token)),
      ...(by === 'network' && { network_secret: token }),
      url: sealed(token, 'boot_url'),
      token: sealed(agentTokenOf(token), 'agent_token'),
    }),
  );
  return made ? token : raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
};

/** Null if there is none. Throws NetworkDataRefused. */
const networkOf = async ({ uuid }: Booted, { files_bytes: room }: RamdiskRow, { inventory }: BmcDeps) => {
  const data = await inventory.bootCapabilities.networkData(uuid);
  const files = networkFiles(data);
  if (files.length === 0) return null;
  const bytes = networkBytes(files);
  return bytes > room
    ? raise('NetworkDataRefused', { reason: `takes ${bytes} bytes, and the ramdisk has room for ${room}` })
    : data;
};

/** In a network boot, the machine itself reports its port. */
const pathOf = async (by: Source['by'], { uuid }: Booted, { bootCapabilities }: BmcDeps['inventory']) =>
  by === 'network' ? { by } : { by, mac: await bootCapabilities.bootMac(uuid) };

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
