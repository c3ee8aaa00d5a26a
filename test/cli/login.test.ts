/** Logging in at a real OIDC server: by code, by browser, for a service account; what is kept, sent, renewed and ended. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { browseAs } from '../support/oidc-browser';
import { audience, clientSecret, type OidcServer, startOidcServer } from '../support/oidc-provider';
import { temper } from './support/command';
import { type Double, type Handler, startDouble } from './support/double';

const native = {
  client_id: 'temper',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirect_uris: ['http://127.0.0.1/callback'],
  response_types: ['code'],
  scope: 'openid offline_access temper',
};
const file = '/home/x/.config/temper/login.json';

let server: OidcServer;
let api: Double;
const empty: Handler = () => ({ json: { runs: [] } });

beforeAll(async () => {
  server = await startOidcServer({ robot: ['lab'] }, [native]);
  api = await startDouble(empty);
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(async () => {
  await api?.close();
  await server?.close();
});

const env = () => ({
  TEMPER_URL: api.url,
  TEMPER_OIDC_ISSUER: server.issuer,
  TEMPER_OIDC_SCOPE: 'openid offline_access temper',
});
const sent = () => api.asked.map(({ headers }) => headers.authorization);

/** Logs in; ann goes where the command points. @returns the files, and what was said */
const loggedIn = async (flags: string, files: Record<string, string> = {}) => {
  let page = Promise.resolve<unknown>(undefined);
  const noted = (text: string): void => {
    const address = /^Open (\S+)/m.exec(text)?.[1];
    if (address) page = browseAs('ann', address);
  };
  const said = await temper(`login${flags}`, { env: env(), files, noted });
  await page;
  return { files, said };
};
const kept = (files: Record<string, string>) => JSON.parse(files[file]!);

describe.each([
  ['a code for any device', ''],
  ['a browser on this machine', ' --browser'],
])('a login by %s', (_, flags) => {
  test('is kept for one API, and its token goes with later requests', async () => {
    const { files, said } = await loggedIn(flags);
    expect([said.status, said.err]).toEqual([0, expect.stringContaining('You are logged in.')]);
    const { url, tokens } = kept(files);
    expect(url).toBe(api.url);
    expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: 'ann', aud: audience, iss: server.issuer });
    expect(said.err + said.out).not.toContain(tokens.access_token);
    expect((await temper('runs list', { files })).status).toBe(0);
    expect((await temper('runs list', { files, env: { TEMPER_URL: `${api.url}/v1/` } })).status).toBe(0);
    expect(sent()).toEqual(Array(2).fill(`Bearer ${tokens.access_token}`));
  });
});

test('the token of a login goes to no other API', async () => {
  const { files } = await loggedIn('');
  const other = await startDouble(empty);
  expect((await temper('runs list', { files, env: { TEMPER_URL: other.url } })).status).toBe(0);
  expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  await other.close();
});

test('a token that ends soon is renewed, and the renewed one is kept', async () => {
  const { files } = await loggedIn('');
  const login = kept(files);
  files[file] = JSON.stringify({ ...login, tokens: { ...login.tokens, ends: Date.now() + 10_000 } });
  expect((await temper('runs list', { files })).status).toBe(0);
  const { tokens } = kept(files);
  expect(tokens.access_token).not.toBe(login.tokens.access_token);
  expect(tokens.ends).toBeGreaterThan(Date.now() + 60_000);
  expect(sent()).toEqual([`Bearer ${tokens.access_token}`]);
});

test.each([
  ['cannot be renewed', { refresh_token: undefined }, 'Your login has ended: run "temper login" again.'],
  [
    'is renewed by a token that the server has revoked',
    { refresh_token: 'revoked' },
    'The OIDC server refused the login (invalid_grant',
  ],
])('a login that has ended and %s is refused, and nothing is sent', async (_, change, says) => {
  const { files } = await loggedIn('');
  const login = kept(files);
  files[file] = JSON.stringify({ ...login, tokens: { ...login.tokens, ends: 0, ...change } });
  const { status, err } = await temper('runs list', { files });
  expect([status, err, sent()]).toEqual([1, expect.stringContaining(says), []]);
});

