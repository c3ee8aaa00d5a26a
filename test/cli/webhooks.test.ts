/** `temper webhooks`: what is sent, and what is shown. */
import { webhookKeys } from '../../src/model/resources/webhooks';
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
const one = {
  uuid: 'w-1',
  project: 'p-1',
  url: 'https://hooks.example.org/t',
  kinds: ['run.*'],
  enabled: true,
  description: null,
  secret: '******',
};
const delivery = {
  uuid: 'd-1',
  event_seq: 7,
  kind: 'run.failed',
  state: 'failed',
  attempts: 12,
  status: 500,
  error: null,
};
const answers = (path: string) => {
  if (path.includes('/deliveries')) return { deliveries: [{ ...delivery, created_at: '2026-11-21T21:00:00.000Z' }] };
  return path.endsWith('/webhooks') ? { webhooks: [one, { ...one, uuid: 'w-2', project: null }] } : one;
};
beforeAll(async () => {
  api = await startDouble(({ method, path }) => ({ json: method === 'POST' ? one : answers(path) }));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (...line: string[]) => temper(['webhooks', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('the list says whose events each gets', async () => {
  const { out } = await does('list');
  expect(out).toMatch(/w-1\s+https:\/\/hooks\.example\.org\/t\s+run\.\*\s+p-1/);
  expect(out).toMatch(/w-2\s+https:\/\/hooks\.example\.org\/t\s+run\.\*\s+all nodes/);
});

test('one is added with a new secret, which is shown once', async () => {
  const { out } = await does('add', one.url, '--kinds', 'run.failed, node.*', '--project', 'p-1');
  const secretOf = (at: number) => (api.asked[at]!.body as { secret: string }).secret;
  const secret = secretOf(0);
  expect(api.asked[0]!.body).toEqual({
    url: one.url,
    kinds: ['run.failed', 'node.*'],
    project: 'p-1',
    secret: expect.any(String),
  });
  expect(webhookKeys(secret)).toHaveLength(1);
  expect(out).toContain(secret);
  await does('add', one.url, '--kinds', '*');
  expect(secretOf(1)).not.toBe(secret);
});

test('one is switched off and on, and deleted', async () => {
  for (const act of ['disable', 'enable', 'delete']) expect((await does(act, 'w-1')).status).toBe(0);
  expect(api.asked).toMatchObject([
    { method: 'PATCH', path: '/temper/v1/webhooks/w-1', body: { enabled: false } },
    { method: 'PATCH', path: '/temper/v1/webhooks/w-1', body: { enabled: true } },
    { method: 'DELETE', path: '/temper/v1/webhooks/w-1' },
  ]);
});

test('its deliveries show what the receiver answered', async () => {
  expect((await does('deliveries', 'w-1')).out).toMatch(/7\s+run\.failed\s+failed\s+12\s+500/);
});

test('without kinds nothing is sent', async () => {
  expect((await does('add', one.url)).status).toBe(2);
  expect(api.asked).toEqual([]);
});
