/** Queries of Idempotency-Keys: one request does the work, and its repeats get the same answer. */
import type { RunUuid } from '../model/ids';
import type { Db } from './database';

/** Times are compared in PostgreSQL, never with a process's clock. */
export type KeyRow = {
  readonly request_id: string;
  readonly asked: Buffer;
  /** Its process has renewed it in time. */
  readonly alive: boolean;
  /** Its work is committed. */
  readonly changed: boolean;
  readonly action: string | null;
  readonly resource_id: string | null;
  readonly run_id: RunUuid | null;
  /** Null before the answer. */
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

/** Without a renewal in this time, a request is dead. A process renews three times within it. */
export const livesForMs = 15_000;

// Raised by the database function note_work.
const givenUp = 'TM001';

/** The transaction was stopped: another request has taken over the work. */
export const isGivenUp = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown as Error & { code?: unknown }).code === givenUp;

// A retry is needed only if the key expires or is freed meanwhile.
const tries = 5;

/** Per key: a caller with 100,000 keys holds at most 1 GiB. */
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
    /** Takes the key, or returns the request that has it. */
    async begin(asked: KeyAsked): Promise<KeyRow | undefined> {
      for (let tried = 0; tried < tries; tried++) {
        if ((await insert(asked)).length === 1) return undefined;
        const row = await holder(asked);
        if (row && !row.expired) return row;
        if (row) await sql`delete from idempotency where request_id = ${row.request_id} and expires_at <= now()`;
      }
      throw new Error('an idempotency key was neither free nor taken');
    },

    /** Counts a caller's keys among at most `most`; a long answer counts once per `keyBytes`. */
    async count(caller: Buffer, most: number): Promise<number> {
      const [row] = await sql<{ keys: number }[]>`
        select coalesce(sum(greatest(1, ceil(octet_length(body) / ${keyBytes}::float8))), 0)::int as keys
        from (select body from idempotency where caller = ${caller} and not superseded and expires_at > now() limit ${most}) kept`;
      return row!.keys;
    },

    async holds(caller: Buffer, key: string): Promise<boolean> {
      const rows = await sql`
        select 1 from idempotency where caller = ${caller} and key = ${key} and not superseded and expires_at > now()`;
      return rows.length > 0;
    },

    async renew(request_id: string): Promise<void> {
      await sql`update idempotency set lives_until = ${lives} where request_id = ${request_id} and answered_at is null`;
    },

    /** The request is dead from now on. */
    async abandon(request_id: string): Promise<void> {
      await sql`update idempotency set lives_until = now() where request_id = ${request_id} and answered_at is null`;
    },

    /** Resumes a dead request. False if another process does, or it has an answer. */
    async revive(request_id: string): Promise<boolean> {
      const revived = await sql`
        update idempotency set lives_until = ${lives}
        where request_id = ${request_id} and answered_at is null and lives_until <= now() returning 1`;
      return revived.length === 1;
    },

    /** Takes the key from a dead request without changes. False if that is no longer so. */
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

    async answered(request_id: string, { status, headers, body }: KeptAnswer): Promise<void> {
      await sql`
        update idempotency set answered_at = now(), status = ${status}, headers = ${sql.json(headers)}, body = ${body}
        where request_id = ${request_id} and answered_at is null`;
    },

    /** Frees the key of a failed request. False if it has changed something. */
    async forget(request_id: string): Promise<boolean> {
      const gone = await sql`
        delete from idempotency where request_id = ${request_id} and changed_at is null and not superseded returning 1`;
      return gone.length === 1;
    },

    /** Deletes expired keys. @returns how many */
    async sweep(): Promise<number> {
      return (await sql`delete from idempotency where expires_at <= now() returning 1`).length;
    },
  };
};
