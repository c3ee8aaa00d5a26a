/** Owners of the traits of runbooks. */
import type { RunbookUuid } from '../model/ids';
import { type Db, textArray } from './database';

export const runbookTraits = (sql: Db) => ({
  /**
   * Claims free traits for a runbook's owner: no other runbook has them (as trait or name), nor a node. Call it in the transaction that
   * writes the runbook; concurrent claims wait.
   * @param owner null: the system
   * @returns traits of other owners
   */
  async claim(runbook: RunbookUuid, owner: string | null, traits: readonly string[]): Promise<string[]> {
    if (traits.length === 0) return [];
    const wanted = textArray(sql, traits);
    await sql`
      insert into runbook_traits (trait, owner)
      select wanted.trait, case when bearer.uuid is null then ${owner}::text else bearer.owner end
      from unnest(${wanted}) as wanted (trait)
      left join lateral (
        select uuid, owner from runbooks r
        where r.uuid <> ${runbook} and (r.name = wanted.trait or wanted.trait = any (r.traits))
        order by r.created_at, r.id limit 1
      ) bearer on true
      order by wanted.trait
      on conflict (trait) do nothing`;
    await sql`
      update runbook_traits t set owner = ${owner}
      where t.trait = any (${wanted}) and t.owner is distinct from ${owner}
        and not exists (
          select 1 from runbooks r
          where r.uuid <> ${runbook} and (r.name = t.trait or t.trait = any (r.traits)))
        and not exists (select 1 from nodes n where t.trait = any (n.traits))`;
    const rows = await sql<{ trait: string }[]>`
      select trait from runbook_traits
      where trait = any (${wanted}) and owner is distinct from ${owner}
      order by trait for update`;
    return rows.map(({ trait }) => trait);
  },

  /** Gives traits to the system, regardless of their owner. */
  async takeOver(traits: readonly string[]): Promise<void> {
    await sql`update runbook_traits set owner = null where trait = any (${textArray(sql, traits)})`;
  },
});
