/** Source database, MariaDB or PostgreSQL: read in one snapshot and never written. */
import mysql from 'mysql2/promise';
import postgres from 'postgres';
import { ipv6Host } from '../inventory/database';

export type SourceRow = Readonly<Record<string, unknown>>;

export type Source = {
  /** Booleans are boolean, times are Date, documents are text. */
  rows(table: string): Promise<readonly SourceRow[]>;
  count(table: string): Promise<number>;
  close(): Promise<void>;
};

/** The database cannot be imported. */
export class SourceFault extends Error {}

// Type id of PostgreSQL.
const timestampType = 1114;
const connectMs = 10_000;

/** Ironic stores UTC without a time zone. */
const utc = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

const openPostgres = async (url: string): Promise<Source> => {
  const sql = postgres(url, {
    ...ipv6Host(url),
    max: 1,
    connect_timeout: connectMs / 1_000,
    onnotice: () => {},
    connection: { application_name: 'temper-import' },
    types: { utc: { to: timestampType, from: [timestampType], serialize: String, parse: utc } },
  });
  try {
    await sql`select 1`;
    await sql.unsafe('begin isolation level repeatable read read only');
  } catch (thrown) {
    await sql.end({ timeout: 1 });
    throw thrown;
  }
  return {
    rows: (table) => sql`select * from ${sql(table)} order by 1`,
    async count(table) {
      const [row] = await sql<[{ rows: string }]>`select count(*) as rows from ${sql(table)}`;
      return Number(row.rows);
    },
    close: () => sql.end({ timeout: 1 }),
  };
};

/** Removes the driver's name that SQLAlchemy has in the scheme of URLs. */
const addressOf = (url: string): URL => {
  if (!URL.canParse(url)) throw new SourceFault('The address of the database is no URL.');
  const address = new URL(url);
  address.protocol = address.protocol.replace(/\+.*$/, ':');
  return address;
};

const openMysql = async (address: URL): Promise<Source> => {
  const socket = address.searchParams.get('unix_socket');
  const ca = address.searchParams.get('ssl_ca');
  const connection = await mysql.createConnection({
    ...(socket
      ? { socketPath: socket }
      : { host: address.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(address.port || 3306) }),
    user: decodeURIComponent(address.username),
    password: decodeURIComponent(address.password),
    database: decodeURIComponent(address.pathname.slice(1)),
    ...(ca && { ssl: { ca: await (await import('node:fs/promises')).readFile(ca, 'utf8') } }),
    charset: 'utf8mb4',
    timezone: 'Z',
    connectTimeout: connectMs,
    // MariaDB's boolean is a one-digit number.
    typeCast: (field, next) => {
      if (field.type !== 'TINY' || field.length !== 1) return next();
      const text = field.string();
      return text === null ? null : text === '1';
    },
  });
  try {
    await connection.query('set transaction isolation level repeatable read');
    await connection.query('start transaction with consistent snapshot, read only');
  } catch (thrown) {
    await connection.end();
    throw thrown;
  }
  return {
    async rows(table) {
      const [rows] = await connection.query<mysql.RowDataPacket[]>('select * from ?? order by 1', [table]);
      return rows;
    },
    async count(table) {
      const [rows] = await connection.query<mysql.RowDataPacket[]>('select count(*) as n from ??', [table]);
      return Number(rows[0]?.n);
    },
    close: () => connection.end(),
  };
};

/** Opens `[database] connection` of ironic.conf. Throws SourceFault if it is unreachable. */
export const openSource = async (url: string): Promise<Source> => {
  const address = addressOf(url);
  const kind = address.protocol.slice(0, -1);
  try {
    if (kind === 'postgresql' || kind === 'postgres') return await openPostgres(address.href);
    if (kind === 'mysql' || kind === 'mariadb') return await openMysql(address);
  } catch (thrown) {
    const { message, code } = thrown as NodeJS.ErrnoException;
    throw new SourceFault(`The database could not be opened: ${message || code}.`);
  }
  throw new SourceFault(`A database of kind ${kind} cannot be imported from; mysql and postgresql can.`);
};
