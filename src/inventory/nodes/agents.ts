/** Queries of ramdisks on nodes: their tokens, URLs and heartbeats. */
import type { NodeUuid } from '../../model/ids';
import type { ProvisionState } from '../../model/lifecycle/states';
import { type Db, jsonOf } from '../database';
import type { BoxedSecret } from '../secrets/sealing';

type AgentStatus = 'start' | 'end' | 'error';

export type AgentRow = {
  readonly node_uuid: NodeUuid;
  /** Hexadecimal SHA-256 of its token. */
  readonly token_hash: string;
  /** Id of the sealed token. Only the BMC workers' role may read it. */
  readonly token_secret: string;
  /** Null until the first heartbeat. */
  readonly url: string | null;
  readonly version: string | null;
  readonly verify_ca: string | null;
  readonly first_seen_at: Date;
  readonly last_heartbeat_at: Date | null;
  readonly status: AgentStatus | null;
  readonly status_message: string | null;
};

/** Null keeps the recorded value. */
export type Heartbeat = {
  readonly token_hash: string;
  readonly url: string | null;
  readonly version: string;
  readonly verify_ca: string | null;
  readonly status: AgentStatus | null;
  readonly status_message: string | null;
};

export type BmcRow = {
  readonly uuid: NodeUuid;
  readonly driver: string;
  readonly driver_info: Readonly<Record<string, unknown>>;
};

export const agents = (sql: Db) => ({
  /** Undefined if no ramdisk has looked the node up since power-off. */
  async find(node: NodeUuid): Promise<AgentRow | undefined> {
    const [row] = await sql<AgentRow[]>`select * from agents where node_uuid = ${node}`;
    return row;
  },

  /**
   * Registers a ramdisk that looks its node up, with its sealed token. One statement: of two concurrent lookups, one gets the token. False
   * if a ramdisk is registered, no run has booted one, or it brought its own token. Locks the boot: a lookup after the power-off would
   * leave a token that outlives the boot.
   */
  async meet(node: NodeUuid, token_hash: string, token: BoxedSecret): Promise<boolean> {
    const { id, path, key_id, bound, boxes, nonce, ciphertext } = token;
    const met = await sql`
      with booted as (
        select b.node_uuid from ramdisk_boots b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
        where b.node_uuid = ${node} and b.conflict is null and b.inspection_hash is null
        for share of b
      ), met as (
        insert into agents (node_uuid, token_hash, token_secret)
        select node_uuid, ${token_hash}, ${id}::uuid from booted
        on conflict (node_uuid) do nothing returning node_uuid
      )
      insert into secrets (id, holder, holder_id, path, key_id, bound, boxes, nonce, ciphertext)
      select ${id}::uuid, 'agent', node_uuid, ${path}, ${key_id}, ${bound}, ${jsonOf(sql, boxes)}, ${nonce}, ${ciphertext}
      from met returning 1`;
    return met.length === 1;
  },

  /** At most two nodes: two mean that the ramdisk's node is ambiguous. */
  async withPorts(addresses: readonly string[]): Promise<NodeUuid[]> {
    if (addresses.length === 0) return [];
    const rows = await sql<{ node_uuid: NodeUuid }[]>`
      select distinct node_uuid from ports where address in ${sql([...addresses])} limit 2`;
    return rows.map((row) => row.node_uuid);
  },

  async hasPorts(node: NodeUuid): Promise<boolean> {
    return (await sql`select 1 from ports where node_uuid = ${node} limit 1`).length === 1;
  },

  /** For a ramdisk that can be identified only by its BMC. */
  async bmcsIn(states: readonly ProvisionState[]): Promise<BmcRow[]> {
    return sql<
      BmcRow[]
    >`select uuid, driver, driver_info from nodes where provision_state in ${sql([...states])} limit 10000`;
  },

  /** False if token, URL or certificate differ from the record. The first URL and certificate stay, also with concurrent heartbeats. */
  async beat(node: NodeUuid, said: Heartbeat): Promise<boolean> {
    const beaten = await sql`
      update agents set
        verify_ca = case when url is null then ${said.verify_ca} else verify_ca end,
        url = coalesce(url, ${said.url}), version = ${said.version}, last_heartbeat_at = now(),
        status = coalesce(${said.status}, status), status_message = coalesce(${said.status_message}, status_message)
      where node_uuid = ${node} and token_hash = ${said.token_hash}
        and (url is null or ${said.url}::text is null or url = ${said.url})
        and (url is null or ${said.verify_ca}::text is null or verify_ca = ${said.verify_ca})
      returning 1`;
    return beaten.length === 1;
  },

  async answered(node: NodeUuid): Promise<void> {
    await sql`update agents set silent_since = null where node_uuid = ${node} and silent_since is not null`;
  },

  /** Records that the ramdisk has not answered for `ms`. @returns milliseconds without an answer or a heartbeat */
  async silent(node: NodeUuid, ms: number): Promise<number | undefined> {
    const [row] = await sql<{ silent_ms: number }[]>`
      update agents set silent_since = least(coalesce(silent_since, now()), now() - ${ms} * interval '1 millisecond')
      where node_uuid = ${node}
      returning (extract(epoch from now() - greatest(silent_since, last_heartbeat_at)) * 1000)::float8 as silent_ms`;
    return row?.silent_ms;
  },

  /** The next sweep of secrets deletes its token. */
  async forget(node: NodeUuid): Promise<void> {
    await sql`delete from agents where node_uuid = ${node}`;
  },
});
