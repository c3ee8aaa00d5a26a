/** The pages of rollouts: what they show to whom, why a node has not begun, and what their forms cause. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { runningRun } from '../support/happenings';
import { rolloutOf } from '../support/rule-world';
import type { Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let node: string;
const hostile = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  ({ node } = await runningRun(api, { state: 'succeeded', finished_at: new Date(), node_name: 'rack-1' }));
  await api.sql`update nodes set name = 'rack-1', reservation = null where uuid = ${node}`;
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});
beforeEach(() => api.sql`delete from rollouts`);

/** A rollout in this state whose first wave holds the node, with a budget of two. */
const made = async (state: string, change: object = {}): Promise<string> => {
  const id = await rolloutOf(api, node, state);
  await api.sql`
    insert into rollout_counters (rollout, number, scope, value, budget) values (${id}, 1, 'total', '', 2)`;
  await api.sql`
    update rollout_targets set state = 'pending', node_name = 'rack-1', owner = 'project-owner', lessee = 'project-lessee' where rollout = ${id}`;
  if (Object.keys(change).length > 0)
    await api.sql`update rollout_targets set ${api.sql(change as never)} where rollout = ${id}`;
  return id;
};

const stateOf = async (id: string): Promise<string> =>
  (await api.as('operator', 'GET', `/temper/v1/rollouts/${id}`)).body.state;

test('a rollout is shown with its reason, its waves, its budget and why a node has not begun', async () => {
  const id = await made('paused');
  await api.sql`update rollouts set reason = 'Wave 1 is over. Open wave 2 to continue.' where id = ${id}`;
  await api.sql`update rollout_counters set failed = 1 where rollout = ${id}`;
  const browser = await pages.as('owner-manager');
  expect((await browser.get('/rollouts')).text).toContain(`href="/rollouts/${id}"`);
  const { status, text } = await browser.get(`/rollouts/${id}`);
  expect(status).toBe(200);
  expect(text).toContain('wave_gate: Wave 1 is over. Open wave 2 to continue.');
  expect(text).toContain('0 of 1 node ended');
  expect(text).toContain('A person opens wave 2.');
  expect(text).toMatch(/Why not faster\?<\/b><ul[^>]*><li>Wave 1 is over/);
  expect(text).not.toContain('<dd></dd>');
  expect(text).toContain('The rollout is paused: Wave 1 is over');
  expect(text).toContain('hx-trigger="sse:change"');
});

test('what a gate has answered is shown, and it is passed there', async () => {
  const id = await made('paused');
  const gate = {
    answer: 'fail',
    note: hostile,
    at: '2026-11-22T10:00:00Z',
    since: '2026-11-22T10:00:00Z',
    until: null,
  };
  await api.sql`update rollouts set code = 'gate_failed' where id = ${id}`;
  await api.sql`update rollout_waves set gate = ${api.sql.json(gate)} where rollout = ${id} and wave = 0`;
  const browser = await pages.as('owner-manager');
  const { text } = await browser.get(`/rollouts/${id}`);
  expect(text).toContain('Gate: fail; &lt;img src=x');
  expect(text).toContain(`action="/rollouts/${id}/advance"`);
  const done = await browser.post(`/rollouts/${id}/advance`, { reason: 'a false alarm', wave: '1' });
  expect(done.status).toBe(303);
  expect((await browser.get(`/rollouts/${id}`)).text).toContain('a false alarm');
});

test('a stranger sees no rollout, a tenant its own node and nothing of the others', async () => {
  const id = await made('running');
  const stranger = await pages.as('stranger-admin');
  expect((await stranger.get('/rollouts')).text).not.toContain(id);
  for (const address of [`/rollouts/${id}`, `/rollouts/${id}/targets/0`])
    expect((await stranger.get(address)).status).toBe(404);
  const { text } = await (await pages.as('lessee-reader')).get(`/rollouts/${id}`);
  expect(text).toContain('rack-1');
  for (const hidden of ['project-owner', 'Budget', 'Waves', `/rollouts/${id}/pause`])
    expect(text).not.toContain(hidden);
  expect((await (await pages.as('lessee-reader')).get(`/rollouts/${id}/targets/1`)).status).toBe(404);
});

const uuids = (text: string): string[] => [
  ...new Set(text.match(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g)),
];

