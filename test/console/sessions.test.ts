/** Signing in and out: what the cookie is, what a form must prove, and what a page says when the API is away. */

import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sealData } from 'iron-session';
import { startTestApi, type TestApi } from '../support/api';
import { consoleKey, startTestConsole, type TestConsole } from '../support/console';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

test('a caller without a session is sent to the sign-in page, and from there to where it was going', async () => {
  const browser = pages.browser();
  expect(await browser.get('/nodes?owner=x')).toMatchObject({ status: 303, to: '/sign-in?next=%2Fnodes%3Fowner%3Dx' });
  expect((await browser.get('/sign-in?next=%2Fnodes%3Fowner%3Dx')).text).toContain('value="/nodes?owner=x"');
  expect(await browser.post('/sign-in', { kind: 'token', token: 'operator', next: '/nodes?owner=x' })).toMatchObject({
    status: 303,
    to: '/nodes?owner=x',
  });
  expect((await browser.get('/nodes')).status).toBe(200);
});

test.each([
  'https://evil.example.org/',
  '//evil.example.org',
  '/\\evil.example.org',
  'javascript:alert(1)',
  '/sign-out',
])('no user is sent on to %s after signing in', async (next) => {
  const browser = pages.browser();
  expect((await browser.get(`/sign-in?next=${encodeURIComponent(next)}`)).text).toContain('name="next" value="/"');
  expect((await browser.post('/sign-in', { kind: 'token', token: 'operator', next })).to).toBe('/');
});

test('the cookie is for the server alone, for this site alone, and says nothing', async () => {
  const browser = pages.browser();
  await browser.get('/sign-in');
  const { headers } = await browser.post('/sign-in', { kind: 'token', token: 'owner-member' });
  const set = headers.getSetCookie().at(-1)!;
  expect(set).toMatch(/^temper_console=.*; Max-Age=3[56]\d\d; Path=\/; .*HttpOnly; SameSite=Strict$/);
  expect(decodeURIComponent(set)).not.toContain('owner-member');
});

test('beyond the loopback address it is sent over TLS alone, and no other host can set it', async () => {
  const secure = await startTestConsole(api.url, { secure: true });
  try {
    const { headers } = await secure.browser().get('/sign-in');
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-temper_console=.*; Secure/);
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  } finally {
    await secure.close();
  }
});

test('signing in makes a new session: one that was there before is not the caller’s', async () => {
  const browser = pages.browser();
  await browser.get('/sign-in');
  const planted = browser.cookie;
  await browser.post('/sign-in', { kind: 'token', token: 'operator' });
  expect(browser.cookie).not.toBe(planted);
  const attacker = pages.browser();
  attacker.cookie = planted;
  expect(await attacker.get('/nodes')).toMatchObject({ status: 303 });
});

test('signing out ends the session: a copy of its cookie opens nothing', async () => {
  const browser = await pages.as('operator');
  const copy = browser.cookie;
  expect(await browser.post('/sign-out', {})).toMatchObject({ status: 303, to: '/sign-in' });
  expect(browser.cookie).toBe('');
  const thief = pages.browser();
  thief.cookie = copy;
  expect(await thief.get('/nodes')).toMatchObject({ status: 303 });
});

test.each([
  ['sealed by another key', Buffer.alloc(32, 8).toString('base64'), {}],
  ['that is over', consoleKey, { until: Date.now() - 1 }],
])('a cookie %s is of no use', async (_, password, more) => {
  const session = {
    id: 'x',
    csrf: 'y',
    until: Date.now() + 60_000,
    credentials: { is: 'token', token: 'operator' },
    ...more,
  };
  const browser = pages.browser();
  browser.cookie = `temper_console=${await sealData(session, { password, ttl: 0 })}`;
  expect(await browser.get('/nodes')).toMatchObject({ status: 303 });
});

test('a cookie that is no cookie of the console is none', async () => {
  const browser = pages.browser();
  browser.cookie = 'temper_console=%E0%A4%A';
  expect(await browser.get('/nodes')).toMatchObject({ status: 303 });
  browser.cookie = 'temper_console=%';
  expect(await browser.get('/sign-in')).toMatchObject({ status: 200 });
});

test.each([
  ['signing out', '/sign-out', {}],
  ['signing in anew', '/sign-in', { kind: 'token', token: 'owner-member' }],
])('%s ends the streams of the session', async (_, path, form) => {
  const browser = await pages.as('operator');
  const reply = await fetch(`${pages.url}/live`, { headers: { cookie: browser.cookie } });
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  await browser.post(path, form);
  expect(await reply.text()).toContain('retry:');
});

