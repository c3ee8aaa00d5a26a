/** The audit page, the timeline of a node and the rows as files: what they show to whom, and forms that keep what was typed. */
import { canonicalJson, sha256Of } from '../../src/model/digests';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { happened, runningRun } from '../support/happenings';
import { owner, type Persona, stranger } from '../support/world';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  await api.sql`insert into nodes (name, driver, owner, description) values ('bmc-14', 'fake-hardware', ${owner}, 'old words')`;
  const body = [{ op: 'add', path: '/description', value: 'new words' }];
  await api.as('owner-manager', 'PATCH', '/v1/nodes/bmc-14', { body });
  await api.as('operator', 'PUT', '/v1/nodes/bmc-14/maintenance', { body: { reason: 'a fan' } });
  await api.as('lessee-manager', 'PUT', '/v1/nodes/bmc-14/maintenance', { body: { reason: 'no' } });
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const get = async (who: Persona, address: string) => (await pages.as(who)).get(address);
const textOf = (html: string): string =>
  html.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '); // biome-ignore format: one line

test('a row says who with role and project, the act in words, the values before and after, the reason, the rule and the time in UTC', async () => {
  const { text } = await get('system-reader', '/audit?node=bmc-14');
  const shown = textOf(text);
  expect(shown).toMatch(/user-of-\S+ manager, project-owner Changed bmc-14/);
  expect(shown).toMatch(/description old words → new words/);
  expect(shown).toContain('Asked to set maintenance of bmc-14');
  expect(shown).toMatch(/Set maintenance of bmc-14 maintenance no → yes maintenance_reason nothing → a fan a fan/);
  expect(shown).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
  expect(text).toContain('href="/audit/rule?rule=baremetal%3Anode%3Aset_maintenance&amp;hash=');
});

test.each([
  ['node=bmc-99', 404, 'node', 'could not be found'],
  ['node=a%20b', 400, 'node', 'must be a UUID'],
  ['since=yesterday', 400, 'since', 'must be a day'],
  ['until=2026-13-01', 400, 'until', 'must be a day'],
])('%s is answered in its field, and the form keeps what was typed', async (query, status, name, says) => {
  const reply = await get('system-reader', `/audit?${query}&user=ana`);
  expect(reply.status).toBe(status);
  const field = new RegExp(
    `name="${name}"[^>]*aria-invalid="true"[^>]*/?><small class="fault" role="alert">[^<]*${says}`,
  );
  expect(reply.text).toMatch(field);
  expect(reply.text).toContain(`value="${new URLSearchParams(query).get(name)}"`);
  expect(reply.text).toContain('value="ana"');
});

test('days of the picker select rows to the end of the day', async () => {
  const today = new Date().toISOString().slice(0, 10);
  expect((await get('system-reader', `/audit?since=${today}&until=${today}&node=bmc-14`)).text).toContain('a fan');
  const before = await get('system-reader', '/audit?since=2026-01-01&until=2026-01-02&node=bmc-14');
  expect(before.text).toContain('No rows match.');
  expect(before.text).toContain('type="date"');
});

test('a tenant reads its part by the node’s name, and without one it is asked for it', async () => {
  const part = await get('owner-reader', '/audit?node=bmc-14');
  expect(part.status).toBe(200);
  expect(textOf(part.text)).toMatch(/Set or ended maintenance of bmc-14/);
  const whole = await get('owner-reader', '/audit');
  expect([whole.status, whole.text]).toEqual([403, expect.stringContaining('Name one of your nodes.')]);
  expect((await get('stranger-admin', '/audit?node=bmc-14')).status).toBe(404);
});