test.each<Persona>([
  'operator',
  'owner-manager',
  'owner-member',
  'lessee-member',
  'lessee-manager',
  'system-reader',
  'stranger-admin',
])(
  // biome-ignore format: one row of names
  'no page of rollouts says more to %s than the API does',
  async (who) => {
    const id = await made('running', { state: 'asked', not_before: new Date(Date.now() + 3_600_000) });
    const browser = await pages.as(who);
    const paths = ['/v1/nodes/detail', '/temper/v1/runs?state=any', '/temper/v1/rollouts', `/temper/v1/rollouts/${id}`, `/temper/v1/rollouts/${id}/targets`, '/temper/v1/windows']; // biome-ignore format: one list
    const said = (await Promise.all(paths.map((path) => api.as(who, 'GET', path)))).map(({ text }) => text).join('\n');
    for (const address of ['/inbox', '/rollouts', `/rollouts/${id}`, `/rollouts/${id}/targets/0`]) {
      const { text } = await browser.get(address);
      const shown = uuids(text.replaceAll(/name="key" value="[^"]*"/g, ''));
      expect({ address, more: shown.filter((one) => !said.includes(one) && !address.includes(one)) }).toEqual({ address, more: [] }); // biome-ignore format: one question
      for (const project of ['project-owner', 'project-lessee'])
        if (text.includes(project)) expect(said).toContain(project);
    }
  },
);

test('no text that others wrote becomes markup', async () => {
  const id = await made('paused', { state: 'skipped', reason: hostile, code: 'operator', node_name: hostile });
  await api.sql`update rollouts set name = ${hostile}, reason = ${hostile}, runbook_uuid = ${node}, runbook_name = ${hostile}, runbook_revision = 1 where id = ${id}`;
  const browser = await pages.as('operator');
  for (const address of ['/inbox', '/rollouts', `/rollouts/${id}`, `/rollouts/${id}/targets/0`]) {
    const { status, text } = await browser.get(address);
    expect({ address, status }).toEqual({ address, status: 200 });
    expect(text).not.toMatch(/<img|<script>/);
    expect(text).toContain('&lt;img src=x');
  }
});

test('the inbox has a rollout that waits with its decision, and the next wave is opened from it', async () => {
  const id = await made('paused');
  const browser = await pages.as('owner-manager');
  const { text } = await browser.get('/inbox');
  expect(text).toContain('Needs a decision <span class="muted">1</span>');
  expect(text).toContain(`action="/rollouts/${id}/advance"`);
  expect(text).not.toContain(`action="/rollouts/${id}/resume"`);
  const stale = await browser.post(`/rollouts/${id}/advance`, { reason: 'all well', wave: '2' });
  expect(stale.status).toBe(409);
  const done = await browser.post(`/rollouts/${id}/advance`, { reason: 'all well', wave: '1' });
  expect(done).toMatchObject({ status: 303, to: expect.stringContaining(`/rollouts/${id}?will=`) });
  const shown = (await browser.get(done.to!)).text;
  expect(shown).toContain('The rollout is running, in wave 2.');
  expect(shown).toContain('by user-of-project-owner “all well”');
  expect((await browser.get(`/rollouts/${id}?will=Aborted`)).text).not.toContain('role="status"');
  expect(await stateOf(id)).toBe('running');
});

test('a plan is approved by another user with its hash, and refused where it is another plan', async () => {
  const id = await made('awaiting_approval');
  const browser = await pages.as('operator');
  const { text } = await browser.get(`/rollouts/${id}`);
  expect(text).toContain(`action="/rollouts/${id}/approve"`);
  const [, plan_hash = ''] = /name="plan_hash" value="([0-9a-f]{64})"/.exec(text) ?? [];
  expect((await browser.post(`/rollouts/${id}/approve`, { reason: 'read it', plan_hash: 'f'.repeat(64) })).status).toBe(
    409,
  );
  expect((await browser.post(`/rollouts/${id}/approve`, { reason: 'read it', plan_hash })).status).toBe(303);
  expect(await stateOf(id)).toBe('scheduled');
});

test('an act that the rules refuse is off and says by which rule; the API refuses its form too', async () => {
  const id = await made('running');
  const browser = await pages.as('owner-member');
  const { text } = await browser.get(`/rollouts/${id}`);
  expect(text).toContain('You don’t have permission: temper:rollout:pause.');
  expect(text).not.toContain(`action="/rollouts/${id}/pause"`);
  const refused = await browser.post(`/rollouts/${id}/pause`, { reason: 'x' });
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('temper:rollout:pause');
});

test('an open page shows a pause and of a vote, which are events of no node', async () => {
  const id = await made('running');
  const { cookie } = await pages.as('owner-manager');
  const leaving = new AbortController();
  const reply = await fetch(`${pages.url}/live`, { headers: { cookie }, signal: leaving.signal });
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (what: string): Promise<void> => {
    while (!text.includes(what)) text += (await reader.read()).value ?? '';
    text = '';
  };
  await until('retry:');
  const body = { reason: 'the cable' };
  expect((await api.as('owner-manager', 'POST', `/temper/v1/rollouts/${id}/pause`, { body })).status).toBe(200);
  await until('event: change');
  const other = await made('awaiting_approval');
  const vote = { reason: 'read it', plan_hash: '0'.repeat(64) };
  expect((await api.as('operator', 'POST', `/temper/v1/rollouts/${other}/approve`, { body: vote })).status).toBe(200);
  await until('event: change');
  leaving.abort();
});

test('an abort asks what becomes of what runs', async () => {
  const id = await made('running');
  const browser = await pages.as('owner-manager');
  expect((await browser.get(`/rollouts/${id}`)).text).toContain('<select name="running">');
  expect((await browser.post(`/rollouts/${id}/abort`, { reason: 'wrong image', running: 'abort' })).status).toBe(303);
  const { body } = await api.as('owner-manager', 'GET', `/temper/v1/rollouts/${id}`);
  expect(body).toMatchObject({ state: 'aborted', ending: 'abort', reason: 'wrong image' });
});

test('nodes of a rollout are cells, in a row for each domain that the plan is bound by', async () => {
  const id = await made('running', { state: 'failed', counters: [1, 2] });
  await api.sql`
    insert into rollout_counters (rollout, number, scope, value, most) values (${id}, 2, 'properties.rack', 'row-seven', 1)`;
  const browser = await pages.as('owner-manager');
  const cell = new RegExp(
    `<dt>properties.rack row-seven</dt><dd><a href="/rollouts/${id}/targets/0" class="cell bad" title="rack-1: failed"><span aria-hidden="true">▲<small>1</small></span><span class="hidden">rack-1: failed</span></a></dd>`,
  );
  expect((await browser.get(`/rollouts/${id}`)).text).toMatch(cell);
  expect((await browser.get(`/rollouts/${id}?by=wave`)).text).toContain('<dt>wave 1</dt>');
  // By what other nodes are bound together is not the tenants' to know.
  expect((await (await pages.as('lessee-reader')).get(`/rollouts/${id}`)).text).not.toContain('row-seven');
  const { body } = await api.as('lessee-reader', 'GET', `/temper/v1/rollouts/${id}/targets`);
  expect(body.targets[0]).not.toHaveProperty('domains');
});

test('chosen nodes become the plan of a rollout, by plain forms', async () => {
  const browser = await pages.as('owner-manager');
  const list = (await browser.get('/nodes?owner=project-owner')).text;
  expect(list).toMatch(
    /<input type="checkbox" id="choose-[^"]+" autocomplete="off" form="choose" name="node" value="rack-1"/,
  );
  expect(list).toMatch(/<form id="choose" method="get" action="\/rollouts\/new"/);
  expect(list).toContain('href="/rollouts/new?owner=project-owner"');
  const all = (await browser.get('/rollouts/new?owner=project-owner')).text;
  expect(all).toContain('>owner=project-owner</textarea>');
  const form = (await browser.get('/rollouts/new?node=rack-1&owner=project-owner')).text;
  expect(form).toContain('<textarea name="nodes">rack-1</textarea>');
  const given = {
    nodes: 'rack-1',
    work: 'verb:inspect',
    pace: 'own',
    first: '1',
    advance: 'manual',
    budget: 'many',
    mode: 'strict',
  };
  const wrong = await browser.post('/rollouts/new', given);
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('role="alert"');
  expect(wrong.text).toMatch(
    /name="budget" value="many"[^>]*><small class="fault" role="alert">must be a whole number/,
  );
  await api.sql`
    insert into nodes (name, driver, provision_state, owner) values ('to-inspect', 'fake-hardware', 'manageable', 'project-owner')`;
  await api.sql`insert into workers (hostname, drivers, role) values ('a-worker', '{fake-hardware}', 'bmc')`;
  const made = await browser.post('/rollouts/new', { ...given, nodes: 'rack-1\r\nto-inspect', budget: '1' });
  expect(made).toMatchObject({ status: 303, to: expect.stringMatching(/^\/rollouts\/[0-9a-f-]{36}\?will=/) });
  const { text } = await browser.get(made.to!);
  expect(text).toContain('Planned for 1 node. Nothing has started.');
  expect(text).toContain('Not in the plan: 1');
  expect(await stateOf(/[0-9a-f-]{36}/.exec(made.to!)![0])).toBe('planned');
});

