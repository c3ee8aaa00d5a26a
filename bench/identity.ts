/** What it costs a request that its token is in the cache: from the headers to the caller, with the demo's identity service behind. */
import { demoApplicationCredentials, demoUsers, startDemoIdentity } from '../emulator/identity/index';
import { createIdentity, createKeystone, presentedFrom } from '../src/identity';
import { median, percentile, rounded } from './stats';
import { table } from './table';

/** Microseconds a request; `p99` is over batches of a thousand. */
export type IdentityCost = { readonly token: string; readonly us: number; readonly p99: number };

const batch = 1_000;
const batches = 200;

type Headers = Readonly<Record<string, string>>;

const login = async (url: string, identity: unknown): Promise<string> => {
  const reply = await fetch(`${url}/v3/auth/tokens`, { method: 'POST', body: JSON.stringify({ auth: { identity } }) });
  const token = reply.headers.get('x-subject-token');
  if (!token) throw new Error(`the identity service answered ${reply.status} without a token`);
  return token;
};

const tokenOf = (url: string, name: string): Promise<string> => {
  const { password } = demoUsers.find((user) => user.name === name)!;
  return login(url, { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password } } });
};

const limitedToken = (url: string): Promise<string> => {
  const { id, secret } = demoApplicationCredentials.find(({ accessRules }) => accessRules)!;
  return login(url, { methods: ['application_credential'], application_credential: { id, secret } });
};

/** What requests carry, by what their table row is called. */
const kindsOf = async (url: string): Promise<Readonly<Record<string, Headers>>> => {
  const token = await tokenOf(url, 'owner-member');
  return {
    'of a project': { 'x-auth-token': token },
    'with access rules': { 'x-auth-token': await limitedToken(url) },
    'with a service token': { 'x-auth-token': token, 'x-service-token': await tokenOf(url, 'temper') },
  };
};

/** Microseconds a call, batch by batch, of work that is done one after the other. */
const timed = async (work: () => Promise<unknown>): Promise<number[]> => {
  const samples: number[] = [];
  for (let at = 0; at < batches; at++) {
    const began = process.hrtime.bigint();
    for (let call = 0; call < batch; call++) await work();
    samples.push(Number(process.hrtime.bigint() - began) / 1_000 / batch);
  }
  return samples;
};

/** Every kind of token in turn, after a first request that has it validated. */
export const measureIdentity = async (say: (line: string) => void): Promise<IdentityCost[]> => {
  say(`identity: ${batches * batch} requests with a token of each kind`);
  const service = await startDemoIdentity({ host: '127.0.0.1', port: 0, catalogUrl: 'http://127.0.0.1:6385' });
  const self = { username: 'temper', password: 'demo-temper', scope: { project: { name: 'service' } } } as const;
  const identity = createIdentity([createKeystone({ identityUrl: service.url, self })]);
  try {
    const costs: IdentityCost[] = [];
    for (const [token, headers] of Object.entries(await kindsOf(service.url))) {
      const samples = await timed(() =>
        identity.identify(presentedFrom({ headers, method: 'GET', path: '/v1/nodes' })),
      );
      costs.push({ token, us: rounded(median(samples)), p99: rounded(percentile(samples, 0.99)) });
    }
    return costs;
  } finally {
    await identity.close();
    await service.close();
  }
};

export const identityTable = (costs: readonly IdentityCost[]): string[] => [
  'A token in the cache, from headers to caller; microseconds a request',
  table(
    ['token', 'median', 'p99'],
    costs.map(({ token, us, p99 }) => [token, us.toFixed(1), p99.toFixed(1)]),
  ),
];
