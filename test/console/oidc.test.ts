/** Signing in to the console at a real OIDC server, and every way back that must not sign anyone in. */
import { createIdentity, createOidc, type Strategy } from '../../src/identity';
import { textSource } from '../identity/support';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { browseAs } from '../support/oidc-browser';
import { audience, clientSecret, type OidcServer, startOidcServer } from '../support/oidc-provider';

let server: OidcServer;
let oidc: Strategy;
let api: TestApi;
let console_: TestConsole;

const settingsOf = (issuer: string) => ({
  oidc: { issuer, clientId: 'temper-console', clientSecret, scope: 'openid temper', resource: audience },
});

beforeAll(async () => {
  server = await startOidcServer({ ann: ['operators'], long: ['x'.repeat(3_000)] });
  const grants = [{ claim: 'groups', value: 'operators', roles: ['admin'], system: 'all' }];
  oidc = await createOidc({
    issuers: textSource(JSON.stringify({ issuers: [{ issuer: server.issuer, audience, grants }] })),
  });
  api = await startTestApi({ identity: createIdentity([oidc]) });
  console_ = await startTestConsole(api.url, settingsOf(server.issuer));
  await server.add({
    client_id: 'temper-console',
    client_secret: clientSecret,
    redirect_uris: [`${console_.url}/sign-in/oidc`],
    scope: 'openid temper',
  });
});
afterAll(async () => {
  await console_?.close();
  await api?.close();
  await oidc?.close?.();
  await server?.close();
});

/** @returns a browser that began, and the path by which the server sends it back */
const begun = async (account = 'ann', next = '/nodes') => {
  const browser = console_.browser();
  const begin = await browser.get(`/sign-in/oidc/begin?next=${encodeURIComponent(next)}`);
  const { url } = await browseAs(account, begin.to!, console_.url);
  return { browser, back: url.slice(console_.url.length) };
};

test('a person signs in at the server, and sees what the token grants', async () => {
  const page = await console_.browser().get('/sign-in?next=%2Fnodes');
  expect(page.text).toContain('href="/sign-in/oidc/begin?next=%2Fnodes"');
  const { browser, back } = await begun();
  const signedIn = await browser.get(back);
  expect([signedIn.status, signedIn.headers.get('refresh')]).toEqual([200, '0; url=/nodes']);
  const nodes = await browser.get('/nodes');
  expect([nodes.status, nodes.text]).toEqual([200, expect.stringContaining('<b>ann</b>')]);
  expect((await browser.get('/system')).status).toBe(200);
  expect(console_.faults).toEqual([]);
});

const isSignedIn = async (browser: ReturnType<TestConsole['browser']>): Promise<boolean> =>
  (await browser.get('/nodes')).status === 200;

test('a code counts only in the browser that began, so that nobody is signed in as another', async () => {
  const { back } = await begun();
  const victim = console_.browser();
  const page = await victim.get(back);
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('was not begun in this browser')]);
  const other = await begun();
  expect((await other.browser.get(back)).status).toBe(401);
  expect([await isSignedIn(victim), await isSignedIn(other.browser)]).toEqual([false, false]);
});

test('a code counts once', async () => {
  const { browser, back } = await begun();
  const { cookie } = browser;
  expect((await browser.get(back)).status).toBe(200);
  const copy = console_.browser();
  copy.cookie = cookie;
  expect((await copy.get(back)).status).toBe(401);
  expect(await isSignedIn(copy)).toBe(false);
});

test.each([
  ['an error of the server', (back: string) => back.replace(/code=[^&]*/, 'error=access_denied')],
  ['another state', (back: string) => back.replace(/state=[^&]*/, 'state=guessed')],
  ['no state', (back: string) => back.replace(/&?state=[^&]*/, '')],
  ['a code that the server did not give', (back: string) => back.replace(/code=[^&]*/, 'code=guessed')],
  ['another issuer', (back: string) => back.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example.org')],
])('coming back with %s signs nobody in', async (_, change) => {
  const { browser, back } = await begun();
  const page = await browser.get(change(back));
  expect([401, 503]).toContain(page.status);
  expect(page.text).toContain('OIDC server');
  expect(await isSignedIn(browser)).toBe(false);
});

test('a sign-in leads to no other site', async () => {
  for (const next of ['//evil.example.org', 'https://evil.example.org', '/\\evil', '/sign-out']) {
    const { browser, back } = await begun('ann', next);
    expect((await browser.get(back)).headers.get('refresh')).toBe('0; url=/');
  }
});

test('a token that no cookie can hold is refused with a reason', async () => {
  const { browser, back } = await begun('long');
  const page = await browser.get(back);
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('too long for the cookie')]);
});

test('a server that is away is said so, and other ways of signing in stay', async () => {
  const away = await startTestConsole(api.url, settingsOf('http://127.0.0.1:9'));
  const page = await away.browser().get('/sign-in/oidc/begin');
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('The OIDC server gave no usable answer')]);
  expect(page.text).toContain('With a token');
  await away.close();
});