const asked = () => made('running', { state: 'asked', not_before: new Date(Date.now() + 3_600_000) });

test('a tenant finds what it is asked on its start page, and consents', async () => {
  const id = await asked();
  const browser = await pages.as('lessee-manager');
  expect((await browser.get('/inbox')).text).toContain(`href="/rollouts/${id}/targets/0"`);
  const { text } = await browser.get(`/rollouts/${id}/targets/0`);
  expect(text).toContain('The project that uses the node is asked first');
  expect(text).toContain(`action="/rollouts/${id}/targets/0/consent"`);
  const form = { node, reason: 'tonight is fine' };
  expect(text).toMatch(/<h2>[^<]+ asks to work on rack-1<\/h2>/);
  const past = await browser.post(`/rollouts/${id}/targets/0/consent`, { ...form, at: '2020-01-01T10:00' });
  expect(past.status).toBe(400);
  expect(past.text).toMatch(
    /type="datetime-local"[^>]*value="2020-01-01T10:00"|value="2020-01-01T10:00"[^>]*type="datetime-local"/,
  );
  expect(past.text).toContain('Not recorded: is over already; say now');
  expect(past.text).toContain('name="reason" value="tonight is fine"');
  expect((await browser.post(`/rollouts/${id}/targets/0/consent`, { ...form, at: '' })).status).toBe(400);
  const done = await browser.post(`/rollouts/${id}/targets/0/consent`, form);
  expect(done).toMatchObject({ status: 303, to: expect.stringContaining(`/rollouts/${id}/targets/0?will=`) });
  const after = (await browser.get(done.to!)).text;
  expect(after).toContain('You have consented: the rollout works on the node as soon as its turn comes.');
  expect(after).toContain('Consent: now');
  expect(after).not.toContain('is asked when its turn comes');
  expect((await browser.get('/inbox')).text).not.toContain(`/rollouts/${id}/targets/0`);
  const [answer] = await api.sql`select answer, reason from rollout_answers where rollout = ${id}`;
  expect(answer).toEqual({ answer: 'now', reason: 'tonight is fine' });
});

