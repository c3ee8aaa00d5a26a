/** An issuer's keys: rotated in the middle, and an issuer that is away, slow, lies, redirects or floods. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { askIssuers, createIdentity, createOidc, type Strategy } from '../../src/identity';
import { audience, startOidcServer } from '../support/oidc-provider';
import { type Clock, clock, faultOf, presenting, startScriptedKeystone, textSource } from './support';

type Answer = Awaited<ReturnType<Parameters<typeof startScriptedKeystone>[0]>>;

let service: Awaited<ReturnType<typeof startScriptedKeystone>>;
let answers: Record<string, Answer>;
let now: Clock;
let oidc: Strategy;
const outages: string[] = [];

const keyOf = async (kid: string) => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  return { kid, key: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256' } };
};
type Key = Awaited<ReturnType<typeof keyOf>>;

const tokenBy = ({ kid, key }: Key, claims: object = {}): Promise<string> => {
  const at = Math.floor(now() / 1_000);
  return new SignJWT({
    iss: service.url,
    aud: 'temper',
    sub: 'ann',
    exp: at + 7_200,
    jti: `${Math.random()}`,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid })
    .sign(key);
};
const discovery = () => ({ status: 200, body: { issuer: service.url, jwks_uri: `${service.url}/jwks` } });
const publish = (...all: Key[]): void => {
  answers = {
    '/.well-known/openid-configuration': discovery(),
    '/jwks': { status: 200, body: { keys: all.map(({ jwk }) => jwk) } },
  };
};
const everywhere = (answer: Answer): void => {
  answers = { '/.well-known/openid-configuration': answer, '/jwks': answer };
};
const verdictOn = async (token: string) => (await oidc.identify(presenting({ token }))).is;
const fileOf = (more: object = {}) =>
  textSource(JSON.stringify({ issuers: [{ issuer: service.url, audience: 'temper', ...more }] }));

let first: Key;
let second: Key;

beforeAll(async () => {
  service = await startScriptedKeystone(({ url }) => answers[url ?? ''] ?? { status: 404 });
  [first, second] = [await keyOf('first'), await keyOf('second')];
});
afterAll(() => service?.close());
beforeEach(async () => {
  outages.length = 0;
  service.asked.length = 0;
  now = clock();
  publish(first);
  const onOutage = (reason: string) => void outages.push(reason);
  oidc = await createOidc({ issuers: fileOf(), now, outageMs: 900_000, onOutage });
});
afterEach(() => oidc.close?.());

test('a new key is fetched at its first token, without a restart, and the old one ends', async () => {
  expect(await verdictOn(await tokenBy(first))).toBe('known');
  publish(first, second);
  now.pass(10_000);
  expect(await verdictOn(await tokenBy(second))).toBe('known');
  publish(second);
  now.pass(301_000);
  // The first one with the old key starts a fetch, and does not wait for it.
  await verdictOn(await tokenBy(first));
  await settled();
  expect([await verdictOn(await tokenBy(first)), await verdictOn(await tokenBy(second))]).toEqual(['refused', 'known']);
});

/** Until a fetch that nobody waits for has ended: a token of an unknown key joins it. */
const settled = async (): Promise<void> => {
  await verdictOn(await tokenBy({ ...second, kid: 'unknown' }));
};

test('tokens of invented keys cause one fetch in ten seconds, however many come', async () => {
  expect(await verdictOn(await tokenBy(first))).toBe('known');
  now.pass(10_000);
  const before = service.asked.length;
  const invented = await Promise.all(Array.from({ length: 50 }, (_, nth) => tokenBy({ ...second, kid: `k${nth}` })));
  expect(new Set(await Promise.all(invented.map(verdictOn)))).toEqual(new Set(['refused']));
  for (const token of invented) await verdictOn(token);
  expect(service.asked.length - before).toBe(2);
});

const faults: readonly [string, () => void, string][] = [
  ['hangs up', () => everywhere('hang up'), 'did not answer'],
  ['answers 500', () => everywhere({ status: 500 }), 'answered 500'],
  ['redirects its description', () => everywhere({ status: 302, headers: { location: 'http://169.254.169.254/' } }), 'answered 302'],
  ['redirects its keys', () => { publish(first); answers['/jwks'] = { status: 307, headers: { location: `${service.url}/elsewhere` } }; }, 'answered 307'],
  ['has its keys at an inner address', () => { publish(first); answers['/.well-known/openid-configuration'] = { status: 200, body: { issuer: service.url, jwks_uri: 'http://169.254.169.254/keys' } }; }, 'set its keys_url'],
  ['calls itself by another name', () => { publish(first); answers['/.well-known/openid-configuration'] = { status: 200, body: { issuer: 'https://other', jwks_uri: `${service.url}/jwks` } }; }, 'by another name'],
  ['floods with keys', () => { publish(first); answers['/jwks'] = { status: 200, body: `{"keys": [${' '.repeat(5_000_000)}]}` }; }, 'more than can be read'],
  ['sends ten thousand keys', () => { publish(first); answers['/jwks'] = { status: 200, body: { keys: Array(10_000).fill({ kty: 'oct' }) } }; }, 'something else'],
  ['sends no JSON', () => everywhere({ status: 200, body: '<html>' }), 'no JSON'],
  ['sends JSON of another shape', () => everywhere({ status: 200, body: { keys: 'none' } }), 'something else'],
]; // biome-ignore format: one row a fault

