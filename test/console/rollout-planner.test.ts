/** The planner of rollouts: four steps, presets, a preview that changes nothing, refusals in their fields, and what follows the plan. */
import { startTestConsole, type TestConsole } from '../support/console';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { lessee, type Persona } from '../support/world';

let world: RolloutWorld;
let pages: TestConsole;
beforeAll(async () => {
  world = await startRestartWorld();
  pages = await startTestConsole(world.api.url);
});
afterAll(async () => {
  await pages?.close();
  await world?.close();
});

let made = 0;
const named = async (many: number, values: object = {}): Promise<string[]> => {
  const names = Array.from({ length: many }, () => `plan-${++made}`);
  for (const name of names) await world.nodes(['r1'], { name, ...values });
  return names;
};

const form = (nodes: readonly string[], more: Record<string, string> = {}) => ({
  work: 'runbook:CUSTOM_RESTART', verb: 'service', nodes: nodes.join('\r\n'), pace: 'steady', begin: 'plan', ...more,
}); // biome-ignore format: one row

const specOf = async (to: string | null) => {
  const [row] = await world.api.sql<{ spec: never; state: string }[]>`select spec, state from rollouts where id = ${/[0-9a-f-]{36}/.exec(to!)![0]}`;
  return row as { spec: Record<string, unknown>; state: string };
}; // biome-ignore format: one query

test('the form opens with work and numbers that make a plan', async () => {
  const browser = await pages.as('owner-manager');
  const [node] = await named(1);
  const { text } = await browser.get(`/rollouts/new?node=${node}`);
  expect(text).toContain('<option value="runbook:CUSTOM_RESTART" selected>');
  expect(text).toMatch(/name="pace" value="steady" checked/);
  for (const step of ['1 · What', '2 · Which', '3 · How careful', '4 · When and whom to ask']) expect(text).toContain(step);
  const done = await browser.post('/rollouts/new', form([node!]));
  expect(done.status).toBe(303);
  expect((await browser.get(done.to!)).text).toContain('Planned for 1 node. Nothing has started.');
}); // biome-ignore format: short lines

test.each([
  ['careful', { budget: { total: 1 }, max_in_flight: 1 }],
  ['steady', { budget: { total: '5%' }, max_in_flight: '5%' }],
  ['fast', { budget: { mode: 'stop', total: '10%' }, max_in_flight: '20%' }],
])('the preset %s sets waves, failures and nodes at once, whatever the hidden fields hold', async (pace, spec) => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const done = await browser.post('/rollouts/new', form(await named(2), { pace, budget: '99', at_once: '99', first: '2' }));
  expect((await specOf(done.to)).spec).toMatchObject({ ...spec, waves: [{ size: 1 }, { size: 'rest' }] });
}); // biome-ignore format: short lines

test('own numbers are taken as typed, failures apart from nodes at once', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const own = { pace: 'own', first: '2', soak: '5m', advance: 'auto', budget: '2', mode: 'stop', at_once: '8', by: 'properties.rack', by_most: '3', grace: '6h' };
  const done = await browser.post('/rollouts/new', form(await named(3), own));
  expect((await specOf(done.to)).spec).toMatchObject({
    waves: [{ size: 2, soak_ms: 300_000, advance: 'auto' }, { size: 'rest' }], budget: { mode: 'stop', total: 2 }, max_in_flight: 8,
    spread: [{ by: 'properties.rack', max: 3 }], consent: { grace_ms: 6 * 3_600_000 },
  });
}); // biome-ignore format: short lines

test('a preview counts, names who is left out and why, and says what a strict limit does to nodes at once', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const nodes = [...(await named(3)), ...(await named(1, { maintenance: true })), ...(await named(1, { lessee }))];
  const before = await world.api.sql`select count(*)::int as many from rollouts`;
  const own = { pace: 'own', first: '1', budget: '2', mode: 'strict', at_once: '8', advance: 'manual' };
  const { status, text } = await browser.post('/rollouts/new/preview', form(nodes, own), { 'hx-request': 'true' });
  expect(status).toBe(200);
  expect(text).toContain('4 of 5 nodes would run.');
  expect(text).toContain('1 left out');
  expect(text).toContain('“Failures at most” allows 2 at once, not 8');
  expect(text).toMatch(/Tenants asked for<\/dt><dd>1 node/);
  expect(text).toContain('name="at_once" value="8"');
  expect(await world.api.sql`select count(*)::int as many from rollouts`).toEqual(before);
}); // biome-ignore format: short lines

