/** During a recovery the API reads and does not change; ending it is an administrator's, and on record. */
import type { Recovery } from '../../src/inventory/runs/recovery';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
let standing: Recovery | undefined;
const asked: boolean[] = [];
const recovery: Recovery = { side: 'store', reason: 'the database is older', since: new Date() };
const lines = ['run x: it goes on from its record'];
beforeAll(async () => {
  api = await startTestApi({
    runs: {
      recover: async (yes) => {
        asked.push(yes);
        return standing ? { recovery: standing, lines } : { recovery: null, lines: [] };
      },
    },
  });
  (api.rooms as { recovery?: () => Recovery | undefined }).recovery = () => standing;
});
afterAll(async () => {
  await api?.close();
});
const node = { body: { driver: 'fake-hardware', name: 'held-back' } };

test('changes are refused with a sentence, and reading goes on', async () => {
  standing = recovery;
  const refused = await api.as('operator', 'POST', '/v1/nodes', node);
  expect(refused.status).toBe(503);
  expect(JSON.stringify(refused.body)).toContain('temper recover --yes');
  expect((await api.as('operator', 'GET', '/v1/nodes')).status).toBe(200);
  standing = undefined;
  expect((await api.as('operator', 'POST', '/v1/nodes', node)).status).toBe(201);
});

test('who may look, and who may end it; both leave a row', async () => {
  standing = recovery;
  await api.sql`insert into recovery ${api.sql({ side: 'store', reason: recovery.reason })}`;
  const seen = await api.as('system-reader', 'GET', '/temper/v1/recovery');
  expect(seen.body).toMatchObject({ recovery: { side: 'store', reason: recovery.reason }, done: false, lines: [] });
  expect((await api.as('system-member', 'POST', '/temper/v1/recovery', { body: { yes: true } })).status).toBe(403);
  const look = await api.as('operator', 'POST', '/temper/v1/recovery', { body: {} });
  expect(look.body).toMatchObject({ done: false, lines });
  const done = await api.as('operator', 'POST', '/temper/v1/recovery', { body: { yes: true } });
  expect(done.body).toMatchObject({ done: true, lines });
  expect(asked).toEqual([false, true]);
  // The first is the refusal.
  const rows = await api.sql`select action from audit where resource = 'recovery' order by seq`;
  expect(rows.map(({ action }) => action)).toEqual(['POST /temper/v1/recovery', 'recovery.look', 'recovery.end']);
  standing = undefined;
});
