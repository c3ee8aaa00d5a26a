/** Queries of secrets. The API's role may only insert. */
import type { NodeUuid } from '../../model/ids';
import { type Db, jsonOf, uuidArray } from '../database';
import type { BoxedSecret, SecretHolder } from './sealing';

const secretColumns = ['id', 'holder', 'holder_id', 'path', 'key_id', 'bound', 'boxes', 'nonce', 'ciphertext'] as const;

/** At least one; also part of a larger statement. */
export const secretsInsert = (sql: Db, sealed: readonly BoxedSecret[]) => {
  const rows = sealed.map((secret) => ({ ...secret, boxes: jsonOf(sql, secret.boxes) }));
  return sql`insert into secrets ${sql(rows as never, ...(secretColumns as never))}`;
};

export const secrets = (sql: Db) => ({
  async insert(sealed: readonly BoxedSecret[]): Promise<void> {
    if (sealed.length > 0) await secretsInsert(sql, sealed);
  },

  /** Deletes secrets not in `keep`. Those in steps of an open run stay until the sweep after its end. */
  async prune(holder: SecretHolder, holder_id: string, keep: readonly string[]): Promise<void> {
    await sql`
      delete from secrets
      where holder = ${holder} and holder_id = ${holder_id} and id <> all (${uuidArray(sql, keep)})
        and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0)`;
  },

  /** Deletes secrets that a node's row no longer has. */
  async dropUnused(node: NodeUuid): Promise<void> {
    await sql`
      delete from secrets s using nodes n
      where n.uuid = ${node} and s.holder = 'node' and s.holder_id = n.uuid and strpos(n::text, s.id::text) = 0`;
  },

  /**
   * Secrets of failed and aborted runs stay a week, because such runs may be inspected or resumed. Most kinds also stay while an open run
   * refers to them. @returns how many were deleted
   */
  async sweep(): Promise<number> {
    const gone = await sql`
      delete from secrets
      where (holder = 'run' and not exists (
          select 1 from runs where runs.id = secrets.holder_id
            and (finished_at is null or (state in ('failed', 'aborted') and finished_at > now() - interval '7 days')))
          and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0))
        or (holder = 'agent' and not exists (select 1 from agents where agents.token_secret = secrets.id)
          and not exists (select 1 from boot_capabilities b where secrets.id in (b.url_secret, b.token_secret)))
        or (holder = 'volume_target'
          and not exists (select 1 from volume_targets t where t.uuid = secrets.holder_id and strpos(t::text, secrets.id::text) > 0)
          and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0))
        or (holder = 'node'
          and not exists (select 1 from nodes n where n.uuid = secrets.holder_id and strpos(n::text, secrets.id::text) > 0)
          and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0))
        or (holder = 'inspection_rule' and not exists (select 1 from inspection_rules where uuid = secrets.holder_id))
        or (holder = 'deploy_template'
          and not exists (select 1 from deploy_templates t where t.uuid = secrets.holder_id and strpos(t.steps::text, secrets.id::text) > 0)
          and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0))
        or holder = 'runbook'
        and not exists (select 1 from runbooks where runbooks.uuid = secrets.holder_id and strpos(steps::text, secrets.id::text) > 0)
        and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0)
      returning 1`;
    return gone.length;
  },

  async count(ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    return (await sql`select id from secrets where id in ${sql([...ids])}`).length;
  },

  /** Only the BMC workers' role reads them. */
  async read(ids: readonly string[]): Promise<BoxedSecret[]> {
    if (ids.length === 0) return [];
    return sql<BoxedSecret[]>`select ${sql([...secretColumns])} from secrets where id in ${sql(ids)}`;
  },
});
