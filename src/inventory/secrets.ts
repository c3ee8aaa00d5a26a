/** Queries of the secrets table. The API's role may only write it; reading is for the BMC workers' role. */
import type { Db } from './database';
import type { SealedSecret } from './vault';

export type SecretHolder = 'node' | 'runbook' | 'run';

export const secrets = (sql: Db) => ({
  /** Stores sealed secrets of one holder. */
  async insert(holder: SecretHolder, holder_id: string, sealed: readonly SealedSecret[]): Promise<void> {
    if (sealed.length === 0) return;
    const rows = sealed.map((secret) => ({ ...secret, holder, holder_id }));
    await sql`insert into secrets ${sql(rows, 'id', 'holder', 'holder_id', 'path', 'key_id', 'nonce', 'ciphertext')}`;
  },

  /** Deletes what a holder no longer refers to. `keep` are the ids still in its documents. */
  async prune(holder: SecretHolder, holder_id: string, keep: readonly string[]): Promise<void> {
    await sql`delete from secrets where holder = ${holder} and holder_id = ${holder_id} and id <> all (${sql.array([...keep], 2951)})`;
  },

  /** Sealed rows by id; only the BMC workers' role may ask. */
  async read(ids: readonly string[]): Promise<{ id: string; key_id: string; nonce: Buffer; ciphertext: Buffer }[]> {
    if (ids.length === 0) return [];
    return sql`select id, key_id, nonce, ciphertext from secrets where id in ${sql(ids)}`;
  },
});
