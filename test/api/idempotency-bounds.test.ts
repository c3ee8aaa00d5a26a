/** Idempotency-Key: how much of one caller, and of one answer, is kept. */

import { keptAnswer, mostKeptBytes, mostKeys } from '../../src/api/idempotency/bounds';
import { createOnce } from '../../src/api/idempotency/idempotency';
import { startTestApi, type TestApi } from '../support/api';
import { type Answers, logOf, storeOf } from '../support/run-doubles';

const asked = Buffer.from('asked');

/** A caller whose requests have a key each, of a store that has counted so many. */
const callerWith = (answers: Answers) => {
  const store = storeOf(answers);
  const ctx = {
    inventory: store.inventory,
    settings: { idempotencyHours: 24 },
    vault: { digests: () => [asked] },
    log: logOf().log,
  };
  const doOnce = createOnce(ctx as unknown as Parameters<typeof createOnce>[0], []);
  const work = jest.fn(async () => ({ status: 204 }));
  const send = (key: string, project_id = 'p') => {
    const request = { requestId: key, who: { roles: [], project_id }, version: 1, header: () => key };
    const route = { method: 'PUT', rules: ['a:rule'] };
    return doOnce({ route, request, url: '/x', rawBody: {} } as unknown as Parameters<typeof doOnce>[0], work);
  };
  return { send, work, store };
};

test('a caller with as many keys as may be kept is refused another one, before any work', async () => {
  const { send, work } = callerWith({ 'idempotency.count': mostKeys - 1, 'idempotency.holds': false });
  await send('last');
  await expect(send('one-more')).rejects.toMatchObject({ code: 'TooManyKeys', facts: { limit: mostKeys } });
  expect(work).toHaveBeenCalledTimes(1);
});

test('and is still answered under a key that it has', async () => {
  const row = { request_id: 'r0', asked, alive: false, changed: true, status: 204, headers: {}, body: null };
  const { send } = callerWith({
    'idempotency.count': mostKeys,
    'idempotency.holds': true,
    'idempotency.begin': row,
  });
  expect(await send('before')).toMatchObject({ answer: { status: 204 }, repeated: true });
});

test('keys are counted once for many requests of a caller, and for each caller', async () => {
  const { send, store } = callerWith({ 'idempotency.count': 0 });
  for (const key of ['a', 'b', 'c']) await send(key);
  expect(store.of('idempotency.count')).toHaveLength(1);
  await send('a', 'another');
  expect(store.of('idempotency.count')).toHaveLength(2);
});

test('of an answer that is too large status and headers are kept', () => {
  const headers = { Location: '/x' };
  const largest = 'ü'.repeat(mostKeptBytes / 2);
  expect(keptAnswer({ status: 201, headers, text: largest })).toEqual({ status: 201, headers, body: largest });
  expect(keptAnswer({ status: 201, headers, text: `${largest}x` })).toEqual({ status: 201, headers, body: null });
  expect(keptAnswer({ status: 200, body: { a: 1 } })).toEqual({ status: 200, headers: {}, body: '{"a":1}' });
});

describe('in the database', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api?.close());

  test('keys count while they are kept, of their own caller alone', async () => {
    const { idempotency } = api.inventory;
    const [caller, other] = [Buffer.from('caller'), Buffer.from('other')];
    for (const key of ['a', 'b', 'c'])
      await idempotency.begin({ request_id: `r-${key}`, caller, key, asked, keptForHours: 1 });
    await idempotency.begin({ request_id: 'r-other', caller: other, key: 'a', asked, keptForHours: 1 });
    expect([await idempotency.count(caller, 10), await idempotency.count(caller, 2)]).toEqual([3, 2]);
    expect([await idempotency.holds(caller, 'a'), await idempotency.holds(other, 'b')]).toEqual([true, false]);
    await api.sql`update idempotency set expires_at = now() where request_id = 'r-a'`;
    expect([await idempotency.count(caller, 10), await idempotency.holds(caller, 'a')]).toEqual([2, false]);
  });

  test('a key with a long answer counts once for each 10 KiB of it', async () => {
    const { idempotency } = api.inventory;
    const caller = Buffer.from('of-long-answers');
    for (const [key, bytes] of Object.entries({ none: 0, short: 10_240, long: 102_400, longest: mostKeptBytes })) {
      await idempotency.begin({ request_id: `r-${key}`, caller, key, asked, keptForHours: 1 });
      await idempotency.answered(`r-${key}`, {
        status: 200,
        headers: {},
        body: bytes === 0 ? null : 'x'.repeat(bytes),
      });
    }
    expect(await idempotency.count(caller, 1_000)).toBe(1 + 1 + 10 + 410);
  });
});
