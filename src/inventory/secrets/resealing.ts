/** Queries for resealing: keys of secrets, and conductor groups of their holders. */

import type { NodeIdent } from '../audit';
import { type Db, jsonOf } from '../database';
import type { BoxedSecret } from './sealing';

export type SecretToSeal = BoxedSecret & {
  /** Null for all, empty if its holder is gone. */
  readonly groups: readonly string[] | null;
  /** `in_driver_info`: its driver_info refers to the secret. */
  readonly node: {
    readonly uuid: string;
    readonly name: string | null;
    readonly driver: string;
    readonly driver_info: Readonly<Record<string, unknown>>;
    readonly in_driver_info: boolean;
  } | null;
};

export type KeyUse = { readonly key_id: string; readonly count: number };

const selected = (sql: Db) => sql`
  select s.id, s.holder, s.holder_id, s.path, s.key_id, s.bound, s.boxes, s.nonce, s.ciphertext,
    case
      when s.holder in ('node', 'agent') then array_remove(array[n.conductor_group], null)
      when s.holder = 'run' then array(
        select distinct jsonb_array_elements_text(
          jsonb_path_query_array(r.input, '$.conductor_group') || jsonb_path_query_array(r.input, '$.steps[*].on.conductor_group'))
        from runs r where r.id = s.holder_id
        union select m.conductor_group from runs r join nodes m on m.uuid = r.node_uuid where r.id = s.holder_id)
    end as groups,
    case when n.uuid is not null then jsonb_build_object('uuid', n.uuid, 'name', n.name, 'driver', n.driver,
      'driver_info', n.driver_info, 'in_driver_info', strpos(n.driver_info::text, s.id::text) > 0) end as node
  from secrets s left join nodes n on s.holder in ('node', 'agent') and n.uuid = s.holder_id`;

export const resealing = (sql: Db) => ({
  async page(after: string | null, limit: number): Promise<SecretToSeal[]> {
    return sql<SecretToSeal[]>`
      ${selected(sql)} where s.id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000') order by s.id limit ${limit}`;
  },

  /**
   * Secrets of nodes and their ramdisks that are sealed to one of these keys, but not to their conductor group's.
   * @param keyOf key id by conductor group; `general` for all others
   */
  async strayed(
    keyIds: readonly string[],
    keyOf: Readonly<Record<string, string>>,
    general: string,
    limit: number,
  ): Promise<SecretToSeal[]> {
    return sql<SecretToSeal[]>`
      ${selected(sql)} where n.uuid is not null and s.key_id in ${sql([...keyIds])}
        and s.key_id <> coalesce(${sql.json(keyOf)}::jsonb ->> n.conductor_group, ${general}) order by s.id limit ${limit}`;
  },

  /** Undefined if there is no such node. */
  async ofNode(ident: NodeIdent): Promise<SecretToSeal[] | undefined> {
    const [node] =
      'uuid' in ident
        ? await sql<{ uuid: string }[]>`select uuid from nodes where uuid = ${ident.uuid}`
        : await sql<{ uuid: string }[]>`select uuid from nodes where name = ${ident.name}`;
    if (!node) return undefined;
    const rows = await sql<SecretToSeal[]>`${selected(sql)} where s.holder = 'node' and s.holder_id = ${node.uuid}`;
    return rows.filter((row) => row.node?.in_driver_info);
  },

  /** False if the secret has changed or is gone. */
  async replace(before: BoxedSecret, after: BoxedSecret): Promise<boolean> {
    const { path, key_id, bound, boxes, nonce, ciphertext } = after;
    const replaced = await sql`
      update secrets set path = ${path}, key_id = ${key_id}, bound = ${bound}, boxes = ${jsonOf(sql, boxes)},
        nonce = ${nonce}, ciphertext = ${ciphertext}
      where id = ${before.id} and ciphertext = ${before.ciphertext} returning 1`;
    return replaced.length === 1;
  },

  async keys(): Promise<KeyUse[]> {
    return sql<KeyUse[]>`select key_id, count(*)::int as count from secrets group by 1 order by 1`;
  },
});