test.each<[string, Record<string, string>, RegExp]>([
  ['no nodes', { nodes: '' }, /name="nodes"[^>]*><\/textarea><small class="fault" role="alert">Name nodes/],
  ['a node that is not there', { nodes: 'no-such' }, /no-such<\/textarea><small class="fault" role="alert">Node no-such could not be found/],
  ['a budget that is no amount', { pace: 'own', first: '1', budget: 'two' }, /value="two"[^>]*><small class="fault" role="alert">must be a whole number/],
  ['a soak that is no duration', { pace: 'own', first: '1', budget: '1', soak: 'long' }, /value="long"[^>]*><small class="fault" role="alert">must be a duration/],
  ['nodes at once that are no amount', { pace: 'own', first: '1', budget: '1', at_once: '0' }, /value="0"[^>]*><small class="fault" role="alert">must be a whole number/],
  ['a filter without a value', { query: 'resource_class' }, /resource_class<\/textarea><small class="fault" role="alert">Give each line as name=value/],
  ['a parameter without a value', { parameters: 'force' }, /force<\/textarea><small class="fault" role="alert">Give each line as name=value/],
  ['a start without a reason', { begin: 'now' }, /name="reason"[^>]*><small class="fault" role="alert">Say why/],
  ['a start at no time', { begin: 'at', reason: 'x' }, /name="start_at"[^>]*><small class="fault" role="alert">Give a time/],
])('%s is refused in its field, and the rest is kept', async (_, more, shown) => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const { status, text } = await browser.post('/rollouts/new', { ...form(await named(1)), name: 'my rollout', advance: 'manual', mode: 'strict', ...more });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toMatch(shown);
  expect(text).toContain('name="name" value="my rollout"');
  expect(text).toContain('not planned'.replace('not', 'Not'));
}); // biome-ignore format: one case a row

test('a plan starts at once, at a time, or is submitted, if that was chosen', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const begun = async (more: Record<string, string>) => browser.post('/rollouts/new', form(await named(1), { reason: 'a CVE', ...more }));
  const now = await begun({ begin: 'now' });
  expect((await specOf(now.to)).state).toBe('running');
  expect((await browser.get(now.to!)).text).toContain('Planned and started for 1 node.');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  const later = await begun({ begin: 'at', start_at: tomorrow });
  expect((await specOf(later.to)).state).toBe('scheduled');
  expect((await browser.get(later.to!)).text).toContain(`Planned for 1 node; it starts at ${tomorrow.replace('T', ' ')} UTC.`);
  expect((await specOf((await begun({ begin: 'submit' })).to)).state).toBe('awaiting_approval');
  const past = await begun({ begin: 'at', start_at: '2020-01-01T10:00' });
  expect((await specOf(past.to)).state).toBe('planned');
  expect((await browser.get(past.to!)).text).toContain('but not started: ');
}); // biome-ignore format: short lines

test('a member plans and may not start: the plan is made, and the page says that it has not started', async () => {
  const browser = await pages.as('owner-member');
  await browser.get('/rollouts/new');
  const done = await browser.post('/rollouts/new', form(await named(1), { begin: 'now', reason: 'x' }));
  expect((await specOf(done.to)).state).toBe('planned');
  expect((await browser.get(done.to!)).text).toContain('but not started: ');
});

test.each<Persona>(['owner-reader', 'lessee-reader', 'system-reader'])('%s is refused a plan and a preview', async (who) => {
  const browser = await pages.as(who);
  await browser.get('/rollouts/new');
  const nodes = await named(1, { lessee });
  expect((await browser.post('/rollouts/new', form(nodes))).status).toBe(403);
  expect((await browser.post('/rollouts/new/preview', form(nodes))).text).toContain('temper:rollout:plan');
}); // biome-ignore format: short lines

test('the skipped nodes of a rollout become the draft of another one', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/rollouts/new');
  const nodes = await named(3);
  const done = await browser.post('/rollouts/new', form(nodes, { name: 'fw', begin: 'now', reason: 'x' }));
  const id = /[0-9a-f-]{36}/.exec(done.to!)![0];
  await world.api.sql`update rollout_targets set state = 'skipped', code = 'state', ended_at = now() where rollout = ${id} and node_name = any (${nodes.slice(1)})`;
  const page = (await browser.get(`/rollouts/${id}`)).text;
  expect(page).toContain(`href="/rollouts/new?from=${id}&amp;state=skipped"`);
  expect(page).toContain('Plan a rollout for the 2');
  const { text } = await browser.get(`/rollouts/new?from=${id}&state=skipped`);
  const [, listed] = /<textarea name="nodes">([^<]*)</.exec(text)!;
  expect(listed!.split('\n').sort()).toEqual(nodes.slice(1).sort());
  expect(text).toContain('name="name" value="fw, skipped nodes"');
  expect((await (await pages.as('stranger-admin')).get(`/rollouts/new?from=${id}`)).status).toBe(404);
}); // biome-ignore format: short lines

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