test.each(faults)('while the issuer %s: 503 with its reason, and known keys go on', async (_, breaks, says) => {
  breaks();
  const token = await tokenBy(first);
  const fault = await faultOf(createIdentity([oidc]).identify(presenting({ token })));
  expect(fault).toMatchObject({ code: 'IdentityUnavailable', facts: { reason: expect.stringContaining(says) } });
  expect(outages).toEqual([fault.facts.reason]);
  publish(first);
  now.pass(10_000);
  expect(await verdictOn(token)).toBe('known');
  breaks();
  now.pass(301_000);
  expect(await verdictOn(await tokenBy(first))).toBe('known');
  await settled();
  expect([await verdictOn(await tokenBy(first)), await verdictOn(await tokenBy(second))]).toEqual([
    'known',
    'unavailable',
  ]);
  now.pass(900_000);
  expect(await verdictOn(await tokenBy(first))).toBe('unavailable');
});

test('an issuer that does not answer in time gives 503', async () => {
  everywhere('hang');
  const slow = await createOidc({ issuers: fileOf(), now, timeoutMs: 50 });
  const verdict = await slow.identify(presenting({ token: await tokenBy(first) }));
  expect(verdict).toEqual({ is: 'unavailable', reason: expect.stringContaining('did not answer (TimeoutError)') });
  await slow.close?.();
});

test('nobody with a known key waits for an issuer that hangs', async () => {
  const patient = await createOidc({ issuers: fileOf(), now, timeoutMs: 600_000 });
  const verdict = async () => (await patient.identify(presenting({ token: await tokenBy(first) }))).is;
  expect(await verdict()).toBe('known');
  everywhere('hang');
  now.pass(301_000);
  for (let count = 0; count < 3; count++) expect(await verdict()).toBe('known');
  await patient.close?.();
});

test('while the issuer does not answer, Temper asks it at most once in ten seconds, and other callers do not wait', async () => {
  everywhere({ status: 500 });
  for (let count = 0; count < 5; count++) expect(await verdictOn(await tokenBy(first))).toBe('unavailable');
  expect(service.asked).toHaveLength(1);
  now.pass(10_000);
  await verdictOn(await tokenBy(first));
  expect(service.asked).toHaveLength(2);
});

test('a token of another issuer or algorithm does not ask the issuer', async () => {
  await verdictOn(await tokenBy(first, { iss: 'https://evil.example.org' }));
  expect(service.asked).toEqual([]);
});

test('the operator may name keys at another origin', async () => {
  publish(first);
  const elsewhere = await startScriptedKeystone(() => answers['/jwks']!);
  const strategy = await createOidc({ issuers: fileOf({ keys_url: `${elsewhere.url}/keys` }), now });
  expect((await strategy.identify(presenting({ token: await tokenBy(first) }))).is).toBe('known');
  expect(service.asked).toEqual([]);
  await strategy.close?.();
  await elsewhere.close();
});

describe('a real OIDC server', () => {
  test('has its keys rotated in the middle; its tokens for others do not count', async () => {
    const server = await startOidcServer({ robot: ['lab'] });
    const grants = [{ claim: 'groups', value: 'lab', roles: ['member'], project: 'p1' }];
    const issuers = textSource(JSON.stringify({ issuers: [{ issuer: server.issuer, audience, grants }] }));
    const strategy = await createOidc({ issuers, now });
    const verdict = async (token: string) => strategy.identify(presenting({ token }));
    expect(await verdict(await server.tokenOf('robot'))).toMatchObject({
      is: 'known',
      caller: { user_id: 'robot', project_id: 'p1', roles: ['member', 'reader'] },
    });
    expect((await verdict(await server.tokenOf('robot', 'https://other.example.org'))).is).toBe('refused');
    const old = await server.tokenOf('robot');
    await server.rotate('second', false);
    now.pass(10_000);
    expect((await verdict(await server.tokenOf('robot'))).is).toBe('known');
    expect((await verdict(old)).is).toBe('refused');
    await server.close();
    expect((await verdict(await tokenOfNobody(server.issuer))).is).toBe('refused');
    await strategy.close?.();
  });
});

/** Signed by a key that the issuer never had. */
const tokenOfNobody = (iss: string): Promise<string> => tokenBy(first, { iss, aud: audience });

test('doctor names each issuer that does not answer with keys', async () => {
  const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
  const dir = await mkdtemp('/tmp/oidc-');
  const file = `${dir}/oidc.yaml`;
  await writeFile(file, await fileOf().load());
  expect(await askIssuers(file)).toEqual({ names: [service.url], faults: [] });
  everywhere({ status: 500 });
  expect(await askIssuers(file)).toEqual({ names: [service.url], faults: [expect.stringContaining('answered 500')] });
  await rm(dir, { recursive: true });
});