test('the timeline joins requests, the end of runs and events by time, with the digest of its rows', async () => {
  const seen = await runningRun(api, { state: 'failed', finished_at: new Date(), last_error: 'the feed was off' });
  const { node } = seen;
  await api.sql`update nodes set name = 'bmc-15' where uuid = ${node}`;
  await happened(api, { node, run: null }, 'node.power', { from: 'power on', to: 'power off' });
  await api.as('operator', 'PUT', '/v1/nodes/bmc-15/maintenance', { body: { reason: 'a story' } });
  const reply = await get('system-reader', '/audit/timeline?node=bmc-15');
  const shown = textOf(reply.text);
  expect(reply.status).toBe(200);
  for (const part of ['Set maintenance of bmc-15', 'a story', 'the feed was off', 'Power: power on → power off'])
    expect(shown).toContain(part);
  // The event of a change that has a row is left out.
  expect(shown).not.toContain('Maintenance set');
  const { body } = await api.as('system-reader', 'GET', `/temper/v1/audit?node=${node}&limit=500`);
  expect(shown).toContain(sha256Of(canonicalJson(body.audit)));
});

test.each<[Persona, string, number]>([
  ['system-reader', '/audit/timeline?node=bmc-99', 404],
  ['stranger-admin', '/audit/timeline?node=bmc-14', 404],
  ['owner-reader', '/audit/timeline', 200],
  ['system-reader', '/audit/timeline?node=bmc-14&since=soon', 400],
])('%s at %s gets the form with %i', async (who, address, status) => {
  const reply = await get(who, address);
  expect([reply.status, reply.text]).toEqual([status, expect.stringContaining('class="fault" role="alert"')]);
});

describe('files', () => {
  const file = async (who: Persona, address: string) => {
    const { status, text, headers } = await (await pages.as(who)).get(address);
    return { status, text, headers };
  };

  test('CSV and JSON have the rows of the selection, over several pages', async () => {
    await api.sql`
      insert into audit (requester, action, resource, resource_id, project)
      select '{"user_name": "many"}', 'node.update', 'x', n::text, 'p' from generate_series(1, 1203) n`;
    const csv = await file('system-reader', '/audit/rows.csv?user=many');
    const lines = csv.text.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^seq,at,user_id,/);
    expect(lines).toHaveLength(1_204);
    const json = JSON.parse((await file('system-reader', '/audit/rows.json?user=many')).text);
    expect(json.audit).toHaveLength(1_203);
    expect(new Set(json.audit.map(({ seq }: { seq: number }) => seq)).size).toBe(1_203);
    expect(JSON.parse((await file('system-reader', '/audit/rows.json?user=nobody')).text)).toEqual({ audit: [] });
  });

  test('a tenant gets its part, and nothing of others', async () => {
    const { status, text } = await file('owner-reader', '/audit/rows.csv?node=bmc-14');
    expect([status, text]).toEqual([200, expect.stringContaining('a fan')]);
    expect((await file('owner-reader', '/audit/rows.csv')).status).toBe(403);
    expect((await file('stranger-admin', '/audit/rows.json?node=bmc-14')).status).toBe(404);
  });
});

test('a rule shows its text at that time to readers of the system alone', async () => {
  const [{ rule_set }] = (await api.as('system-reader', 'GET', '/temper/v1/audit?node=bmc-14')).body.audit;
  const address = `/audit/rule?rule=baremetal%3Anode%3Aset_maintenance&hash=${rule_set}`;
  const { text } = await get('system-reader', address);
  expect(text).toContain('The same policy is in force.');
  expect(text).toContain('role:member');
  expect((await get('owner-reader', address)).text).toContain('You don’t have access to it.');
});

test('text that others wrote does not become markup', async () => {
  const hostile = `<img src=x onerror=alert(1)>`;
  await api.sql`insert into nodes (name, driver, owner, lessee) values ('bmc-16', 'fake-hardware', ${owner}, ${stranger})`;
  const body = [{ op: 'add', path: '/extra/x', value: hostile }, { op: 'add', path: '/description', value: hostile }]; // biome-ignore format: one row
  await api.as('operator', 'PATCH', '/v1/nodes/bmc-16', { body });
  for (const address of [
    '/audit?node=bmc-16',
    '/audit/timeline?node=bmc-16',
    '/nodes/bmc-16/audit',
    `/audit/rule?rule=${encodeURIComponent(hostile)}`,
  ])
    expect((await get('system-reader', address)).text).not.toContain('<img');
});
