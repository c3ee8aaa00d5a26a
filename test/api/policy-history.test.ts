/** Loads of the policy in the audit trail, and the texts behind a hash. */
import type { RecordedLoad } from '../../src/inventory/policy-loads';
import { temper } from '../cli/support/command';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const rules = (letter: string) => letter.repeat(16);
const load = (request_id: string, text: string, more: Partial<RecordedLoad> = {}): RecordedLoad => ({
  at: new Date(),
  set: 'temper',
  mode: 'strict',
  host: 'api-1',
  request_id,
  rule_set: rules('a'),
  reason: null,
  files: [
    {
      path: '/etc/policy.yaml',
      text,
      sha256: text.length.toString(16).padStart(64, '0'),
      modified_at: '2026-11-20T08:00:00.000Z',
      uid: 7,
      rules: 1,
    },
  ],
  ...more,
});
const history = (query = '', who: Parameters<TestApi['as']>[0] = 'system-reader') =>
  api.as(who, 'GET', `/temper/v1/policy/history${query}`);

test('a load is a row of the trail with its author, and its text is kept once', async () => {
  const { policyLoads } = api.rooms.inventory;
  const text = '"baremetal:node:delete": "!"\n';
  await policyLoads.record(load('req-1', text));
  await policyLoads.record(load('req-1', text));
  await policyLoads.record(load('req-2', text));
  await policyLoads.record(load('req-3', `${text}# more\n`, { rule_set: rules('b') }));
  await policyLoads.record(load('req-4', '', { rule_set: null, reason: 'it holds no rules' }));

  const trail = await api.as('system-reader', 'GET', '/temper/v1/audit?action=policy.load');
  expect(trail.body.audit.map((row: Record<string, unknown>) => [row.request_id, row.verdict, row.rule_set])).toEqual([
    ['req-4', 'failed', null],
    ['req-3', 'granted', rules('b')],
    ['req-2', 'granted', rules('a')],
    ['req-1', 'granted', rules('a')],
  ]);
  expect(trail.body.audit[0]).toMatchObject({ code: 'PolicyInvalid', data: { reason: 'it holds no rules' } });
  expect(trail.body.audit[3].data).toEqual({
    set: 'temper',
    mode: 'strict',
    host: 'api-1',
    files: [
      {
        path: '/etc/policy.yaml',
        sha256: expect.any(String),
        modified_at: '2026-11-20T08:00:00.000Z',
        uid: 7,
        rules: 1,
      },
    ],
  });

  const listed = await history();
  expect(listed.body.history.map((row: Record<string, unknown>) => row.rule_set)).toEqual([rules('b'), rules('a')]);
  expect(JSON.stringify(listed.body)).not.toContain('node:delete');
  const [found] = (await history(`?hash=${rules('a').slice(0, 6)}`)).body.history;
  expect(found.files).toEqual([{ path: '/etc/policy.yaml', sha256: expect.any(String), rules: 1, text }]);
  expect((await history(`?hash=${found.digest}`)).body.history).toHaveLength(1);
});

test('only readers of the system read it, and a hash is a hash', async () => {
  expect((await history('', 'owner-admin')).status).toBe(403);
  expect((await history('?hash=%25')).status).toBe(400);
  expect((await history('?hash=ffff')).body.history).toEqual([]);
});

test('the texts can be neither changed nor removed', async () => {
  await expect(api.sql`update policy_texts set files = '[]'`).rejects.toThrow();
  await expect(api.sql`delete from policy_texts`).rejects.toThrow();
});

test('the command prints the text behind a hash', async () => {
  const env = { TEMPER_URL: api.url, TEMPER_TOKEN: 'none' };
  const answering = (async (url: string | URL | Request) => {
    const { pathname, search } = new URL(url instanceof Request ? url.url : url);
    const reply = await api.as('system-reader', 'GET', `${pathname}${search}`);
    return new Response(JSON.stringify(reply.body), {
      status: reply.status,
      headers: { 'Content-Type': 'application/json' },
    });
  }) as typeof fetch;
  const run = (line: string) => temper(line, { env, fetchWith: () => answering });
  const listed = await run('policy history');
  expect(listed.out).toMatch(/^RULES +SINCE +SET +MODE +FILES\n/);
  const shown = await run(`policy history ${rules('a')}`);
  expect(shown.out).toContain('\n"baremetal:node:delete": "!"\n');
  expect(shown.out).toContain('# /etc/policy.yaml, SHA-256');
  const missing = await run('policy history ffff');
  expect([missing.status, missing.err]).toEqual([1, expect.stringContaining('No policy of hash ffff')]);
});
