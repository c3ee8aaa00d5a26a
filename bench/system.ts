/** The running system as the bench sees it: addresses and processes of its record, and a token as an operator has one. */
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { parse } from 'yaml';
import { maxVersion } from '../src/model/microversions';

export type System = {
  readonly api: string;
  readonly temporal: string;
  readonly postgresUrl: string;
  /** As the owner of the database, for what no client can ask. */
  readonly sql: postgres.Sql;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  /** What a request of an operator carries. */
  readonly headers: Readonly<Record<string, string>>;
};

type Record_ = {
  addresses: { api: string; identity: string; temporal: string; postgresUrl: string; clouds: string };
  processes: { name: string; pid: number }[];
};

/** Reads the record of a system and signs an operator in. */
export const openSystem = async (file: string): Promise<System> => {
  const { addresses, processes } = JSON.parse(readFileSync(file, 'utf8')) as Record_;
  const { auth } = parse(readFileSync(addresses.clouds, 'utf8')).clouds.operator;
  return {
    api: addresses.api,
    temporal: addresses.temporal,
    postgresUrl: addresses.postgresUrl,
    sql: postgres(addresses.postgresUrl, { max: 2 }),
    processes,
    headers: {
      'X-Auth-Token': await tokenOf(addresses.identity, auth),
      'X-OpenStack-Ironic-API-Version': maxVersion,
      'Content-Type': 'application/json',
    },
  };
};

const tokenOf = async (identity: string, auth: Record<string, string>): Promise<string> => {
  const user = { name: auth.username, domain: { id: auth.user_domain_id }, password: auth.password };
  const response = await fetch(`${identity}/auth/tokens`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      auth: { identity: { methods: ['password'], password: { user } }, scope: { system: { all: true } } },
    }),
  });
  const token = response.headers.get('x-subject-token');
  if (!token) throw new Error(`the identity service answered ${response.status} without a token`);
  return token;
};

/** One request as the operator; throws for anything but success. @returns the body as text */
export const ask = async (system: System, method: string, path: string, body?: unknown): Promise<string> => {
  const response = await fetch(`${system.api}${path}`, {
    method,
    headers: system.headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text;
};
