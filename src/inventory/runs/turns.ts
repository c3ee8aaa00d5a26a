/** Queries of turns: where only so many runs of a class may work at once, projects share them out evenly. */
import type { Lock, RunInput } from '../../model/runs/runs';
import type { Db } from '../database';
import { heldBy } from '../fence';

type Limit = NonNullable<RunInput['limit']>;

// One turn is given at a time, in all processes; the key is this table's own.
const lockKey = 0x7475726e;

export const turns = (sql: Db) => {
  // A run that waits for a person does no work: it is held, parked, paused or frozen, for days perhaps.
  const works = sql`turn_at is not null and state not in ('parked', 'paused')
    and waiting_for is distinct from 'unhold' and waits_on is distinct from 'freeze'`;
  // A run that lets its time pass, or that the engine cannot start, keeps no other run's turn.
  const stands = sql`waits_on is distinct from 'time' and (state <> 'accepted' or created_at > now() - interval '1 minute')`;
  const open = (of: string) => sql`runs where limit_class = ${of} and finished_at is null`;
  return {
    /** Whether the run has its turn already, and whether as many of its class are at work as may be. Gives nothing. */
    async look(run: Lock['run'], { class: of, max }: Limit): Promise<{ has: boolean; full: boolean }> {
      const [row] = await sql<{ has: boolean; full: boolean }[]>`
        select (select turn_at is not null from runs where id = ${run}) as has,
          (select count(*) from (select 1 from ${open(of)} and ${works} limit ${max}) working) >= ${max} as full`;
      return row!;
    },

    /**
     * Gives the run its turn where it is the next of its class: the project whose nodes have the fewest at work goes first,
     * within a project the oldest. In a transaction, for turns of a class are given one at a time. @returns whether it has one
     */
    async give(lock: Lock, { class: of, max }: Limit): Promise<boolean> {
      await sql`select pg_advisory_xact_lock(${lockKey}, hashtext(${of}))`;
      const given = await sql`
        with held as (${heldBy(sql, lock)}), working as (select owner, count(*) as at_work from ${open(of)} and ${works} group by owner),
        places as (
          select id, created_at, coalesce(at_work, 0) + row_number() over (partition by w.owner order by created_at, id) as turn
          from (select id, owner, created_at from ${open(of)} and turn_at is null and ${stands} or id = ${lock.run}) w
            left join working on working.owner is not distinct from w.owner
        ), next as (
          select id from places order by turn, created_at, id
          limit greatest(0, ${max} - (select coalesce(sum(at_work), 0) from working))
        )
        update runs set turn_at = coalesce(turn_at, now()), waits_on = null, updated_at = now()
        where id = ${lock.run} and exists (select 1 from held)
          and (turn_at is not null or id in (select id from next)) returning 1`;
      return given.length === 1;
    },

    /** The run waits, and others may go by; it stands in line again when it goes on. */
    async giveBack(lock: Lock): Promise<void> {
      await sql`
        with held as (${heldBy(sql, lock)})
        update runs set turn_at = null, waits_on = 'time' where id = ${lock.run} and exists (select 1 from held)`;
    },
  };
};
