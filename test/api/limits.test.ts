/** What a public service has: a rate per caller, ids of requests, what browsers are allowed, and a door of their own for ramdisks. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, onlyRamdisks, routes, withoutRamdisks } from '../../src/api';
import { createLimits, type Limits } from '../../src/api/server/limits';
import { raise } from '../../src/model/errors';
import { faultOf, startTestApi, type TestApi } from '../support/api';

const open: TestApi[] = [];
const apiWith = async (...options: Parameters<typeof startTestApi>): Promise<TestApi> => {
  const api = await startTestApi(...options);
  open.push(api);
  return api;
};
let api: TestApi;
beforeAll(async () => {
  api = await apiWith();
});
afterAll(() => Promise.all(open.map((one) => one.close())));

const statuses = async (times: number, send: () => Promise<{ status: number }>) => {
  const seen: number[] = [];
  for (let at = 0; at < times; at++) seen.push((await send()).status);
  return seen;
};

describe('requests in a minute', () => {
  let limited: TestApi;
  beforeEach(async () => {
    limited = await apiWith({ settings: { rateLimitPerMinute: 3 } });
  });
  const list = (who: Parameters<TestApi['as']>[0]) => limited.as(who, 'GET', '/v1/nodes');

  test('beyond the number are refused with when to come again; others are served', async () => {
    expect(await statuses(3, () => list('owner-member'))).toEqual([200, 200, 200]);
    const reply = await list('owner-member');
    expect([reply.status, faultOf(reply)]).toEqual([429, expect.stringMatching(/^Too many requests: 3 a minute/)]);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(Number(reply.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(JSON.parse(reply.body.error_message).faultcode).toBe('Client');
    // The same user: roles do not make it another caller.
    expect((await list('owner-admin')).status).toBe(429);
    expect((await list('lessee-member')).status).toBe(200);
  });

  test('are a minute, though the clock is set back meanwhile', async () => {
    expect(await statuses(4, () => list('owner-member'))).toEqual([200, 200, 200, 429]);
    const before = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => before - 3_600_000);
    try {
      expect(await statuses(4, () => list('owner-member'))).toEqual([200, 200, 200, 429]);
      expect(Number((await list('owner-member')).headers.get('retry-after'))).toBeLessThanOrEqual(60);
    } finally {
      clock.mockRestore();
    }
  });

  test('are shown in the headers of every answer', async () => {
    const reply = await list('operator');
    expect(reply.headers.get('ratelimit-policy')).toContain('q=3; w=60');
    expect(reply.headers.get('ratelimit')).toMatch(/r=2; t=\d+/);
    expect(reply.headers.get('x-ratelimit-limit')).toBeNull();
    expect((await api.as('operator', 'GET', '/v1/nodes')).headers.get('ratelimit')).toBeNull();
  });

  test('without credentials count by address, and those of known callers from there do not', async () => {
    expect(await statuses(4, () => list(null))).toEqual([401, 401, 401, 429]);
    expect((await list('operator')).status).toBe(200);
  });

  test('of an address whose callers are not known have a number of their own, by default too', async () => {
    const guarded = await apiWith({ settings: { addressLimitPerMinute: 3 } });
    const stranger = () => guarded.as(null, 'GET', '/v1/nodes');
    expect(await statuses(4, stranger)).toEqual([401, 401, 401, 429]);
    expect(faultOf(await stranger())).toMatch(/^Too many requests: 3 a minute/);
    const known = () => guarded.as('operator', 'GET', '/v1/nodes');
    expect(await statuses(5, known)).toEqual([200, 200, 200, 200, 200]);
    expect((await known()).headers.get('ratelimit')).toBeNull();
  });

  test('of such an address are never more than those of a caller', async () => {
    const guarded = await apiWith({ settings: { addressLimitPerMinute: 9, rateLimitPerMinute: 2 } });
    expect(await statuses(3, () => guarded.as(null, 'GET', '/v1/nodes'))).toEqual([401, 401, 429]);
  });

  test('behind a proxy count by the address that it forwards, where it is one of ours', async () => {
    const from = (one: TestApi, address: string) =>
      one.as(null, 'GET', '/v1/nodes', { headers: { 'x-forwarded-for': address } });
    const seen = async (one: TestApi) => {
      const replies = [];
      for (const last of [1, 2, 3, 4]) replies.push((await from(one, `198.51.100.${last}`)).status);
      return replies;
    };
    // A client that reaches the API directly may write any address.
    expect(await seen(limited)).toEqual([401, 401, 401, 429]);
    const behind = await apiWith({ settings: { rateLimitPerMinute: 3, trustedProxies: ['127.0.0.0/8'] } });
    expect(await seen(behind)).toEqual([401, 401, 401, 401]);
    await statuses(2, () => from(behind, '198.51.100.1'));
    expect((await from(behind, '198.51.100.1')).status).toBe(429);
  });

  test('that are refused change nothing and leave no row in the audit trail', async () => {
    await statuses(3, () => list('operator'));
    const before = await limited.sql`select count(*) from audit`;
    const reply = await limited.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
    expect(reply.status).toBe(429);
    expect(await limited.sql`select count(*) from audit`).toEqual(before);
    expect(await limited.sql`select 1 from nodes`).toHaveLength(0);
  });

  test('of ramdisks count by address', async () => {
    const beat = () => limited.as(null, 'POST', '/v1/heartbeat/nobody', { body: {} });
    expect((await statuses(4, beat)).map((status) => status === 429)).toEqual([false, false, false, true]);
  });

  test('one that is tried again without its suffix counts once', async () => {
    const reply = await limited.as('operator', 'GET', '/v1/nodes/n.json', { minor: 90 });
    expect([reply.status, reply.headers.get('ratelimit')]).toEqual([404, expect.stringMatching(/r=2;/)]);
  });
});

describe('what a credential costs', () => {
  test('of an unknown credential are counted before it is looked at', async () => {
    const looked: string[] = [];
    const guarded = await apiWith({
      settings: { rateLimitPerMinute: 2 },
      identity: {
        identify: async ({ token, spend }) => {
          await spend?.();
          looked.push(String(token));
          return raise('Unauthenticated', { challenge: 'x', reason: 'unknown' });
        },
      },
    });
    expect(await statuses(4, () => guarded.as('stranger-admin', 'GET', '/v1/nodes'))).toEqual([401, 401, 429, 429]);
    expect(looked).toHaveLength(2);
  });

  test('a household of IPv6 addresses is one sender for what a credential costs, as it is for requests', async () => {
    const seen: (string | undefined)[] = [];
    const api = await apiWith({
      settings: { trustedProxies: ['127.0.0.0/8'] },
      identity: {
        identify: async ({ sender }) => {
          seen.push(sender?.());
          return raise('Unauthenticated', { challenge: 'Basic' });
        },
      },
    });
    for (const address of ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:5::1', '198.51.100.7'])
      await api.as(null, 'GET', '/v1/nodes', { headers: { 'x-forwarded-for': address } });
    const [one, other, elsewhere, four] = seen;
    expect(other).toBe(one);
    expect(elsewhere).not.toBe(one);
    expect(four).toBe('198.51.100.7');
  });
});

const plainRequest = () => ({ headers: {} }) as Parameters<Limits['ofCaller']>[0];
const plainResponse = { setHeader: () => {}, append: () => {}, headersSent: false } as unknown as Parameters<
  Limits['ofCaller']
>[1];
const user = { strategy: 'noauth', user_id: 'u' } as Parameters<Limits['ofCaller']>[2];

test('of requests that come at once, as many are served as the limit says', async () => {
  const limits = createLimits({ caller: 7 });
  const all = Array.from({ length: 30 }, () => limits.ofCaller(plainRequest(), plainResponse, user));
  const served = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled');
  expect(served).toHaveLength(7);
});

test('a refusal names the seconds that are left of its minute, of which there is one at least', async () => {
  jest.useFakeTimers({ now: 0 });
  try {
    const limits = createLimits({ caller: 1 });
    const refusal = () =>
      limits.ofCaller(plainRequest(), plainResponse, user).then(
        () => undefined,
        ({ facts }) => facts,
      );
    expect(await refusal()).toBeUndefined();
    jest.setSystemTime(41_500);
    expect(await refusal()).toEqual({ limit: 1, seconds: 19 });
    jest.setSystemTime(59_900);
    expect(await refusal()).toEqual({ limit: 1, seconds: 1 });
  } finally {
    jest.useRealTimers();
  }
});

describe('ids of requests', () => {
  const sent = 'req-0a1b2c3d-0000-4000-8000-00000000000f';
  const originOf = async (id: string | null) =>
    (await api.sql`select origin ->> 'global_request_id' as id from audit where request_id = ${id}`)[0]?.id;

  test.each(['X-OpenStack-Request-ID', 'OpenStack-Request-Id'])('%s of a caller is kept beside ours', async (name) => {
    const body = { driver: 'fake-hardware' };
    const reply = await api.as('operator', 'POST', '/v1/nodes', { body, headers: { [name]: sent } });
    const ours = reply.headers.get('x-openstack-request-id');
    expect([ours === sent, reply.headers.get('openstack-request-id')]).toEqual([false, ours]);
    expect(await originOf(ours)).toBe(sent);
  });

  test.each(['x', 'req-1', `${sent}0`, `${sent}\u00e9`])('what is no such id is dropped: %s', async (bad) => {
    const body = { driver: 'fake-hardware' };
    const headers = { 'x-openstack-request-id': bad };
    const reply = await api.as('operator', 'POST', '/v1/nodes', { body, headers });
    expect([reply.status, await originOf(reply.headers.get('x-openstack-request-id'))]).toEqual([201, null]);
  });

  test('the log has both', async () => {
    const spy = jest.spyOn(api.inventory.nodes, 'find').mockRejectedValueOnce(new Error('surprise'));
    const reply = await api.as('operator', 'GET', '/v1/nodes/n1', { headers: { 'x-openstack-request-id': sent } });
    spy.mockRestore();
    const facts = { request_id: reply.headers.get('x-openstack-request-id'), global_request_id: sent };
    expect(api.log).toContainEqual(expect.objectContaining({ facts: expect.objectContaining(facts) }));
  });
});

describe('browsers', () => {
  test.each([
    ['GET', '/v1', null, 200],
    ['GET', '/v1/nodes', 'operator', 200],
    ['GET', '/v1/nodes/missing', 'operator', 404],
    ['GET', '/v1/nodes', null, 401],
    ['PUT', '/v1/nodes', 'operator', 405],
    ['GET', '/v1/nodes/%E0%A4%A', 'operator', 400],
  ] as const)(
    '%s %s: an answer is not guessed at, not framed, runs nothing and is not kept',
    async (method, path, who, status) => {
      const { headers, ...reply } = await api.as(who, method, path);
      expect(reply.status).toBe(status);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );

  const page = 'https://console.example.org';
  const preflight = (one: TestApi, origin: string) =>
    fetch(`${one.url}/v1/nodes`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-auth-token' },
    });

  test('no page may read answers by default', async () => {
    const reply = await api.as('operator', 'GET', '/v1/nodes', { headers: { origin: page } });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    expect((await preflight(api, page)).headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a page of an origin that the installation names may, and sees version and ids', async () => {
    const named = await apiWith({ settings: { corsOrigins: [page] } });
    const before = await preflight(named, page);
    expect([before.status, before.headers.get('access-control-allow-origin')]).toEqual([204, page]);
    expect(before.headers.get('access-control-allow-headers')).toContain('X-Auth-Token');
    expect(before.headers.get('access-control-allow-credentials')).toBeNull();
    for (const who of ['operator', null] as const) {
      const reply = await named.as(who, 'GET', '/v1/nodes', { headers: { origin: page } });
      expect(reply.headers.get('access-control-allow-origin')).toBe(page);
      expect(reply.headers.get('access-control-expose-headers')).toContain('X-OpenStack-Request-Id');
      expect(reply.headers.get('access-control-expose-headers')).toContain('X-OpenStack-Ironic-API-Version');
      expect(reply.headers.get('vary')).toMatch(/X-Auth-Token.*Origin/);
    }
    for (const other of ['https://evil.example.org', 'null', `${page}.evil.org`, 'http://console.example.org']) {
      const reply = await named.as('operator', 'GET', '/v1/nodes', { headers: { origin: other } });
      expect([other, reply.headers.get('access-control-allow-origin')]).toEqual([other, null]);
    }
  });
});

describe('ramdisks', () => {
  const servers: Server[] = [];
  afterAll(() => servers.map((server) => server.close()));
  const serving = async (given: typeof routes): Promise<string> => {
    const server = createServer(createApi(api.rooms, given)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const version = { 'x-openstack-ironic-api-version': '1.115' };
  const asks = [
    ['GET', '/v1/lookup?addresses=52:54:00:00:00:01'],
    ['POST', '/v1/heartbeat/nobody'],
    ['POST', '/v1/continue_inspection'],
  ] as const;
  const statusOf = async (url: string, method: string, path: string): Promise<number> =>
    (await fetch(`${url}${path}`, { method, headers: version, ...(method === 'POST' && { body: '{}' }) })).status;

  test.each(asks)('%s %s is refused where they are not served, whichever caller asks', async (method, path) => {
    const url = await serving(withoutRamdisks(routes));
    expect(await statusOf(url, method, path)).toBe(403);
    expect(await statusOf(url, 'GET', '/v1')).toBe(200);
    const nodes = await fetch(`${url}/v1/nodes`, { headers: { ...version, 'x-auth-token': 'operator' } });
    expect(nodes.status).toBe(200);
  });

  test.each(asks)('%s %s is served at their own address', async (method, path) => {
    const url = await serving(onlyRamdisks(routes));
    // No caller is known by these, and that is said by the handler and not by the door.
    expect([400, 404]).toContain(await statusOf(url, method, path));
    expect(await statusOf(url, method, path)).toBe(await statusOf(api.url, method, path));
  });

  test('at their own address nothing else is served, but for the versions that there are', async () => {
    const url = await serving(onlyRamdisks(routes));
    const known = { ...version, 'x-auth-token': 'operator' };
    const others = routes.filter(({ open: theirs, path }) => !theirs && !['/', '/v1'].includes(path));
    expect(others.length).toBeGreaterThan(100);
    for (const { method, path } of others) {
      const at = `${url}${path.replace(/:\w+/g, 'x')}`;
      const reply = await fetch(at, { method, headers: known, ...(/P/.test(method) && { body: '{}' }) });
      // A heartbeat's path takes no other method.
      expect([`${method} ${path}`, reply.status]).toEqual([`${method} ${path}`, 404]);
    }
    expect(await statusOf(url, 'GET', '/')).toBe(200);
  });
});
