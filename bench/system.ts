/** The running system as the bench sees it: addresses and processes of its record, and a token as an operator has one. */
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { parse } from 'yaml';
import { maxVersion } from '../src/model/resources/microversions';

export type System = {
  readonly api: string;
  readonly console: string;
  readonly temporal: string;
  readonly postgresUrl: string;
  /** As the owner of the database, for what no client can ask. */
  readonly sql: postgres.Sql;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  /** What a request of an operator carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** Signs in as a demo user of clouds.yaml. */
  readonly signIn: (cloud: string) => Promise<Signed>;
};

/** What requests carry, and the project they are made for; null with system scope. */
export type Signed = { readonly headers: Readonly<Record<string, string>>; readonly project: string | null };

type Record_ = {
  addresses: { api: string; console: string; identity: string; temporal: string; postgresUrl: string; clouds: string };
  processes: { name: string; pid: number }[];
};

/** Reads the record of a system and signs an operator in. */
export const openSystem = async (file: string): Promise<System> => {
  const { addresses, processes } = JSON.parse(readFileSync(file, 'utf8')) as Record_;
  const { clouds } = parse(readFileSync(addresses.clouds, 'utf8'));
  const signIn = (cloud: string): Promise<Signed> => signedIn(addresses.identity, clouds[cloud].auth);
  return {
    api: addresses.api,
    console: addresses.console,
    temporal: addresses.temporal,
    postgresUrl: addresses.postgresUrl,
    sql: postgres(addresses.postgresUrl, { max: 2 }),
    processes,
    headers: (await signIn('operator')).headers,
    signIn,
  };
};

const signedIn = async (identity: string, auth: Record<string, string>): Promise<Signed> => {
  const user = { name: auth.username, domain: { id: auth.user_domain_id }, password: auth.password };
  const project = { name: auth.project_name, domain: { id: auth.project_domain_id } };
  const scope = auth.system_scope ? { system: { all: true } } : { project };
  const response = await fetch(`${identity}/auth/tokens`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ auth: { identity: { methods: ['password'], password: { user } }, scope } }),
  });
  const token = response.headers.get('x-subject-token');
  if (!token) throw new Error(`the identity service answered ${response.status} without a token`);
  const { token: shown } = (await response.json()) as { token: { project?: { id: string } } };
  const headers = {
    'X-Auth-Token': token,
    'X-OpenStack-Ironic-API-Version': maxVersion,
    'Content-Type': 'application/json',
  };
  return { headers, project: shown.project?.id ?? null };
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
