/** Turns: projects share the bound on runs of a class evenly. */
import type { Lock, RunInput } from '../../model/runs/runs';
import type { Db } from '../database';
import { heldBy } from '../fence';

type Limit = NonNullable<RunInput['limit']>;

// Turns are given one at a time in all processes.
const lockKey = 0x7475726e;

export const turns = (sql: Db) => {
  // A run that waits for a user does no work, perhaps for days.
  const works = sql`turn_at is not null and state not in ('parked', 'paused')
    and waiting_for is distinct from 'unhold' and waits_on is distinct from 'freeze'`;
  // Runs that wait for a time, or that Temporal does not start, block no others.
  const stands = sql`waits_on is distinct from 'time' and (state <> 'accepted' or created_at > now() - interval '1 minute')`;
  const open = (of: string) => sql`runs where limit_class = ${of} and finished_at is null`;
  return {
    /** `full`: the class is at its bound. Changes nothing. */
    async look(run: Lock['run'], { class: of, max }: Limit): Promise<{ has: boolean; full: boolean }> {
      const [row] = await sql<{ has: boolean; full: boolean }[]>`
        select (select turn_at is not null from runs where id = ${run}) as has,
          (select count(*) from (select 1 from ${open(of)} and ${works} limit ${max}) working) >= ${max} as full`;
      return row!;
    },

    /**
     * Gives the run its turn if it is next: first the project with the fewest runs at work, then the oldest run. Call it in a transaction.
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

    /** The run waits and others may pass. It queues again when it continues. */
    async giveBack(lock: Lock): Promise<void> {
      await sql`
        with held as (${heldBy(sql, lock)})
        update runs set turn_at = null, waits_on = 'time' where id = ${lock.run} and exists (select 1 from held)`;
    },
  };
};
