/** A small Redfish client for the rack's tests: it shows status, headers and body, and hides nothing. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Dispatcher, request } from 'undici';
import type { Rack, RackBmc, RackOptions, Timing } from '../../emulator/rack';
import { startRack } from '../../emulator/rack';

/** Short enough for tests; long enough that an intermediate state is there to be seen. */
export const quick: Partial<Timing> = {
  powerOnMs: 500,
  powerOffMs: 500,
  gracefulOffMs: 250,
  postMs: 50,
  bmcResetMs: 2000,
  volumeTaskMs: 1000,
  firmwareTaskMs: 100,
};

/** A rack in a folder of its own. */
export const testRack = (options: Partial<RackOptions> = {}): Promise<Rack> =>
  startRack({ stateDir: mkdtempSync(join(tmpdir(), 'rack-')), bmcs: 1, timing: quick, ...options });

// biome-ignore lint/suspicious/noExplicitAny: tests read documents whose shape is what they test
export type Reply = { status: number; headers: Record<string, string>; body: any };

export type Client = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  delete(path: string): Promise<Reply>;
  reset(type: string): Promise<Reply>;
  /** Reads until the system's PowerState is this one. */
  powerReaches(state: string): Promise<void>;
  readonly system: string;
};

const headersOf = (raw: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]));

const parse = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
};

/** Talks to one BMC with basic credentials, or with the headers given instead. */
export const clientOf = (
  bmc: RackBmc,
  {
    auth,
    dispatcher,
    address = bmc.address,
  }: { auth?: Record<string, string>; dispatcher?: Dispatcher; address?: string } = {},
): Client => {
  const basic = `Basic ${Buffer.from(`${bmc.username}:${bmc.password}`).toString('base64')}`;
  const { origin } = new URL(address);
  const prefix = new URL(address).pathname.replace(/\/$/, '');
  const absolute = (path: string): string =>
    `${origin}${path.startsWith(`${prefix}/redfish`) ? path : `${prefix}${path}`}`;
  const call: Client['call'] = async (method, path, body, headers = {}) => {
    const reply = await request(absolute(path), {
      method: method as Dispatcher.HttpMethod,
      headers: {
        ...(auth ?? { authorization: basic }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...(dispatcher ? { dispatcher } : {}),
    });
    return { status: reply.statusCode, headers: headersOf(reply.headers), body: parse(await reply.body.text()) };
  };
  const get: Client['get'] = (path) => call('GET', path);
  return {
    call,
    get,
    post: (path, body) => call('POST', path, body ?? {}),
    patch: (path, body, headers) => call('PATCH', path, body, headers),
    delete: (path) => call('DELETE', path),
    reset: (type) => call('POST', `${bmc.systemId}/Actions/ComputerSystem.Reset`, { ResetType: type }),
    powerReaches: (state) => until(async () => (await get(bmc.systemId)).body.PowerState === state, `power ${state}`),
    system: bmc.systemId,
  };
};

/** Asks until the answer is yes; fails, naming what it waited for, after 200 s. */
export const until = async (ask: () => Promise<boolean>, what: string): Promise<void> => {
  for (const end = Date.now() + 200_000; Date.now() < end; ) {
    if (await ask()) return;
    await new Promise((next) => setTimeout(next, 20));
  }
  throw new Error(`waited in vain for ${what}`);
};

/** Asks one BMC for something that it has to accept. Throws with its answer where it does not. */
export const accepted = async (bmc: RackBmc, method: string, path: string, body: unknown): Promise<void> => {
  const reply = await clientOf(bmc).call(method, path, body);
  if (reply.status < 200 || reply.status > 299)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
};
