/** Queries of the secrets table. The API's role may only write it; reading is for the BMC workers' role. */
import type { NodeUuid } from '../model/ids';
import type { Db } from './database';
import type { SealedSecret } from './vault';

export type SecretHolder =
  | 'node'
  | 'runbook'
  | 'run'
  | 'agent'
  | 'volume_target'
  | 'deploy_template'
  | 'inspection_rule';

/** The statement that stores sealed secrets of one holder; at least one. Also part of a larger statement. */
export const secretsInsert = (sql: Db, holder: SecretHolder, holder_id: string, sealed: readonly SealedSecret[]) => {
  const rows = sealed.map((secret) => ({ ...secret, holder, holder_id }));
  return sql`insert into secrets ${sql(rows, 'id', 'holder', 'holder_id', 'path', 'key_id', 'nonce', 'ciphertext')}`;
};

export const secrets = (sql: Db) => ({
  /** Stores sealed secrets of one holder. */
  async insert(holder: SecretHolder, holder_id: string, sealed: readonly SealedSecret[]): Promise<void> {
    if (sealed.length > 0) await secretsInsert(sql, holder, holder_id, sealed);
  },

  /**
   * Deletes what a holder no longer refers to. `keep` are the ids still in its documents. What the frozen steps of an
   * unfinished run refer to stays until the sweep after its end.
   */
  async prune(holder: SecretHolder, holder_id: string, keep: readonly string[]): Promise<void> {
    await sql`
      delete from secrets
      where holder = ${holder} and holder_id = ${holder_id} and id <> all (${sql.array([...keep], 2951)})
        and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0)`;
  },

  /** Deletes what a node's row no longer refers to: what belonged to its instance goes with it. */
  async dropUnused(node: NodeUuid): Promise<void> {
    await sql`
      delete from secrets s using nodes n
      where n.uuid = ${node} and s.holder = 'node' and s.holder_id = n.uuid and strpos(n::text, s.id::text) = 0`;
  },

  /**
   * Deletes what nobody can need any more: secrets of runs that ended (of failed and aborted ones a week later, for they may be
   * looked into and taken up), of runbooks and deploy templates that neither they nor an unfinished run refer to, of what went with its
   * node, and tokens of ramdisks that are gone. @returns how many
   */
  async sweep(): Promise<number> {
    const gone = await sql`
      delete from secrets
      where (holder = 'run' and not exists (
          select 1 from runs where runs.id = secrets.holder_id
            and (finished_at is null or (state in ('failed', 'aborted') and finished_at > now() - interval '7 days')))
          and not exists (select 1 from runs where finished_at is null and strpos(input::text, secrets.id::text) > 0))
        or (holder = 'agent' and not exists (select 1 from agents where agents.token_secret = secrets.id))
        or (holder = 'volume_target' and not exists (select 1 from volume_targets where uuid = secrets.holder_id))
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

  /** How many of these are still there. */
  async count(ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    return (await sql`select id from secrets where id in ${sql([...ids])}`).length;
  },

  /** Sealed rows by id; only the BMC workers' role may ask. */
  async read(ids: readonly string[]): Promise<{ id: string; key_id: string; nonce: Buffer; ciphertext: Buffer }[]> {
    if (ids.length === 0) return [];
    return sql`select id, key_id, nonce, ciphertext from secrets where id in ${sql(ids)}`;
  },
});