test('a logout deletes the login and revokes it at the server', async () => {
  const { files } = await loggedIn('');
  const before = kept(files);
  expect((await temper('logout', { files })).status).toBe(0);
  expect(files[file]).toBeUndefined();
  expect((await temper('logout', { files })).err).toContain('You are not logged in.');
  files[file] = JSON.stringify({ ...before, tokens: { ...before.tokens, ends: 0 } });
  expect((await temper('runs list', { files })).err).toContain('invalid_grant');
});

test('a service account has a token for each command, which nothing keeps', async () => {
  const account = {
    TEMPER_OIDC_CLIENT_ID: 'robot',
    TEMPER_OIDC_CLIENT_SECRET: clientSecret,
    TEMPER_OIDC_SCOPE: 'temper',
  };
  const files = {};
  expect(await temper('runs list', { env: { ...env(), ...account }, files })).toMatchObject({ status: 0 });
  expect(decodeJwt(sent()[0]!.slice('Bearer '.length))).toMatchObject({ client_id: 'robot', groups: ['lab'] });
  expect(files).toEqual({});
  const wrong = await temper('runs list', { env: { ...env(), ...account, TEMPER_OIDC_CLIENT_SECRET: 'wrong' }, files });
  expect([wrong.status, wrong.err]).toEqual([1, expect.stringContaining('refused the login (HTTP 401)')]);
  expect(wrong.err).not.toContain('wrong');
});

test('a file that is no login is named, not used', async () => {
  const { status, err } = await temper('runs list', { files: { [file]: '{"url": 7}' } });
  expect([status, err]).toEqual([2, expect.stringContaining(`${file} is no login`)]);
});

describe('an OIDC server that lies', () => {
  let liar: Server;
  let answer: (url: string) => { status: number; headers?: Record<string, string>; body: string };
  let address: string;
  beforeAll(async () => {
    liar = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      const { status, headers, body } = answer(request.url!);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
    liar.listen(0, '127.0.0.1');
    await once(liar, 'listening');
    address = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  });
  afterAll(() => liar?.close());
  const login = (issuer = address) => temper('login', { env: { ...env(), TEMPER_OIDC_ISSUER: issuer } });

  test.each([
    ['is away', () => ({ status: 500, body: '' })],
    ['redirects', () => ({ status: 302, headers: { location: server.issuer }, body: '' })],
    ['floods', () => ({ status: 200, body: `{"issuer": "${' '.repeat(2_000_000)}"}` })],
    ['calls itself by another name', () => ({ status: 200, body: JSON.stringify({ issuer: server.issuer }) })],
  ])('and %s gives no login', async (_, given) => {
    answer = given;
    const { status, err } = await login();
    expect([status, err]).toEqual([3, expect.stringContaining('gave no usable answer')]);
  });

  test('and sends control characters in its texts does not reach the terminal with them', async () => {
    const metadata = { issuer: address, device_authorization_endpoint: `${address}/device` };
    const fault = { error: 'invalid_client', error_description: 'no\u001b[2Jsuch' };
    answer = (url) =>
      url === '/device'
        ? { status: 400, body: JSON.stringify(fault) }
        : { status: 200, body: JSON.stringify(metadata) };
    const { status, err } = await login();
    expect([status, err]).toEqual([1, expect.stringContaining('invalid_client')]);
    expect(err).not.toContain('\u001b');
  });

  test('and is reached without TLS beyond this machine is not asked', async () => {
    expect(await login('http://sso.example.org')).toMatchObject({
      status: 2,
      err: expect.stringContaining('https://'),
    });
  });
});

test('a foreign page cannot end a login at the loopback address', async () => {
  const tried: number[] = [];
  const noted = async (text: string) => {
    const address = /^Open (\S+)/m.exec(text)?.[1];
    if (!address) return;
    const redirect = new URL(address).searchParams.get('redirect_uri')!;
    for (const query of ['?code=stolen', '?code=stolen&state=guessed', '?error=access_denied'])
      tried.push((await fetch(`${redirect}${query}`)).status);
    tried.push((await fetch(redirect, { method: 'POST' })).status);
    await browseAs('ann', address);
  };
  const files: Record<string, string> = {};
  expect((await temper('login --browser', { env: env(), files, noted: (text) => void noted(text) })).status).toBe(0);
  expect(tried).toEqual([404, 404, 404, 404]);
  expect(kept(files).client.client_id).toBe('temper');
});
