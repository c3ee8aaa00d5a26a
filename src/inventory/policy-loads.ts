/** Queries of policy loads: their audit rows, and the texts in force. */
import type { PolicyLoad, PolicyTexts } from '../model/access/policy-loads';
import { sha256Of } from '../model/digests';
import type { Requester } from '../model/runs/runs';
import { type Db, jsonOf } from './database';

export type RecordedLoad = PolicyLoad & { readonly host: string; readonly request_id: string };

const loadDigest = ({ set, mode, files }: PolicyLoad): string =>
  sha256Of(JSON.stringify([set, mode, files.map(({ path, sha256 }) => [path, sha256])]));

const longestFault = 2_000;

const dataOf = ({ set, mode, reason, files, host }: RecordedLoad) => ({
  set,
  mode,
  host,
  ...(reason !== null && { reason: reason.slice(0, longestFault) }),
  files: files.map(({ text: _text, ...file }) => file),
});

export const policyLoads = (sql: Db) => ({
  /** Writes the audit row, and the text if it is new and in force. Idempotent by request id. */
  async record(load: RecordedLoad): Promise<void> {
    const requester: Requester = {
      user_id: null,
      user_name: null,
      project_id: null,
      system_scope: 'all',
      strategy: 'process',
      request_id: load.request_id,
    };
    const digest = loadDigest(load);
    const files = load.files.map(({ path, text, sha256, rules }) => ({ path, text, sha256, rules }));
    if (load.rule_set !== null)
      await sql`
        insert into policy_texts (digest, rule_set, set_name, mode, files)
        values (${digest}, ${load.rule_set}, ${load.set}, ${load.mode}, ${jsonOf(sql, files)})
        on conflict (digest) do nothing`;
    const verdict = load.rule_set === null ? 'failed' : 'granted';
    await sql`
      insert into audit (at, requester, action, verdict, rule_set, code, resource, resource_id, data)
      select ${load.at}, ${jsonOf(sql, requester)}, 'policy.load', ${verdict}, ${load.rule_set},
        ${load.rule_set === null ? 'PolicyInvalid' : null}, 'policy', ${digest}, ${jsonOf(sql, dataOf(load))}
      where not exists (select from audit where request_id = ${load.request_id})`;
  },

  /** A process has loaded this rule set before. */
  async known(rule_set: string): Promise<boolean> {
    return (await sql`select 1 from policy_texts where rule_set = ${rule_set} limit 1`).length > 0;
  },

  async has(digest: string): Promise<boolean> {
    return (await sql`select 1 from policy_texts where digest = ${digest}`).length > 0;
  },

  /** Newest first. @param hash prefix of a digest or of a rule set's hash @param after digest of the last row before */
  async list({ hash, limit, after }: { hash?: string; limit: number; after?: string }): Promise<PolicyTexts[]> {
    const begins = hash === undefined ? null : `${hash.replace(/[\\%_]/g, '\\$&')}%`;
    const place = sql`(select m.first_at from policy_texts m where m.digest = ${after ?? null})`;
    return sql<PolicyTexts[]>`
      select digest, rule_set, set_name as set, mode, first_at, files from policy_texts
      where (${begins}::text is null or digest like ${begins} or rule_set like ${begins})
        ${after ? sql`and first_at <= ${place} and (first_at < ${place} or digest > ${after})` : sql``}
      order by first_at desc, digest limit ${limit}`;
  },
});
