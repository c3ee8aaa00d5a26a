/** Requests to services of Keystone's catalogue: where they go, with which token, and what is said if nobody answers. */
import { createServiceSession, type ServiceSession } from '../../src/identity';
import { ownLogin, startScriptedKeystone, tokenBody } from './support';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Scripted = Awaited<ReturnType<typeof startScriptedKeystone>>;
type Script = Parameters<typeof startScriptedKeystone>[0];
const scripted = async (script: Script): Promise<Scripted> => {
  const server = await startScriptedKeystone(script);
  closers.push(server.close);
  return server;
};

const endpoint = (name: string, region: string, url: string) => ({ interface: name, region, region_id: region, url });

/** A Keystone whose n-th login answers token `token-n`, with this catalogue. */
const keystone = (endpoints: readonly unknown[], type = 'compute') => {
  let logins = 0;
  return scripted((request) => {
    if (request.method !== 'POST') return { status: 500 };
    logins += 1;
    return { ...ownLogin(`token-${logins}`), body: tokenBody({ catalog: [{ type, endpoints }] }) };
  });
};

const sessionAt = (identityUrl: string, more: object = {}): ServiceSession => {
  const scope = { project: { name: 'service' } } as const;
  const self = { username: 'temper', password: 'secret', scope };
  const session = createServiceSession({ identityUrl, self, interfaces: ['internal', 'public'], ...more });
  closers.push(() => session.close());
  return session;
};
const compute = { type: 'compute', version: 'v2.1', timeoutMs: 5_000 };
const call = { method: 'POST', path: '/things', headers: { 'x-of-the-call': '1' }, body: '{"a":1}' } as const;
const fine = () => ({ status: 207, body: { fine: true } });

test('a request goes to the preferred endpoint of its type, with our token, and one login serves many', async () => {
  const nova = await scripted(fine);
  const at = await keystone([
    endpoint('public', 'one', 'http://127.0.0.1:1/public'),
    endpoint('internal', 'one', `${nova.url}/v2.1/`),
  ]);
  const session = sessionAt(at.url);
  expect(await session.ask(compute, call)).toEqual({ is: 'answer', status: 207, body: { fine: true } });
  await session.ask(compute, call);
  expect(nova.asked.map(({ method, url }) => [method, url])).toEqual(Array(2).fill(['POST', '/v2.1/things']));
  expect(nova.asked[0]!.headers).toMatchObject({ 'x-auth-token': 'token-1', 'x-of-the-call': '1' });
  expect(at.count('POST')).toBe(1);
});

test('a region chooses among endpoints, and without the preferred one the next interface serves', async () => {
  const nova = await scripted(fine);
  const at = await keystone([endpoint('internal', 'one', 'http://127.0.0.1:1'), endpoint('public', 'two', nova.url)]);
  expect(await sessionAt(at.url, { region: 'two' }).ask(compute, call)).toMatchObject({ status: 207 });
});

test.each([
  ['', '/v2.1/things'],
  ['/compute/', '/compute/v2.1/things'],
  ['/v2.1/0123456789', '/v2.1/0123456789/things'],
  ['/compute/v2/', '/compute/v2/things'],
])('for the endpoint %j, the request goes to %s', async (path, asked) => {
  const nova = await scripted(fine);
  const at = await keystone([endpoint('internal', 'one', `${nova.url}${path}`)]);
  await sessionAt(at.url).ask(compute, call);
  expect(nova.asked.map(({ url }) => url)).toEqual([asked]);
});

test('a service with a configured address needs no catalogue', async () => {
  const nova = await scripted(fine);
  const at = await keystone([]);
  expect(await sessionAt(at.url).ask({ ...compute, url: nova.url }, call)).toMatchObject({ status: 207 });
});

test.each([
  ['another type', 'image', 'http://127.0.0.1:1', {}],
  ['another interface', 'compute', 'http://127.0.0.1:1', { interfaces: ['admin'] }],
  ['another region', 'compute', 'http://127.0.0.1:1', { region: 'three' }],
  ['an address that is none of HTTP', 'compute', 'file:///etc/passwd', {}],
])('a catalogue with %s is said to have no endpoint', async (_, type, url, more) => {
  const at = await keystone([endpoint('internal', 'one', url)], type);
  const answer = await sessionAt(at.url, more).ask(compute, call);
  expect(answer).toEqual({ is: 'down', reason: expect.stringContaining('endpoint of type compute') });
});

test('a token that the service refuses is renewed once', async () => {
  const nova = await scripted(({ headers }) => (headers['x-auth-token'] === 'token-1' ? { status: 401 } : fine()));
  const at = await keystone([endpoint('internal', 'one', nova.url)]);
  expect(await sessionAt(at.url).ask(compute, call)).toMatchObject({ status: 207 });
  expect([at.count('POST'), nova.asked.length]).toEqual([2, 2]);
});

test('a service that refuses every token answers 401 after two requests', async () => {
  const nova = await scripted(() => ({ status: 401 }));
  const at = await keystone([endpoint('internal', 'one', nova.url)]);
  expect(await sessionAt(at.url).ask(compute, call)).toMatchObject({ is: 'answer', status: 401 });
  expect(nova.asked).toHaveLength(2);
});

test('a service that is silent or hangs up is down, and so is Keystone, each by its name', async () => {
  const silent = await scripted(() => 'hang');
  const at = await keystone([endpoint('internal', 'one', silent.url)]);
  const slow = await sessionAt(at.url).ask({ ...compute, timeoutMs: 50 }, call);
  expect(slow).toEqual({ is: 'down', reason: expect.stringContaining('the compute service did not answer') });
  const gone = await scripted(() => 'hang up');
  const answer = await sessionAt(gone.url).ask(compute, call);
  expect(answer).toEqual({ is: 'down', reason: expect.stringContaining('the identity service did not answer') });
});

test('a redirect is an answer and is not followed, so no token goes elsewhere', async () => {
  const other = await scripted(fine);
  const nova = await scripted(() => ({ status: 302, headers: { location: other.url } }));
  const at = await keystone([endpoint('internal', 'one', nova.url)]);
  expect(await sessionAt(at.url).ask(compute, call)).toMatchObject({ is: 'answer', status: 302 });
  expect(other.asked).toHaveLength(0);
});

test('for a request of another kind the session gives address and token, and a new token after a refusal', async () => {
  const at = await keystone([endpoint('internal', 'one', 'http://127.0.0.1:1/')], 'image');
  const session = sessionAt(at.url);
  const image = { type: 'image', version: 'v2', timeoutMs: 5_000 };
  const given = () => session.access(image, '/images/x/file');
  const first = await given();
  expect(first).toMatchObject({
    is: 'ready',
    url: 'http://127.0.0.1:1/v2/images/x/file',
    headers: { 'x-auth-token': 'token-1' },
  });
  if (first.is === 'ready') first.drop();
  expect(await given()).toMatchObject({ headers: { 'x-auth-token': 'token-2' } });
  expect(await session.access(compute, '/x')).toEqual({ is: 'down', reason: expect.stringContaining('type compute') });
});
