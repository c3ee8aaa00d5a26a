/** Queries of what was asked under an Idempotency-Key: one request does the work, all others get what it was answered. */
import type { RunUuid } from '../model/ids';
import type { Db } from './database';

/** The request that has a key now. Times are the store's, so that the clocks of two processes are never compared. */
export type KeyRow = {
  readonly request_id: string;
  readonly asked: Buffer;
  /** Whether the process that serves it still says so. */
  readonly alive: boolean;
  /** Whether its work is written down. */
  readonly changed: boolean;
  readonly action: string | null;
  readonly resource_id: string | null;
  readonly run_id: RunUuid | null;
  /** Null while it is not answered. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: string | null;
};

export type KeyAsked = {
  readonly request_id: string;
  readonly caller: Buffer;
  readonly key: string;
  readonly asked: Buffer;
  readonly keptForHours: number;
};

export type KeptAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** How long a request counts as being served without a renewal; a live process renews three times within. */
export const livesForMs = 15_000;

// Raised by the function note_work of the database.
const givenUp = 'TM001';

/** Whether a transaction was stopped because its request had been given up and another one does the work. */
export const isGivenUp = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown as Error & { code?: unknown }).code === givenUp;

// Only a key that ends at the very moment it is asked for is tried again.
const tries = 5;

/** Of an answer, for one key. With 100,000 keys a caller holds 1 GiB at most. */
const keyBytes = 10 * 1024;

export const idempotency = (sql: Db) => {
  const lives = sql`now() + ${livesForMs} * interval '1 millisecond'`;

  const insert = ({ request_id, caller, key, asked, keptForHours }: KeyAsked) => sql`
    insert into idempotency (request_id, caller, key, asked, lives_until, expires_at)
    values (${request_id}, ${caller}, ${key}, ${asked}, ${lives}, now() + ${keptForHours} * interval '1 hour')
    on conflict (caller, key) where not superseded do nothing returning 1`;

  const holder = async ({ caller, key }: KeyAsked): Promise<(KeyRow & { expired: boolean }) | undefined> => {
    const [row] = await sql<(KeyRow & { expired: boolean })[]>`
      select request_id, asked, lives_until > now() as alive, changed_at is not null as changed, action, resource_id, run_id,
        status, headers, body, expires_at <= now() as expired
      from idempotency where caller = ${caller} and key = ${key} and not superseded`;
    return row;
  };

  return {
    /** Takes the key for this request; answers the request that has it where it is taken. */
    async begin(asked: KeyAsked): Promise<KeyRow | undefined> {
      for (let tried = 0; tried < tries; tried++) {
        if ((await insert(asked)).length === 1) return undefined;
        const row = await holder(asked);
        if (row && !row.expired) return row;
        if (row) await sql`delete from idempotency where request_id = ${row.request_id} and expires_at <= now()`;
      }
      throw new Error('an idempotency key was neither free nor taken');
    },

    /** How many keys of a caller are kept, of `most` that are looked at; one with a long answer counts once for each `keyBytes` of it. */
    async count(caller: Buffer, most: number): Promise<number> {
      const [row] = await sql<{ keys: number }[]>`
        select coalesce(sum(greatest(1, ceil(octet_length(body) / ${keyBytes}::float8))), 0)::int as keys
        from (select body from idempotency where caller = ${caller} and not superseded and expires_at > now() limit ${most}) kept`;
      return row!.keys;
    },

    /** Whether a request of the caller has the key. */
    async holds(caller: Buffer, key: string): Promise<boolean> {
      const rows = await sql`
        select 1 from idempotency where caller = ${caller} and key = ${key} and not superseded and expires_at > now()`;
      return rows.length > 0;
    },

    /** Puts off the moment from which this request counts as dead. */
    async renew(request_id: string): Promise<void> {
      await sql`update idempotency set lives_until = ${lives} where request_id = ${request_id} and answered_at is null`;
    },

    /** Counts this request as dead from now on. */
    async abandon(request_id: string): Promise<void> {
      await sql`update idempotency set lives_until = now() where request_id = ${request_id} and answered_at is null`;
    },

    /** Takes the work of a dead request up again as that request; false where another process does, or it is answered. */
    async revive(request_id: string): Promise<boolean> {
      const revived = await sql`
        update idempotency set lives_until = ${lives}
        where request_id = ${request_id} and answered_at is null and lives_until <= now() returning 1`;
      return revived.length === 1;
    },

    /** Gives up a dead request that has written nothing down and takes its key; false where that is not so any more. */
    async takeOver(before: string, asked: KeyAsked): Promise<boolean> {
      const taken = await sql`
        with given_up as (
          update idempotency set superseded = true
          where request_id = ${before} and not superseded and changed_at is null and answered_at is null and lives_until <= now()
          returning expires_at
        )
        insert into idempotency (request_id, caller, key, asked, lives_until, expires_at)
        select ${asked.request_id}, ${asked.caller}, ${asked.key}, ${asked.asked}, ${lives}, expires_at from given_up
        returning 1`;
      return taken.length === 1;
    },

    /** Keeps what the request was answered, for its repeats. */
    async answered(request_id: string, { status, headers, body }: KeptAnswer): Promise<void> {
      await sql`
        update idempotency set answered_at = now(), status = ${status}, headers = ${sql.json(headers)}, body = ${body}
        where request_id = ${request_id} and answered_at is null`;
    },

    /** Frees the key of a request that failed with nothing written down; false where something is. */
    async forget(request_id: string): Promise<boolean> {
      const gone = await sql`
        delete from idempotency where request_id = ${request_id} and changed_at is null and not superseded returning 1`;
      return gone.length === 1;
    },

    /** Deletes what is kept long enough. @returns how many */
    async sweep(): Promise<number> {
      return (await sql`delete from idempotency where expires_at <= now() returning 1`).length;
    },
  };
};