test('a stream ends with the time of its session', async () => {
  const brief = await startTestConsole(api.url, { lifeMs: 2_000 });
  try {
    const { cookie } = await brief.as('operator');
    const reply = await fetch(`${brief.url}/live`, { headers: { cookie } });
    expect(await reply.text()).toMatch(/retry:|Sign in/);
  } finally {
    await brief.close();
  }
});

test('the API learns the address of the browser, and counts unknown credentials by it', async () => {
  const behind = await startTestApi({ settings: { trustedProxies: ['127.0.0.0/8'], addressLimitPerMinute: 2 } });
  const front = await startTestConsole(behind.url);
  try {
    const attempt = async (address: string, token: string): Promise<number> => {
      const browser = front.browser();
      await browser.get('/sign-in');
      return (await browser.post('/sign-in', { kind: 'token', token }, { 'x-forwarded-for': address })).status;
    };
    const seen: number[] = [];
    for (const token of ['no-a', 'no-b', 'no-c']) seen.push(await attempt('198.51.100.7', token));
    expect(seen).toEqual([401, 401, 429]);
    expect(await attempt('198.51.100.8', 'no-d')).toBe(401);
  } finally {
    await front.close();
    await behind.close();
  }
});

test('keys are changed without signing a user out: all of them open', async () => {
  const other = Buffer.alloc(32, 8).toString('base64');
  const after = await startTestConsole(api.url, { keys: [other, consoleKey] });
  try {
    const browser = after.browser();
    browser.cookie = (await pages.as('operator')).cookie;
    expect((await browser.get('/nodes')).status).toBe(200);
  } finally {
    await after.close();
  }
});

