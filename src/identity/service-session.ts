/** Requests to other services of OpenStack, as Temper's own user. */
import { Agent, type Dispatcher } from 'undici';
import { z } from 'zod';
import { withoutLastSlashes } from '../model/texts';
import type { KeystoneClientOptions } from './keystone-client';
import { askOnce, exchangeWith } from './keystone-exchange';
import { createOwnToken } from './keystone-login';
import { Down, type KeystoneHeaders, orDown, type Reply } from './keystone-replies';

type ServiceSessionOptions = KeystoneClientOptions & {
  /** Any if absent. */
  readonly region?: string | undefined;
  /** Of endpoints, the preferred one first, such as `internal`. */
  readonly interfaces: readonly string[];
};

type ServiceCall = {
  readonly method: Dispatcher.HttpMethod;
  /** Below the endpoint, with a slash. */
  readonly path: string;
  readonly headers?: KeystoneHeaders;
  readonly body?: string;
};

/** A service, by its type in the catalogue or by an address. */
type Service = {
  readonly type: string;
  readonly url?: string | undefined;
  /** Such as `v2.1`; for endpoints that name no version, because catalogues may list the root. */
  readonly version: string;
  readonly timeoutMs: number;
};

type ServiceAnswer =
  | { readonly is: 'answer'; readonly status: number; readonly body: unknown }
  /** No answer came, or none from Keystone. */
  | { readonly is: 'down'; readonly reason: string };

/** For requests whose answers are no JSON. `drop` is called if the service refuses the token. */
type ServiceAccess =
  | {
      readonly is: 'ready';
      readonly url: string;
      readonly headers: { readonly 'x-auth-token': string };
      drop(): void;
    }
  | { readonly is: 'down'; readonly reason: string };

export type ServiceSession = {
  /** @param path below the endpoint, with a slash */
  access(service: Service, path: string): Promise<ServiceAccess>;
  ask(service: Service, call: ServiceCall): Promise<ServiceAnswer>;
  close(): Promise<void>;
};

const Catalogue = z.object({
  token: z.object({
    catalog: z.array(
      z.object({
        type: z.string(),
        endpoints: z.array(z.object({ interface: z.string(), region: z.string().nullish(), url: z.string() })),
      }),
    ),
  }),
});

/** Throws Down. */
const endpointIn = (body: unknown, type: string, { region, interfaces }: ServiceSessionOptions): string => {
  const read = Catalogue.safeParse(body);
  const endpoints = (read.success ? read.data.token.catalog : [])
    .filter((service) => service.type === type)
    .flatMap((service) => service.endpoints)
    .filter((endpoint) => region === undefined || endpoint.region === region);
  const url = interfaces
    .flatMap((name) => endpoints.filter((endpoint) => endpoint.interface === name))
    .map((endpoint) => endpoint.url)
    .find((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol));
  if (url !== undefined) return url;
  const where = region === undefined ? '' : ` in region ${region}`;
  throw new Down(`Keystone's catalogue has no ${interfaces.join(' or ')} endpoint of type ${type}${where}`);
};

const versionIn = /\/v\d/;

const baseOf = ({ type, url, version }: Service, catalogue: unknown, options: ServiceSessionOptions): string => {
  const base = withoutLastSlashes(url ?? endpointIn(catalogue, type, options));
  return versionIn.test(new URL(base).pathname) ? base : `${base}/${version}`;
};

/** Sends nothing before the first request, so that a process starts while Keystone is away. */
export const createServiceSession = (options: ServiceSessionOptions): ServiceSession => {
  const { self, now = Date.now, ca } = options;
  const { exchange, dispatcher } = exchangeWith(options);
  const others = new Agent(ca ? { connect: { ca } } : {});
  const own = createOwnToken(exchange, { self, now, path: '/auth/tokens' });

  const asked = async (service: Service, call: ServiceCall, again = true): Promise<Reply> => {
    const { token, body } = await own.get();
    const reply = await askOnce(`${baseOf(service, body, options)}${call.path}`, {
      method: call.method,
      dispatcher: others,
      signal: AbortSignal.timeout(service.timeoutMs),
      headers: { ...call.headers, 'x-auth-token': token },
      ...(call.body !== undefined && { body: call.body }),
      service: `the ${service.type} service`,
    });
    if (reply.status !== 401) return reply;
    own.drop(token);
    return again ? asked(service, call, false) : reply;
  };

  return {
    access: (service, path) =>
      orDown(async () => {
        const { token, body } = await own.get();
        const url = `${baseOf(service, body, options)}${path}`;
        return { is: 'ready', url, headers: { 'x-auth-token': token }, drop: () => own.drop(token) };
      }),
    ask: (service, call) =>
      orDown(async () => {
        const { status, body } = await asked(service, call);
        return { is: 'answer', status, body };
      }),
    async close() {
      await Promise.all([dispatcher.destroy(), others.destroy()]);
    },
  };
};
