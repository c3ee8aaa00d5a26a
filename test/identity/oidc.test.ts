/** Tokens of OIDC issuers: what they grant, and every token that must not count. */
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { createIdentity, createOidc, type Strategy } from '../../src/identity';
import { parseIssuers } from '../../src/identity/oidc-file';
import { type Clock, clock, faultOf, presenting, startScriptedKeystone, textSource } from './support';

type Signer = Awaited<ReturnType<typeof generateKeyPair>>;

const kinds = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
let keys: Record<(typeof kinds)[number], Signer>;
let stranger: Signer;
let service: Awaited<ReturnType<typeof startScriptedKeystone>>;
let now: Clock;
let file: ReturnType<typeof textSource>;
let oidc: Strategy;

const published = async () =>
  Promise.all(kinds.map(async (alg) => ({ ...(await exportJWK(keys[alg].publicKey)), kid: alg, alg, use: 'sig' })));

const grants = [
  { claim: 'groups', value: 'lab', roles: ['member'], project: 'p1', project_name: 'lab' },
  { claim: 'groups', value: 'lab-owners', roles: ['manager'], project: 'p1' },
  { claim: 'groups', value: 'operators', roles: ['admin'], system: 'all' },
  { claim: ['realm_access', 'roles'], value: 'auditor', roles: ['reader'], project: 'p2' },
  { claim: 'scope', value: 'fleet', roles: ['reader'], project: 'p3' },
];
const issuerWith = (more: object = {}) => ({ issuer: service.url, audience: 'temper', grants, ...more });
const fileOf = (...issuers: object[]) => JSON.stringify({ issuers });

beforeAll(async () => {
  const pairs = await Promise.all(kinds.map(async (alg) => [alg, await generateKeyPair(alg, { extractable: true })]));
  keys = Object.fromEntries(pairs);
  stranger = await generateKeyPair('RS256');
  const jwks = { keys: await published() };
  service = await startScriptedKeystone(({ url }) => ({
    status: 200,
    body: url === '/jwks' ? jwks : { issuer: service.url, jwks_uri: `${service.url}/jwks` },
  }));
});
afterAll(() => service?.close());
beforeEach(async () => {
  now = clock();
  file = textSource(fileOf(issuerWith()));
  oidc = await createOidc({ issuers: file, now });
});
afterEach(() => oidc.close?.());

const seconds = () => Math.floor(now() / 1_000);
type Given = { readonly claims?: JWTPayload; readonly header?: object; readonly key?: Parameters<SignJWT['sign']>[0] };

