/** One caller's heaviest bodies leave room between them for the requests of others. */
import { bodyLimit, maxValues } from '../../src/api/http/body';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
let node: string;
beforeAll(async () => {
  api = await startTestApi();
  node = (await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } })).body.uuid;
});
afterAll(() => api.close());

const json = { 'content-type': 'application/json' };

/** Nearly as many values as a body may have, in nearly as many bytes. */
const keys = (): object =>
  Object.fromEntries(Array.from({ length: maxValues - 20 }, (_, n) => [`${'k'.repeat(110)}${n}`, n]));
const operations = (): object =>
  Array.from({ length: maxValues / 4 - 10 }, (_, n) => ({
    op: 'add',
    path: `/extra/${'k'.repeat(450)}${n}`,
    value: n,
  }));
const actions = (most: number): object[] =>
  Array.from({ length: most }, () => ({ op: 'set-attribute', args: { path: '/extra/a', value: 'x' } }));

const heavy = {
  'a node with many keys in extra': () => ['POST', '/v1/nodes', { driver: 'fake-hardware', extra: keys() }, 201],
  'a node with many keys in driver_info': () => [
    'POST',
    '/v1/nodes',
    { driver: 'fake-hardware', driver_info: keys() },
    201,
  ],
  'a patch of many operations': () => ['PATCH', `/v1/nodes/${node}`, operations(), 200],
  'an inspection rule of many actions': () => ['POST', '/v1/inspection_rules', { actions: actions(390) }, 201],
} as const satisfies Record<string, () => readonly [string, string, object, number]>;

test.each(Object.entries(heavy))('%s, one after another: another caller goes on being answered', async (_, make) => {
  const [method, path, body, expected] = make();
  const raw = JSON.stringify(body);
  expect(raw.length).toBeLessThanOrEqual(bodyLimit);
  const answered: ('heavy' | 'other')[] = [];
  let sending = true;
  const other = async () => {
    while (sending) {
      expect((await api.as('operator', 'GET', `/v1/nodes/${node}?fields=uuid`)).status).toBe(200);
      answered.push('other');
    }
  };
  const sender = async () => {
    try {
      for (let sent = 0; sent < 8; sent += 1) {
        expect((await api.as('operator', method, path, { raw, headers: json })).status).toBe(expected);
        answered.push('heavy');
      }
    } finally {
      sending = false;
    }
  };
  await Promise.all([sender(), other()]);
  const of = (kind: 'heavy' | 'other') => answered.filter((one) => one === kind).length;
  expect(of('heavy')).toBe(8);
  // Not one between each two: on a busy machine the store may keep an answer longer than two bodies take.
  expect(of('other')).toBeGreaterThanOrEqual(4);
});

test.each([
  [399, 201],
  [400, 400],
])('an inspection rule of %i actions: at most 2000 values', async (count, status) => {
  const reply = await api.as('operator', 'POST', '/v1/inspection_rules', { body: { actions: actions(count) } });
  expect(reply.status).toBe(status);
  if (status === 400) expect(reply.body.faultstring).toBe('The request body holds more than 2000 values.');
  const one = (await api.as('operator', 'POST', '/v1/inspection_rules', { body: { actions: actions(1) } })).body.uuid;
  const patch = [{ op: 'replace', path: '/actions', value: actions(count) }];
  expect((await api.as('operator', 'PATCH', `/v1/inspection_rules/${one}`, { body: patch })).status).toBe(
    status === 201 ? 200 : 400,
  );
});