test('a tenant refuses; whom the rule does not admit is not offered it', async () => {
  const id = await asked();
  const member = await pages.as('lessee-member');
  expect((await member.get('/inbox')).text).not.toContain(`/rollouts/${id}/targets/0`);
  expect((await member.get(`/rollouts/${id}/targets/0`)).text).toContain(
    'You don’t have permission: temper:rollout:answer.',
  );
  const browser = await pages.as('lessee-manager');
  await browser.get(`/rollouts/${id}/targets/0`);
  expect((await browser.post(`/rollouts/${id}/targets/0/refuse`, { node, reason: 'not in May' })).status).toBe(303);
  expect((await browser.get(`/rollouts/${id}/targets/0`)).text).toContain('not in May');
});

test('the rollout’s people pass over a node, and have a failed one tried again', async () => {
  const browser = await pages.as('owner-manager');
  const first = await made('running');
  await browser.get(`/rollouts/${first}/targets/0`);
  expect((await browser.post(`/rollouts/${first}/targets/0/skip`, { node, reason: 'it is old' })).status).toBe(303);
  expect((await browser.get(`/rollouts/${first}/targets/0`)).text).toContain('it is old');
  const second = await made('paused', { state: 'failed', ended_at: new Date() });
  expect((await browser.get(`/rollouts/${second}/targets/0`)).text).toContain(
    `action="/rollouts/${second}/targets/0/retry"`,
  );
  expect((await browser.post(`/rollouts/${second}/targets/0/retry`, { node, reason: 'new cable' })).status).toBe(303);
});

test('what a runbook would do on a node is shown before it runs, and nothing is touched', async () => {
  const browser = await pages.as('owner-manager');
  const steps = [{ interface: 'power', step: 'reboot', order: 1, args: {} }];
  await api.as('owner-manager', 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_PREVIEW', steps } });
  await browser.get('/nodes/rack-1');
  const form = { what: 'runbook', verb: 'service', runbook: 'CUSTOM_PREVIEW', preview: 'yes' };
  const { status, to } = await browser.post('/nodes/rack-1/acts', form);
  expect({ status, to }).toEqual({ status: 303, to: '/nodes/rack-1/plan?runbook=CUSTOM_PREVIEW&verb=service' });
  const { text } = await browser.get(to!);
  expect(text).toContain('Nothing was changed.');
  expect(text).toContain('power.reboot');
  const refused = (await (await pages.as('lessee-reader')).get(to!)).text;
  expect(refused).not.toContain('name="runbook"');
  expect((await (await pages.as('stranger-admin')).get(to!)).status).toBe(404);
  expect((await api.as('operator', 'GET', '/temper/v1/runs?node=rack-1&state=open')).body.runs).toEqual([]);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
