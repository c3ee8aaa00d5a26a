/** Queries of boot image URLs: a BMC worker makes them, the boot service looks them up. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import { type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';
import type { RamdiskRow } from '../ramdisks';
import type { BoxedSecret } from '../secrets/sealing';

type BootContents = {
  readonly arguments: string;
  readonly inspection_url: string | null;
  /** For a ramdisk without DHCP. */
  readonly network_data?: Readonly<Record<string, unknown>> | null;
};

/** Secrets are sealed for BMC workers. */
export type NewCapability = BootContents & {
  readonly act: string;
  readonly ramdisk_uuid: string;
  readonly url_hash: string;
  readonly token_hash: string;
  readonly inspection_hash: string;
  readonly url: BoxedSecret;
  readonly token: BoxedSecret;
  /** For network boots: the URL's secret, given to the machine once. */
  readonly network_secret?: string;
};

export type Served = BootContents & {
  readonly node_uuid: NodeUuid;
  readonly run_id: RunUuid;
  /** The machine loads kernel and initramfs, not an image. */
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
  /** The node's only boot port; undefined if it has none or several. */
  async bootMac(node: NodeUuid): Promise<string | undefined> {
    const found = await sql<{ address: string }[]>`
      select address from ports where node_uuid = ${node} and pxe_enabled limit 2`;
    return found.length === 1 ? found[0]!.address : undefined;
  },

  async networkData(node: NodeUuid): Promise<Readonly<Record<string, unknown>>> {
    const [row] = await sql<{ network_data: Record<string, unknown> }[]>`
      select network_data from nodes where uuid = ${node}`;
    return row?.network_data ?? {};
  },

  /** Id of the sealed URL that this act has made. */
  async made(lock: Fenced, act: string): Promise<string | undefined> {
    const [row] = await sql<{ url_secret: string }[]>`
      with held as (${heldBy(sql, lock, ['uuid', 'fence'])})
      select b.url_secret from boot_capabilities b join held on held.uuid = b.node_uuid and held.fence = b.fence
      where b.run_id = ${lock.run} and b.act = ${act}`;
    return row?.url_secret;
  },

  /** Replaces the node's URL, under the fence. False if the lock is lost. */
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
   * After power-on, under the fence: registers the ramdisk with the token of its image, so that a lookup gets no token. No-op if this run
   * made no URL.
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

  /** After power-off: voids the URL. */
  async end(node: NodeUuid): Promise<void> {
    await sql`delete from boot_capabilities where node_uuid = ${node}`;
  },

  /** Undefined unless the run that made the URL still has the node. */
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
