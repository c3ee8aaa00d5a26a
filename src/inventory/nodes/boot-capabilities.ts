/** Queries of the URLs under which a node reads its boot image: made by a worker, looked up by the boot service. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import { type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';
import type { RamdiskRow } from '../ramdisks';
import type { BoxedSecret } from '../secrets/sealing';

/** What a boot gives its ramdisk. */
type BootContents = {
  readonly arguments: string;
  readonly inspection_url: string | null;
  /** The node’s own, for a ramdisk without DHCP; none where it has none. */
  readonly network_data?: Readonly<Record<string, unknown>> | null;
};

/** What makes a URL: its hashes, and the secrets behind them, sealed for BMC workers. */
export type NewCapability = BootContents & {
  /** Which act of the run makes it. */
  readonly act: string;
  readonly ramdisk_uuid: string;
  readonly url_hash: string;
  readonly token_hash: string;
  readonly inspection_hash: string;
  readonly url: BoxedSecret;
  readonly token: BoxedSecret;
  /** Boots from the network: the URL's secret itself, which its machine is given once; absent where a BMC is given the URL. */
  readonly network_secret?: string;
};

/** What the boot service sends for a URL. */
export type Served = BootContents & {
  readonly node_uuid: NodeUuid;
  readonly run_id: RunUuid;
  /** Whether the machine loads kernel and initramfs by the network, and no image. */
  readonly network: boolean;
  readonly ramdisk: Pick<
    RamdiskRow,
    | 'iso_sha256'
    | 'iso_bytes'
    | 'arguments_at'
    | 'arguments_bytes'
    | 'files_at'
    | 'files_bytes'
    | 'kernel_sha256'
    | 'initrd_sha256'
  >;
};

export const bootCapabilities = (sql: Db) => ({
  /** MAC address of the one port that a node boots from; undefined where it has none, or several. */
  async bootMac(node: NodeUuid): Promise<string | undefined> {
    const found = await sql<{ address: string }[]>`
      select address from ports where node_uuid = ${node} and pxe_enabled limit 2`;
    return found.length === 1 ? found[0]!.address : undefined;
  },

  /** The network that a node's ramdisk is given; empty where it has none. */
  async networkData(node: NodeUuid): Promise<Readonly<Record<string, unknown>>> {
    const [row] = await sql<{ network_data: Record<string, unknown> }[]>`
      select network_data from nodes where uuid = ${node}`;
    return row?.network_data ?? {};
  },

  /** The id of the sealed secret of the URL that this act of the run has made already; undefined where it has not. */
  async made(lock: Fenced, act: string): Promise<string | undefined> {
    const [row] = await sql<{ url_secret: string }[]>`
      with held as (${heldBy(sql, lock, ['uuid', 'fence'])})
      select b.url_secret from boot_capabilities b join held on held.uuid = b.node_uuid and held.fence = b.fence
      where b.run_id = ${lock.run} and b.act = ${act}`;
    return row?.url_secret;
  },

  /** Puts a URL in the place of the node's one before, under the fence. False where the lock no longer holds the node. */
  async make(lock: Fenced, { url, token, ...made }: NewCapability): Promise<boolean> {
    const [held] = await heldBy(sql, lock);
    if (!held) return false;
    for (const { id, holder, holder_id, path, key_id, bound, boxes, nonce, ciphertext } of [url, token])
      await sql`
        insert into secrets (id, holder, holder_id, path, key_id, bound, boxes, nonce, ciphertext)
        values (${id}::uuid, ${holder}, ${holder_id}::uuid, ${path}, ${key_id}, ${bound}, ${jsonOf(sql, boxes)}, ${nonce}, ${ciphertext})`;
    const row = {
      ...made,
      node_uuid: lock.node_uuid,
      run_id: lock.run,
      fence: lock.fence,
      url_secret: url.id,
      token_secret: token.id,
      network: made.network_secret !== undefined,
      network_data: made.network_data ? jsonOf(sql, made.network_data) : null,
    };
    await sql`delete from boot_capabilities where node_uuid = ${lock.node_uuid}`;
    await sql`insert into boot_capabilities ${sql(row)}`;
    return true;
  },

  /**
   * The node has been powered on: its ramdisk has its token from its image, so that it is on record before it first calls, and
   * a lookup has none to hand out. Does nothing where this run made no URL. Under the fence.
   */
  async meet(lock: Fenced): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock, ['uuid', 'fence'])}),
      made as (
        select b.* from boot_capabilities b join held on held.uuid = b.node_uuid
        where b.run_id = ${lock.run} and b.fence = held.fence
      ), expected as (
        update ramdisk_boots r set inspection_hash = made.inspection_hash from made where r.node_uuid = made.node_uuid
      )
      insert into agents (node_uuid, token_hash, token_secret) select node_uuid, token_hash, token_secret from made
      on conflict (node_uuid) do update
        set token_hash = excluded.token_hash, token_secret = excluded.token_secret, url = null, version = null,
          verify_ca = null, first_seen_at = now(), last_heartbeat_at = null, status = null, status_message = null,
          silent_since = null
        where agents.token_hash <> excluded.token_hash`;
  },

  /** The node has lost its power, and its URL is worth nothing any more. */
  async end(node: NodeUuid): Promise<void> {
    await sql`delete from boot_capabilities where node_uuid = ${node}`;
  },

  /** What a URL stands for, by the hash of its secret; undefined unless the run that made it still has the node. */
  async served(url_hash: string): Promise<Served | undefined> {
    const [row] = await sql<Served[]>`
      select b.node_uuid, b.run_id, b.arguments, b.inspection_url, b.network, b.network_data,
        jsonb_build_object('iso_sha256', r.iso_sha256, 'iso_bytes', r.iso_bytes, 'arguments_at', r.arguments_at,
          'arguments_bytes', r.arguments_bytes, 'files_at', r.files_at, 'files_bytes', r.files_bytes,
          'kernel_sha256', r.kernel_sha256, 'initrd_sha256', r.initrd_sha256) as ramdisk
      from boot_capabilities b join ramdisks r on r.uuid = b.ramdisk_uuid
        join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id and n.fence = b.fence
      where b.url_hash = ${url_hash}`;
    return row;
  },
});
