/** The connection to Postgres, and the one place that knows how values travel. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;
/** What a query file is given: the pool, or a transaction of it. */
export type Db = Sql | postgres.TransactionSql<{ bigint: number }>;

/** An IPv6 address as the client has to have it: from a URL it takes the first of its colons for the one before a port. */
export const ipv6Host = (url: string): { readonly host?: string } => {
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '' };
  if (!hostname.startsWith('[')) return {};
  // A list of them, which the client's types do not know.
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
    connect_timeout: 10, // seconds; callers wait for it while Postgres is silent
    onnotice: () => {},
    connection: { application_name: name },
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });

/** A document as a parameter of type jsonb. The wire's types are wider than postgres.js' JSON: undefined in them is left out. */
export const jsonOf = (sql: Db, document: unknown) => sql.json(document as postgres.JSONValue);

/** Columns and their values for `set` and `insert`, in the order of the object's keys. */
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

/** The constraint that a duplicate broke, or undefined for any other error. */
export const brokenUnique = (thrown: unknown): string | undefined =>
  thrown instanceof Error && (thrown as PgError).code === uniqueViolation
    ? (thrown as PgError).constraint_name
    : undefined;

/** The constraint that a reference to nothing, or the end of what is referred to, broke; undefined for any other error. */
export const brokenReference = (thrown: unknown): string | undefined =>
  thrown instanceof Error && (thrown as PgError).code === foreignKeyViolation
    ? (thrown as PgError).constraint_name
    : undefined;

/** Why the store does not take a value as it is, in Postgres' own words; undefined for any other error. */
export const brokenValue = (thrown: unknown): string | undefined => {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', message, detail } = thrown as PgError;
  // Data exceptions, and what is too large for an index or a document; of constraints the detail is the whole row.
  if (/^(?:22|54)[0-9A-Z]{3}$/.test(code)) return detail ? `${message}: ${detail}` : message;
  return /^23[0-9A-Z]{3}$/.test(code) ? message : undefined;
};

// What postgres.js says when the server is away, and what a server says that starts or ends (class 57P).
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
  '58030', // its disk gives an error
]);

// Class 53 of PostgreSQL's error codes, "Insufficient Resources": no connection left, the disk or the memory full.
const outOfResources = /^53[0-9A-Z]{3}$/;

/** Whether a query failed because the database could not be reached or has no room, rather than because of the query. */
export const isStoreAway = (thrown: unknown): boolean => {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const code = String((thrown as Partial<PgError>).code);
  return awayCodes.has(code) || outOfResources.test(code);
};

// Serialization failure and deadlock: nothing was wrong with a transaction but the one that it met.
const contended = new Set(['40001', '40P01']);

/** Whether Postgres has undone a statement, and the transaction around it, because it and another one stood in each other's way. */
export const isContended = (thrown: unknown): boolean =>
  thrown instanceof Error && contended.has(String((thrown as Partial<PgError>).code));

const triesWhenContended = 3;
/** Before each further try at most, so that two do not meet again. Longer than what was sent for the one before takes to end. */
const pauseWhenContendedMs = 100;

/**
 * One transaction, begun anew where it met another one: what it did is undone then. So `work` may run more than once, and does nothing
 * outside of the database, nor to what it is given.
 */
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

/** The time by this database's clock, epoch milliseconds. */
export const clockOf = async (sql: Db): Promise<number> => {
  const [row] = await sql<{ ms: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  return row!.ms;
};

/**
 * Whether so long has passed since a time that this database noted. A time that is ahead of its clock was noted before the clock
 * was set back: that counts as long ago, or what is done again after a pause would wait until the clock is there once more.
 */
export const passedSince = (sql: Db, column: string, ms: number) => sql`
  (${sql(column)} <= now() - ${ms} * interval '1 millisecond' or ${aheadOfClock(sql, column)})`;

/** Whether a time that this database noted is ahead of its clock; a minute is left for transactions that began later. */
export const aheadOfClock = (sql: Db, column: string) => sql`${sql(column)} > clock_timestamp() + interval '1 minute'`;

// Types of Postgres' own: the client guesses one from the first element, and has none to go by in an empty list.
const textArrayType = 1009;
const uuidArrayType = 2951;

/** A list as one parameter of type text[]. */
export const textArray = (sql: Db, values: Iterable<string>) => sql.array([...values], textArrayType);

/** A list as one parameter of type uuid[]. */
export const uuidArray = (sql: Db, values: Iterable<string>) => sql.array([...values], uuidArrayType);