describe('a form is refused', () => {
  const refused = { status: 403, text: expect.stringContaining('not made by this console for your session') };

  test('without its token', async () => {
    const browser = await pages.as('operator');
    expect(await browser.post('/sign-out', { csrf: '' })).toMatchObject(refused);
  });

  test('with the token of another session', async () => {
    const [browser, other] = [await pages.as('operator'), await pages.as('operator')];
    expect(await browser.post('/sign-out', { csrf: other.csrf })).toMatchObject(refused);
  });

  test('with half a token, and no page has the token of another', async () => {
    const browser = await pages.as('operator');
    const first = browser.csrf;
    await browser.get('/no-such-page');
    expect(browser.csrf).not.toBe(first);
    const [salt, proof] = first.split('.');
    for (const csrf of [`${salt}.`, `.${proof}`, `${salt}x.${proof}`, salt!, proof!])
      expect(await browser.post('/sign-out', { csrf })).toMatchObject(refused);
    expect(await browser.post('/sign-out', { csrf: first })).toMatchObject({ status: 303 });
  });

  test.each([
    ['another origin', { origin: 'https://evil.example.org' }],
    ['an origin that says nothing', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the domain', { 'sec-fetch-site': 'same-site' }],
  ])('from %s', async (_, headers) => {
    const browser = await pages.as('operator');
    expect(await browser.post('/sign-out', {}, headers as never)).toMatchObject(refused);
    expect((await browser.get('/nodes')).status).toBe(200);
  });

  test('to sign in, too: a caller cannot be signed in as another without a page of the console', async () => {
    const browser = pages.browser();
    expect(await browser.post('/sign-in', { kind: 'token', token: 'operator' })).toMatchObject(refused);
  });
});

test('wrong credentials are refused, and the page says so', async () => {
  const browser = pages.browser();
  await browser.get('/sign-in');
  const page = await browser.post('/sign-in', { kind: 'token', token: 'no-such-token' });
  expect(page.status).toBe(401);
  expect(page.text).toContain('requires authentication');
});

/** Makes tokens for any password, and notes what it gets a request to end. */
const startIdentity = async () => {
  const ended: unknown[] = [];
  let made = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'DELETE') {
      ended.push(request.headers['x-subject-token']);
      return response.writeHead(204).end();
    }
    made += 1;
    const token = { expires_at: new Date(Date.now() + 3_600_000).toISOString(), user: { name: 'u' } };
    response.writeHead(201, { 'x-subject-token': `token-${made}` }).end(JSON.stringify({ token }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ended, close: () => server.close() };
};

test('a change of scope ends the token of the scope before, and signing out the other', async () => {
  const identity = await startIdentity();
  const scoped = await startTestConsole(api.url, { identityUrl: identity.url });
  try {
    const browser = scoped.browser();
    await browser.get('/sign-in');
    await browser.post('/sign-in', { kind: 'password', user: 'u', password: 'p' });
    await browser.get('/no-such-page');
    expect(await browser.post('/scope', { project: 'another' })).toMatchObject({ status: 303, to: '/' });
    expect(identity.ended).toEqual(['token-1']);
    await browser.get('/no-such-page');
    await browser.post('/sign-out', {});
    expect(identity.ended).toEqual(['token-1', 'token-2']);
  } finally {
    await scoped.close();
    identity.close();
  }
});

test('a page of another name that resolves to this machine signs no visitor in to the demo', async () => {
  const demo = [{ label: 'operator', user: 'u', password: 'p' }];
  const identity = await startIdentity();
  const shown = await startTestConsole(api.url, { demo, identityUrl: identity.url });
  /** As a browser there sends it: `fetch` would not send such a Host. */
  const post = async (host: string): Promise<number | undefined> => {
    const browser = shown.browser();
    await browser.get('/sign-in');
    const headers = { host, origin: `http://${host}`, cookie: browser.cookie, 'content-type': 'application/x-www-form-urlencoded' }; // biome-ignore format: one row
    const sent = httpRequest(`${shown.url}/sign-in`, { method: 'POST', headers });
    sent.end(`${new URLSearchParams({ csrf: browser.csrf, kind: 'demo', person: 'operator' })}`);
    const [reply] = await once(sent, 'response');
    reply.resume();
    return reply.statusCode;
  };
  try {
    const { port } = new URL(shown.url);
    expect(await post(`rebound.example.org:${port}`)).toBe(403);
    expect(await post(`localhost:${port}`)).toBe(303);
    expect(await post(`127.0.0.1:${port}`)).toBe(303);
  } finally {
    await shown.close();
    identity.close();
  }
});

test('there is no demo where the settings name none', async () => {
  const browser = pages.browser();
  const page = await browser.get('/sign-in');
  expect(page.text).not.toContain('one click');
  expect((await browser.post('/sign-in', { kind: 'demo', person: 'operator' })).status).toBe(400);
});

test('a session ends with its token', async () => {
  let known = true;
  const gate = await startTestApi({
    identity: {
      identify: async (request) => {
        if (known) return api.rooms.identity.identify(request);
        return api.rooms.identity.identify({ ...request, token: 'ended' });
      },
    },
  });
  const here = await startTestConsole(gate.url);
  try {
    const browser = await here.as('operator');
    expect((await browser.get('/nodes')).status).toBe(200);
    known = false;
    const page = await browser.get('/nodes');
    expect(page).toMatchObject({ status: 401, text: expect.stringContaining('Your session has ended') });
    known = true;
    expect(await browser.get('/nodes')).toMatchObject({ status: 303 });
  } finally {
    await here.close();
    await gate.close();
  }
});

test('while the API is away every page says so, and the caller stays signed in', async () => {
  const stopped = createServer().listen(0, '127.0.0.1');
  await once(stopped, 'listening');
  const { port } = stopped.address() as AddressInfo;
  await new Promise((done) => stopped.close(done));
  const lonely = await startTestConsole(`http://127.0.0.1:${port}`);
  try {
    const browser = lonely.browser();
    browser.cookie = (await pages.as('operator')).cookie;
    const page = await browser.get('/nodes');
    expect(page).toMatchObject({ status: 503, text: expect.stringContaining('The API is away') });
    expect(browser.cookie).not.toBe('');
  } finally {
    await lonely.close();
  }
});

test('every page forbids scripts and styles that are not files of the console, and being framed', async () => {
  const browser = await pages.as('operator');
  for (const path of ['/', '/nodes', '/no-such-page', '/sign-in']) {
    const { headers, text } = await browser.get(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<style|<script(?! defer src=)|\son\w+=|style=/);
  }
});

test('what pages load is named by what it holds, kept for good, and small', async () => {
  const { text } = await pages.browser().get('/sign-in');
  const paths = [...new Set([...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!))];
  expect(paths).toHaveLength(7);
  let bytes = Buffer.byteLength(text);
  for (const path of paths) {
    expect(path).toMatch(/\.[0-9a-f]{16}\.(css|js|svg|woff2)$/);
    const reply = await fetch(`${pages.url}${path}`, { headers: { 'accept-encoding': 'gzip' } });
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(reply.headers.get('content-encoding')).toBe(path.endsWith('.woff2') ? null : 'gzip');
    bytes += (
      await fetch(`${pages.url}${path}`, { headers: { 'accept-encoding': 'br' } }).then((one) => one.arrayBuffer())
    ).byteLength;
    await reply.arrayBuffer();
  }
  expect(paths.length).toBe(new Set(paths).size);
  expect(bytes).toBeGreaterThan(0);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
