/** The heaviest bodies that one caller may send cost no more than their size, so that requests of others are answered between them. */
import { bodyLimit, maxValues } from '../../src/api/body/body';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const newNode = async (): Promise<string> =>
  (await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } })).body.uuid;
const json = { 'content-type': 'application/json' };

/** As many values as a body may have, or a share of them. */
const keys = (share: number): object =>
  Object.fromEntries(Array.from({ length: (maxValues - 20) * share }, (_, n) => [`${'k'.repeat(110)}${n}`, n]));
const operations = (share: number): object =>
  Array.from({ length: (maxValues / 4 - 10) * share }, (_, n) => ({
    op: 'add',
    path: `/extra/${'k'.repeat(450)}${n}`,
    value: n,
  }));
const actions = (most: number): object[] =>
  Array.from({ length: most }, () => ({ op: 'set-attribute', args: { path: '/extra/a', value: 'x' } }));

/** Method, path, body and the expected status. */
type Sent = readonly [string, string, object, number];

const heavy = {
  'a node with many keys in extra': (share) => [
    'POST',
    '/v1/nodes',
    { driver: 'fake-hardware', extra: keys(share) },
    201,
  ],
  'a node with many keys in driver_info': (share) => [
    'POST',
    '/v1/nodes',
    { driver: 'fake-hardware', driver_info: keys(share) },
    201,
  ],
  'a patch of many operations': async (share) => ['PATCH', `/v1/nodes/${await newNode()}`, operations(share), 200],
  'an inspection rule of many actions': (share) => [
    'POST',
    '/v1/inspection_rules',
    { actions: actions(390 * share) },
    201,
  ],
} as const satisfies Record<string, (share: number) => Sent | Promise<Sent>>;

/** Processor time in milliseconds of this process, in which the API runs, until the body has been answered. */
const costOf = async ([method, path, body, expected]: Sent): Promise<number> => {
  const raw = JSON.stringify(body);
  expect(raw.length).toBeLessThanOrEqual(bodyLimit);
  const before = process.cpuUsage();
  expect((await api.as('operator', method, path, { raw, headers: json })).status).toBe(expected);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

// Processor time, not time: a busy machine changes it little. The least of several, for a garbage collection may fall into one.
const leastOf = async (make: () => Sent | Promise<Sent>): Promise<number> => {
  const costs: number[] = [];
  for (let sent = 0; sent < 5; sent += 1) costs.push(await costOf(await make()));
  return Math.min(...costs);
};

test.each(Object.entries(heavy))('%s costs what its size costs, not the square of it', async (_, make) => {
  await costOf(await make(1)); // compiled, and the pools are filled
  const [part, whole] = [await leastOf(() => make(1 / 10)), await leastOf(() => make(1))];
  // Ten times the size: five to ten times the cost; 34 times where a search for repeated keys compares each with all.
  expect(whole / part).toBeLessThan(20);
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