const tokenWith = ({ claims = {}, header = {}, key = keys.RS256.privateKey }: Given = {}): Promise<string> => {
  const whole = {
    iss: service.url,
    aud: 'temper',
    sub: 'ann',
    iat: seconds(),
    exp: seconds() + 600,
    groups: ['lab'],
    ...claims,
  };
  return new SignJWT(whole).setProtectedHeader({ alg: 'RS256', kid: 'RS256', ...header }).sign(key);
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const verdictOn = (token: string, more: object = {}) => oidc.identify(presenting({ token, ...more }));

describe('a token', () => {
  test.each(kinds)('signed by %s is its user in the project of the group', async (alg) => {
    const token = await tokenWith({ header: { alg, kid: alg }, key: keys[alg].privateKey });
    expect(await verdictOn(token)).toMatchObject({
      is: 'known',
      caller: {
        user_id: 'ann',
        user_name: 'ann',
        user_domain_id: 'default',
        project_id: 'p1',
        project_name: 'lab',
        system_scope: null,
        roles: ['member', 'reader'],
        all_powerful: false,
        strategy: 'oidc',
        token_ends: new Date((seconds() + 600) * 1_000).toISOString(),
      },
    });
  });

  test('of two groups in one project has the roles of both', async () => {
    const token = await tokenWith({ claims: { groups: ['lab', 'lab-owners'] } });
    const roles = expect.arrayContaining(['member', 'manager', 'reader']);
    expect(await verdictOn(token)).toMatchObject({ caller: { project_id: 'p1', project_name: 'lab', roles } });
  });

  test('of several scopes has the first of the file, and another by the header', async () => {
    const claims = { groups: ['operators', 'lab'], realm_access: { roles: ['auditor'] }, scope: 'openid fleet' };
    const token = await tokenWith({ claims });
    const scopeOf = async (scope: string | null) => {
      const verdict = await verdictOn(token, { scope });
      return verdict.is === 'known' ? [verdict.caller.project_id, verdict.caller.system_scope] : verdict.is;
    };
    expect(await scopeOf(null)).toEqual(['p1', null]);
    expect(await scopeOf('p1')).toEqual(['p1', null]);
    expect(await scopeOf('p2')).toEqual(['p2', null]);
    expect(await scopeOf('p3')).toEqual(['p3', null]);
    expect(await scopeOf('system')).toEqual([null, 'all']);
    for (const foreign of ['p4', 'lab', 'all', 'project p1', '', 'p1, system', '__proto__', 'constructor'])
      expect(await scopeOf(foreign)).toBe('refused');
  });

  test('that grants nothing is a user without scope and roles', async () => {
    for (const groups of [[], ['Lab'], ['lab '], 'labs', { lab: true }, null, [['lab']], 7])
      expect(await verdictOn(await tokenWith({ claims: { groups } }))).toMatchObject({
        is: 'known',
        caller: { user_id: 'ann', project_id: null, system_scope: null, roles: [] },
      });
  });

  test('with project and roles in its own claims has them, if the file names those claims', async () => {
    const claims = { project_id: 'p9', project: 'nine', roles: ['manager'], groups: [] };
    const own = { user: 'uid', project: 'project_id', project_name: 'project', roles: 'roles' };
    const token = await tokenWith({ claims: { ...claims, uid: 'u-7' } });
    expect(await verdictOn(token)).toMatchObject({ caller: { user_id: 'ann', project_id: null, roles: [] } });
    file.write(fileOf(issuerWith({ claims: own })));
    now.pass(2_000);
    expect(await verdictOn(token)).toMatchObject({
      caller: { user_id: 'u-7', project_id: 'p9', project_name: 'nine', roles: ['manager', 'member', 'reader'] },
    });
  });

  test.each([undefined, '', 7, ['ann'], 'x'.repeat(256), 'a\u0000b', '\ud800'])(
    'whose user is %j is refused',
    async (sub) => {
      expect((await verdictOn(await tokenWith({ claims: { sub } as JWTPayload }))).is).toBe('refused');
    },
  );

  test('of one issuer is not the user of another, whatever its subject is', async () => {
    const two = fileOf(
      issuerWith({ user_prefix: 'a:' }),
      issuerWith({ issuer: 'https://b.example.org', user_prefix: 'b:' }),
    );
    file.write(two);
    now.pass(2_000);
    expect(await verdictOn(await tokenWith({ claims: { sub: 'b:ann' } }))).toMatchObject({
      caller: { user_id: 'a:b:ann' },
    });
  });
});

const spki = async (): Promise<Uint8Array> => new TextEncoder().encode(await exportSPKI(keys.RS256.publicKey));

const badTokens: readonly [string, () => Promise<string>][] = [
  ['without a signature', async () => `${part({ alg: 'none' })}.${part({ iss: service.url, aud: 'temper', sub: 'ann', exp: 9e9, groups: ['operators'] })}.`],
  ['of algorithm none with some signature', async () => `${part({ alg: 'none', kid: 'RS256' })}.${(await tokenWith()).split('.')[1]}.AAAA`],
  ['of an algorithm spelled oddly', async () => `${part({ alg: 'NoNe', kid: 'RS256' })}.${(await tokenWith()).split('.')[1]}.AAAA`],
  ['of HMAC by the public key', async () => tokenWith({ header: { alg: 'HS256' }, key: await spki() })],
  ['of HMAC by the modulus of the key', async () => tokenWith({ header: { alg: 'HS512' }, key: Buffer.from((await published())[0]!.n!, 'base64url') })],
  ['of a stranger’s key under a known id', () => tokenWith({ key: stranger.privateKey })],
  ['that brings its own key', async () => tokenWith({ header: { kid: undefined, jwk: await exportJWK(stranger.publicKey) }, key: stranger.privateKey })],
  ['that names where its key is', () => tokenWith({ header: { kid: 'mine', jku: `${service.url}/mine` }, key: stranger.privateKey })],
  ['of an unknown key id', () => tokenWith({ header: { kid: 'another' } })],
  ['of a key id that is a path', () => tokenWith({ header: { kid: '../../etc/passwd' } })],
  ['for another audience', () => tokenWith({ claims: { aud: 'other' } })],
  ['for no audience', () => tokenWith({ claims: { aud: undefined } })],
  ['for an audience that begins so', () => tokenWith({ claims: { aud: 'temper2' } })],
  ['of another issuer', () => tokenWith({ claims: { iss: 'https://evil.example.org' } })],
  ['of an issuer with a slash more', () => tokenWith({ claims: { iss: `${service.url}/` } })],
  ['of no issuer', () => tokenWith({ claims: { iss: undefined } })],
  ['of an issuer that is a name of the language', () => tokenWith({ claims: { iss: '__proto__' } })],
  ['that ended a minute ago', () => tokenWith({ claims: { exp: seconds() - 60 } })],
  ['that never ends', () => tokenWith({ claims: { exp: undefined } })],
  ['whose end is a text', () => tokenWith({ claims: { exp: '9999999999' as unknown as number } })],
  ['that counts from the next minute', () => tokenWith({ claims: { nbf: seconds() + 60 } })],
  ['issued in the next minute', () => tokenWith({ claims: { iat: seconds() + 60 } })],
  ['with an extension that nobody knows', async () => `${part({ alg: 'RS256', kid: 'RS256', crit: ['x'], x: 1 })}.${(await tokenWith()).split('.').slice(1).join('.')}`],
  ['whose claims were changed', async () => { const [head, , sign] = (await tokenWith()).split('.'); return `${head}.${part({ iss: service.url, aud: 'temper', sub: 'root', exp: 9e9 })}.${sign}`; }],
  ['without its signature', async () => (await tokenWith()).replace(/\.[^.]*$/, '.')],
  ['of 100 kB', () => tokenWith({ claims: { more: 'x'.repeat(100_000) } })],
  ['that is no JSON', async () => `${Buffer.from('{').toString('base64url')}.e30.AAAA`],
  ['that is null', async () => `${part(null as never)}.${part(null as never)}.AAAA`],
  ['that is deep', async () => `${part({ alg: 'RS256' })}.${Buffer.from('['.repeat(9_000)).toString('base64url')}.AAAA`],
  ['that is encrypted', async () => 'e30.e30.e30.e30.e30'],
  ['that is two', async () => `${await tokenWith()}, ${await tokenWith()}`],
  ['of Keystone', async () => 'gAAAAABkq0123456789'],
]; // biome-ignore format: one row a token

test.each(badTokens)('a token %s is refused, and the refusal does not quote it', async (_, make) => {
  const token = await make();
  const verdict = await verdictOn(token);
  expect(verdict.is).toBe('refused');
  expect(JSON.stringify(verdict)).not.toContain(token.slice(0, 60));
  expect(
    await faultOf(createIdentity([oidc]).identify(presenting({ authorization: `Bearer ${token}` }))),
  ).toMatchObject({
    code: 'Unauthenticated',
  });
});

test.each([
  ['ended', { exp: -20 }],
  ['does not count yet', { nbf: 20 }],
  ['was issued in the future', { iat: 20 }],
])('a token that %s counts within the skew of two clocks', async (_, off) => {
  const claims = Object.fromEntries(Object.entries(off).map(([name, by]) => [name, seconds() + by]));
  expect((await verdictOn(await tokenWith({ claims }))).is).toBe('known');
});

test('an algorithm that the file does not list is refused', async () => {
  file.write(fileOf(issuerWith({ algorithms: ['ES256'] })));
  now.pass(2_000);
  expect((await verdictOn(await tokenWith())).is).toBe('refused');
  const token = await tokenWith({ header: { alg: 'ES256', kid: 'ES256' }, key: keys.ES256.privateKey });
  expect((await verdictOn(token)).is).toBe('known');
});

test('a token is verified once, is the same caller each time, and ends when it ends', async () => {
  const token = await tokenWith({ claims: { exp: seconds() + 100 } });
  const spend = jest.fn(async () => {});
  const first = await verdictOn(token, { spend });
  now.pass(99_000);
  const second = await verdictOn(token, { spend });
  expect([
    first.is === 'known' && second.is === 'known' && first.caller === second.caller,
    spend.mock.calls.length,
  ]).toEqual([true, 1]);
  now.pass(32_000);
  expect((await verdictOn(token, { spend })).is).toBe('refused');
  expect(spend).toHaveBeenCalledTimes(2);
});

test('a grant that is taken out of the file ends at the next look, for verified tokens too', async () => {
  const token = await tokenWith({ claims: { groups: ['operators'] } });
  expect(await verdictOn(token)).toMatchObject({ caller: { system_scope: 'all' } });
  file.write(fileOf(issuerWith({ grants: [] })));
  now.pass(2_000);
  expect(await verdictOn(token)).toMatchObject({ is: 'known', caller: { system_scope: null, roles: [] } });
});

test('an end that no date can show is no fault', async () => {
  expect((await verdictOn(await tokenWith({ claims: { exp: 1e300 } }))).is).toBe('known');
});

test('a request without a token, or with another kind of credential, presents nothing to it', async () => {
  for (const given of [{}, { authorization: 'Basic YTpi' }, { serviceToken: await tokenWith() }])
    expect(await oidc.identify(presenting(given))).toEqual({ is: 'absent' });
});

test.each([
  ['none', { issuers: [] }, 'name at least one issuer'],
  ['HMAC', { issuers: [{ issuer: 'https://a', audience: 'x', algorithms: ['HS256'] }] }, 'algorithms'],
  ['algorithm none', { issuers: [{ issuer: 'https://a', audience: 'x', algorithms: ['none'] }] }, 'algorithms'],
  ['no audience', { issuers: [{ issuer: 'https://a' }] }, 'audience'],
  ['an empty list of audiences', { issuers: [{ issuer: 'https://a', audience: [] }] }, 'audience'],
  ['no URL', { issuers: [{ issuer: 'idp', audience: 'x' }] }, 'must be the URL in the "iss"'],
  ['one issuer twice', { issuers: [{ issuer: 'https://a', audience: 'x', user_prefix: 'a' }, { issuer: 'https://a', audience: 'x', user_prefix: 'b' }] }, 'name each issuer once'],
  ['two issuers with one name of a user', { issuers: [{ issuer: 'https://a', audience: 'x' }, { issuer: 'https://b', audience: 'x' }] }, 'user_prefix'],
  ['two prefixes of which one begins with the other', { issuers: [{ issuer: 'https://a', audience: 'x', user_prefix: 'a' }, { issuer: 'https://b', audience: 'x', user_prefix: 'ab' }] }, 'user_prefix'],
  ['a grant of both scopes', { issuers: [{ issuer: 'https://a', audience: 'x', grants: [{ claim: 'g', value: 'v', roles: ['admin'], project: 'p', system: 'all' }] }] }, 'give either'],
  ['roles without a project', { issuers: [{ issuer: 'https://a', audience: 'x', claims: { roles: 'roles' } }] }, 'give both project and roles'],
  ['a word too much', { issuers: [{ issuer: 'https://a', audience: 'x', keys: [] }] }, 'keys'],
])('a file with %s is refused', (_, content, says) => {
  expect(() => parseIssuers(JSON.stringify(content), 'oidc.yaml')).toThrow(says);
}); // biome-ignore format: one row a fault
