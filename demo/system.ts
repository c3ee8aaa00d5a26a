/** The running system as the demo sees it: its record on disk, its API as different people, its rack. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Record_ = z.looseObject({
  addresses: z.looseObject({
    api: z.string(),
    identity: z.string(),
    rackControl: z.string(),
    temporalUi: z.string().optional(),
    clouds: z.string(),
  }),
  processes: z.array(z.looseObject({ name: z.string(), pid: z.number() })),
});
export type SystemRecord = z.infer<typeof Record_>;

const Clouds = z.object({
  clouds: z.record(
    z.string(),
    z.looseObject({
      auth: z.object({
        auth_url: z.string(),
        username: z.string(),
        password: z.string(),
        user_domain_id: z.string(),
        project_name: z.string().optional(),
        project_domain_id: z.string().optional(),
        system_scope: z.string().optional(),
      }),
    }),
  ),
});

/** What the supervisor wrote down last: addresses, and the pid of every process now. */
export const readSystem = (file: string): SystemRecord => Record_.parse(JSON.parse(readFileSync(file, 'utf8')));

export type Reply = { readonly status: number; readonly body: Json; readonly says: string };
// biome-ignore lint/suspicious/noExplicitAny: the demo reads replies of many shapes, as a user's script would
export type Json = any;

/** One person's way to the API: signs in once, then asks. */
export type Person = {
  readonly name: string;
  readonly project: string | null;
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** As `ask`, but anything but success ends the demo with what came. */
  must(method: string, path: string, body?: unknown): Promise<Json>;
};

const newestVersion = '1.115';

/** Signs a cloud's user in at the identity service. */
export const signIn = async (system: SystemRecord, cloud: string): Promise<Person> => {
  const { clouds } = Clouds.parse(parse(readFileSync(system.addresses.clouds, 'utf8')));
  const auth = clouds[cloud]?.auth;
  if (!auth) throw new Error(`clouds.yaml has no cloud ${cloud}`);
  const { token, project } = await newToken(auth);
  const ask: Person['ask'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${system.addresses.api}${path}`, {
      method,
      headers: {
        'X-Auth-Token': token,
        'X-OpenStack-Ironic-API-Version': newestVersion,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: Json = text === '' ? null : JSON.parse(text);
    return { status: response.status, body: parsed, says: faultOf(parsed) };
  };
  return {
    name: cloud,
    project,
    ask,
    async must(method, path, body) {
      const reply = await ask(method, path, body);
      if (reply.status >= 300) throw new Error(`${cloud}: ${method} ${path} answered ${reply.status}: ${reply.says}`);
      return reply.body;
    },
  };
};

type Auth = z.infer<typeof Clouds>['clouds'][string]['auth'];

const newToken = async (auth: Auth): Promise<{ token: string; project: string | null }> => {
  const scope = auth.system_scope
    ? { system: { all: true } }
    : { project: { name: auth.project_name, domain: { id: auth.project_domain_id } } };
  const user = { name: auth.username, domain: { id: auth.user_domain_id }, password: auth.password };
  const response = await fetch(`${auth.auth_url.replace(/\/$/, '')}/auth/tokens`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ auth: { identity: { methods: ['password'], password: { user } }, scope } }),
  });
  if (response.status !== 201) throw new Error(`the identity service refused ${auth.username}: ${response.status}`);
  const { token } = (await response.json()) as Json;
  return { token: response.headers.get('x-subject-token')!, project: token.project?.id ?? null };
};

/** The text of Ironic's error body: JSON within JSON. */
const faultOf = (body: Json): string => {
  if (typeof body?.error_message !== 'string') return body?.error?.message ?? '';
  try {
    const inner = JSON.parse(body.error_message);
    return inner.faultstring ?? inner.description ?? body.error_message;
  } catch {
    return body.error_message;
  }
};

export type RackEntry = {
  readonly seq: number;
  readonly bmc: number;
  readonly method: string;
  readonly path: string;
  readonly content: unknown;
  readonly accepted: boolean;
  readonly session: boolean;
};
/** One command that a ramdisk of the rack took. */
export type RamdiskEntry = {
  readonly seq: number;
  readonly node_uuid: string | null;
  readonly command: string;
  readonly step: string | null;
  /** Names of the parameters that came with a value. */
  readonly given: readonly string[];
  readonly destructive: boolean;
  readonly status: string | null;
};
export type RackBmc = {
  readonly index: number;
  readonly name: string;
  readonly profile: string;
  readonly address: string;
  readonly secureAddress: string;
  readonly systemId: string;
  readonly username: string;
  readonly password: string;
  readonly macs: string[];
};

/** The emulated rack's own door: who is there, what was written, what shall go wrong. */
export const rackOf = (system: SystemRecord) => {
  const at = system.addresses.rackControl.replace(/\/(control\/?)?$/, '');
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const response = await fetch(`${at}/control${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`rack: ${method} ${path} answered ${response.status}: ${await response.text()}`);
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  };
  return {
    bmcs: async (): Promise<RackBmc[]> => (await call('GET', '/bmcs')).bmcs,
    /** State-changing commands that a BMC accepted; sessions do not count. */
    accepted: async (bmc: number, since = 0): Promise<RackEntry[]> =>
      (await call('GET', `/journal?bmc=${bmc}&accepted=true&session=false&since=${since}`)).entries,
    /** The ramdisks that run; their tokens are here so that a test can look for what must be nowhere else. */
    ramdisks: async (): Promise<{ readonly node_uuid: string | null; readonly token: string | null }[]> =>
      (await call('GET', '/agents')).agents,
    /** What the ramdisks on the rack's hosts were told, oldest first. */
    ramdiskCommands: async (): Promise<RamdiskEntry[]> => (await call('GET', '/agents/journal')).entries,
    /** Ends every fault of a BMC. */
    mend: (bmc: number): Promise<Json> => call('DELETE', `/bmcs/${bmc}/faults`),
    fault: (bmc: number, fault: object): Promise<Json> => call('POST', `/bmcs/${bmc}/faults`, fault),
    /** What shall go wrong in the ramdisks that a BMC's host starts. */
    ramdiskFault: (bmc: number, fault: object): Promise<Json> => call('POST', `/bmcs/${bmc}/agent-faults`, fault),
  };
};
export type Rack = ReturnType<typeof rackOf>;

export type Scene = {
  readonly systemFile: string;
  readonly rack: Rack;
  readonly people: Readonly<Record<'operator' | 'ownerManager' | 'owner' | 'lessee' | 'stranger', Person>>;
  readonly names: readonly string[];
};
