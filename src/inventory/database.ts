/** The connection to PostgreSQL, and the encoding of values. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
/** The pool or a transaction. */
export type Db = Sql | postgres.TransactionSql<{ bigint: number }>;
/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Host option for IPv6: postgres.js would cut the address in a URL at its first colon. */
export const ipv6Host = (url: string): { readonly host?: string } => {
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '' };
  if (!hostname.startsWith('[')) return {};
  // postgres.js accepts lists, but its types lack them.
  return { host: [hostname.slice(1, -1)], port: [Number(port || 5432)] } as object;
};

/**
 * Opens a pool. Timestamps arrive as Date, bigints as number (sequences and fences stay far below 2^53).
 * @param url role's own URL; @param max connections, default 10
 */
export const connect = (url: string, { max = 10, name = 'temper' }: { max?: number; name?: string } = {}): Sql =>
  postgres(url, {
    ...ipv6Host(url),
    max,
    connect_timeout: 10, // seconds that callers wait for a silent PostgreSQL
    onnotice: () => {},
    connection: { application_name: name },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });

/** A jsonb parameter. The API's types are wider than postgres.js' JSON: undefined fields are left out. */
export const jsonOf = (sql: Db, document: unknown) => sql.json(document as postgres.JSONValue);

export const columnsOf = (sql: Db, values: object) =>
  sql(values as Readonly<Record<string, postgres.ParameterOrJSON<never>>>);

/** See `Inventory.alone`. */
export const alone = async <T>(sql: Sql, what: string, work: () => Promise<T>): Promise<T | undefined> => {
  const connection = await sql.reserve();
  const key = connection`hashtext('temper'), hashtext(${what})`;
  try {
    const [lock] = await connection<{ taken: boolean }[]>`select pg_try_advisory_lock(${key}) as taken`;
    if (!lock!.taken) return undefined;
    try {
      return await work();
    } finally {
      await connection`select pg_advisory_unlock(${key})`;
    }
  } finally {
    connection.release();
  }
};

type PgError = Error & { code: string; constraint_name?: string; detail?: string };
const uniqueViolation = '23505';
const foreignKeyViolation = '23503';

/** The violated unique constraint. */
export const brokenUnique = (thrown: unknown): string | undefined =>
  thrown instanceof Error && (thrown as PgError).code === uniqueViolation
    ? (thrown as PgError).constraint_name
    : undefined;

/** The violated foreign key. */
export const brokenReference = (thrown: unknown): string | undefined =>
  thrown instanceof Error && (thrown as PgError).code === foreignKeyViolation
    ? (thrown as PgError).constraint_name
    : undefined;

/** PostgreSQL's message if it rejects a value. */
export const brokenValue = (thrown: unknown): string | undefined => {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', message, detail } = thrown as PgError;
  // Data exceptions and oversized values. The detail of a constraint is the whole row, so it is left out.
  if (/^(?:22|54)[0-9A-Z]{3}$/.test(code)) return detail ? `${message}: ${detail}` : message;
  return /^23[0-9A-Z]{3}$/.test(code) ? message : undefined;
};

// Codes of postgres.js without a server, and of a server that starts or stops (57P).
const awayCodes = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  '57P02',
  '57P03',
  '58030', // I/O error
]);

// Class 53 of PostgreSQL's error codes, "Insufficient Resources".
const outOfResources = /^53[0-9A-Z]{3}$/;

/** PostgreSQL is unreachable or out of resources. */
export const isStoreAway = (thrown: unknown): boolean => {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const code = String((thrown as Partial<PgError>).code);
  return awayCodes.has(code) || outOfResources.test(code);
};

// Serialization failure and deadlock.
const contended = new Set(['40001', '40P01']);

/** PostgreSQL has rolled back because of a concurrent transaction. */
export const isContended = (thrown: unknown): boolean =>
  thrown instanceof Error && contended.has(String((thrown as Partial<PgError>).code));

const triesWhenContended = 3;
/** Longest random pause before a retry. Statements that the failed try has sent end within it. */
const pauseWhenContendedMs = 100;

/** Retries after a conflict, so `work` may run more than once. It must not change its inputs or anything outside of PostgreSQL. */
export const transacted = async <T>(
  sql: Sql,
  work: (tx: postgres.TransactionSql<{ bigint: number }>) => Promise<T>,
): Promise<T> => {
  for (let tried = 1; ; tried += 1) {
    try {
      return (await sql.begin(work)) as T;
    } catch (thrown) {
      if (tried === triesWhenContended || !isContended(thrown)) throw thrown;
    }
    await sleep(pauseWhenContendedMs * (0.5 + Math.random() / 2));
  }
};

/** PostgreSQL's clock in epoch milliseconds. */
export const clockOf = async (sql: Db): Promise<number> => {
  const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  return row!.ms;
};

/**
 * True if `ms` have passed since a recorded time, or that time is ahead of the clock. The clock was then set back, and waiting for it could
 * take long.
 */
export const passedSince = (sql: Db, column: string, ms: number) => sql`
  (${sql(column)} <= now() - ${ms} * interval '1 millisecond' or ${aheadOfClock(sql, column)})`;

/** The minute tolerates transactions that began later. */
export const aheadOfClock = (sql: Db, column: string) => sql`${sql(column)} > clock_timestamp() + interval '1 minute'`;

// Type OIDs: postgres.js guesses them from the first element, which an empty list lacks.
const textArrayType = 1009;
const uuidArrayType = 2951;
const numberArrayType = 1016;

export const textArray = (sql: Db, values: Iterable<string>) => sql.array([...values], textArrayType);

export const numberArray = (sql: Db, values: Iterable<number>) => sql.array([...values], numberArrayType);

export const uuidArray = (sql: Db, values: Iterable<string>) => sql.array([...values], uuidArrayType);
