/** Behind a proxy: the caller's true address is in the audit trail and counted, and no other word is taken for it. */
import { processes } from '../../src/process/settings/config';
import { startTestApi, type TestApi } from '../support/api';

const open: TestApi[] = [];
const apiWith = async (trustedProxies?: string[], rateLimitPerMinute?: number): Promise<TestApi> => {
  const api = await startTestApi({ settings: { trustedProxies, rateLimitPerMinute } });
  open.push(api);
  return api;
};
afterAll(() => Promise.all(open.map((one) => one.close())));

const ours = ['127.0.0.0/8', '::1/128', '10.0.0.0/8'];

/** The address that the audit trail has of a request with this header. */
const addressOf = async (api: TestApi, forwarded: string | undefined): Promise<unknown> => {
  const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const reply = await api.as('operator', 'POST', '/v1/chassis', { body: {}, headers });
  const id = reply.headers.get('x-openstack-request-id');
  const [row] = await api.sql`select origin from audit where request_id = ${id}`;
  return [row!.origin.address, row!.origin.forwarded_for];
};

describe('the address in the audit trail', () => {
  test.each([
    ['one proxy', '198.51.100.7', '198.51.100.7'],
    ['two proxies', '198.51.100.7, 10.1.2.3', '198.51.100.7'],
    ['a proxy, given an address by the caller', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
    ['a proxy, given one of our own by the caller', '10.9.9.9, 198.51.100.7', '198.51.100.7'],
    ['a proxy of IPv6', '2001:db8::7', '2001:db8::7'],
    ['a proxy that writes no address', 'unknown', '127.0.0.1'],
    ['a proxy that writes what is none', '<script>', '127.0.0.1'],
    ['a proxy that writes nothing', undefined, '127.0.0.1'],
  ])('behind %s is the caller’s', async (_, forwarded, address) => {
    const api = open[0] ?? (await apiWith(ours));
    expect(await addressOf(api, forwarded)).toEqual([address, forwarded]);
  });

  test.each([
    ['no proxy is trusted', undefined],
    ['other networks are', ['10.0.0.0/8']],
  ])('is that of the connection where %s, whatever the caller writes', async (_, networks) => {
    const api = await apiWith(networks);
    for (const forged of ['198.51.100.7', '10.1.2.3', '198.51.100.7, 10.1.2.3'])
      expect(await addressOf(api, forged)).toEqual(['127.0.0.1', forged]);
  });
});

const strangers = async (api: TestApi, forwarded: readonly string[]): Promise<number[]> => {
  const seen: number[] = [];
  for (const address of forwarded)
    seen.push((await api.as(null, 'GET', '/v1/nodes', { headers: { 'x-forwarded-for': address } })).status);
  return seen;
};

test('callers behind a trusted proxy are counted one by one', async () => {
  const api = await apiWith(ours, 2);
  expect(await strangers(api, ['198.51.100.1', '198.51.100.1', '198.51.100.1', '198.51.100.2'])).toEqual([
    401, 401, 429, 401,
  ]);
  // What the caller put in front of its own address makes it no other caller.
  expect(await strangers(api, ['192.0.2.1, 198.51.100.1', '10.0.0.1, 198.51.100.1'])).toEqual([429, 429]);
});

test('no caller escapes the count by writing another address every time', async () => {
  const api = await apiWith(undefined, 2);
  expect(await strangers(api, ['198.51.100.1', '198.51.100.2', '198.51.100.3'])).toEqual([401, 401, 429]);
});

test('links follow the scheme that a trusted proxy was asked by, and no other word', async () => {
  const [trusting, alone] = [await apiWith(ours), await apiWith()];
  const link = async (api: TestApi): Promise<string> => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example.org' };
    return (await api.as('operator', 'POST', '/v1/chassis', { body: {}, headers })).body.links[0].href;
  };
  expect(await link(trusting)).toMatch(/^https:\/\/127\.0\.0\.1:/);
  expect(await link(alone)).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

test.each([
  ['10.0.0.0/8,2001:db8::/32', true],
  ['192.0.2.7', true],
  ['0.0.0.0/0', false],
  ['10.0.0.0/8,::/0', false],
  ['proxy.example.org', false],
])('the setting takes %s: %s', (value, taken) => {
  const parsed = processes.api.shape.TEMPER_TRUSTED_PROXIES.safeParse(value);
  expect(parsed.success).toBe(taken);
});
