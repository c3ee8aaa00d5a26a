/** What a rollout needs of a person: a failed node is repaired and retried in one act that lists its steps, and the report has it all. */
import { startTestConsole, type TestConsole } from '../support/console';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { lessee } from '../support/world';

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
/** A rollout of two nodes and a budget of one, whose first node has failed; it is in maintenance, in this state. */
const failed = async (provision_state: string, work: object = {}) => {
  const name = `needs-${++made}`;
  const [node] = await world.nodes(['r1'], { name });
  const nodes = [node!, ...(await world.nodes(['r1'], { name: `${name}-other` }))];
  const rollout = await world.plan({ select: { nodes }, order: 'name', budget: { total: 1 }, name: `of ${name}`, ...work });
  await world.start(rollout, { reason: 'a CVE' });
  await world.api.sql`update rollout_targets set state = 'skipped', code = 'operator' where rollout = ${rollout.uuid} and node_uuid <> ${node!}`;
  await world.tend(rollout);
  await world.endRuns(rollout, 'failed');
  await world.api.sql`update rollout_targets set state = 'pending', code = null where rollout = ${rollout.uuid} and state = 'skipped'`;
  await world.tend(rollout);
  await world.api.sql`update nodes set provision_state = ${provision_state}, maintenance = true, maintenance_reason = 'a fault', reservation = null where uuid = ${node!}`;
  return { name, node: node!, id: rollout.uuid as string };
}; // biome-ignore format: one statement a row

const mendForm = (text: string) => {
  const [, action, inner] = /<form method="post" action="([^"]+\/mend)"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? [];
  const fields = [...(inner ?? '').matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]);
  return { action, fields: Object.fromEntries(fields) as Record<string, string> };
}; // biome-ignore format: short lines

const standing = async (id: string, node: string) => {
  const [row] = await world.api.sql`
    select n.maintenance, n.provision_state, r.state, t.retry_asked_at is not null as retried
    from rollout_targets t join nodes n on n.uuid = t.node_uuid join rollouts r on r.id = t.rollout where t.rollout = ${id} and t.node_uuid = ${node}`;
  return row;
};

test('a failed node is taken out of maintenance and retried, and the paused rollout resumed, in the listed order', async () => {
  const { name, node, id } = await failed('service failed');
  const browser = await pages.as('owner-admin');
  const { text } = await browser.get(`/rollouts/${id}`);
  expect(text).toContain('Needs you');
  expect(text).toContain('leave maintenance → retry → resume the rollout');
  const { action, fields } = mendForm(text);
  expect(action).toBe(`/rollouts/${id}/targets/0/mend`);
  const done = await browser.post(action!, { ...fields, reason: 'a cable' });
  expect(done.status).toBe(303);
  expect(await standing(id, node)).toEqual({
    maintenance: false,
    provision_state: 'service failed',
    state: 'running',
    retried: true,
  });
  const after = (await browser.get(done.to!)).text;
  expect(after).toContain('Maintenance has ended. Its work starts again');
  expect(after).toContain(`${name}: retry requested`);
  expect(after).not.toContain('/mend"');
});

test('an act that is refused in the middle names what was done before', async () => {
  const { node, id } = await failed('service failed');
  const browser = await pages.as('owner-admin');
  const { action, fields } = mendForm((await browser.get(`/rollouts/${id}`)).text);
  await world.api.sql`update rollouts set state = 'aborted', finished_at = now() where id = ${id}`;
  const { status, text } = await browser.post(action!, { ...fields, reason: 'a cable' });
  expect(status).toBe(409);
  expect(text).toContain('Maintenance has ended. Then the API refused “retry”: ');
  expect((await standing(id, node))!.maintenance).toBe(false);
});

test('a failed node of a rollout that has ended is offered no repair, on no page', async () => {
  const { id } = await failed('service failed');
  await world.api.sql`update rollouts set state = 'aborted', finished_at = now() where id = ${id}`;
  const browser = await pages.as('owner-admin');
  for (const page of [`/rollouts/${id}`, `/rollouts/${id}/targets/0`]) expect((await browser.get(page)).text).not.toContain('/mend"');
}); // biome-ignore format: short lines

test('failed nodes behind those that wait for their retry are counted', async () => {
  const nodes = await world.nodes(Array(7).fill('r1'));
  const rollout = await world.plan({ select: { nodes }, budget: { total: 7 } });
  await world.start(rollout, { reason: 'a CVE' });
  await world.api.sql`
    update rollout_targets set state = 'failed', ended_at = now(), retry_asked_at = case when position < 5 then now() + interval '1 second' end
    where rollout = ${rollout.uuid}`;
  const { text } = await (await pages.as('owner-admin')).get(`/rollouts/${rollout.uuid}`);
  expect(text).toContain('2 more failed');
}); // biome-ignore format: one statement a row

test('a step that the rules refuse is named before, and nothing is offered', async () => {
  const { node, id } = await failed('service failed');
  const browser = await pages.as('owner-member');
  const { text } = await browser.get(`/rollouts/${id}`);
  expect(mendForm(text).action).toBeUndefined();
  expect(text).toMatch(/You don’t have permission: (?:temper:rollout:retry|baremetal:node:clear_maintenance)/);
  const refused = await browser.post(`/rollouts/${id}/targets/0/mend`, {
    node,
    steps: 'maintenance,retry',
    reason: 'x',
  });
  expect(refused.status).toBe(403);
});

test.each<[string, Record<string, string>]>([
  ['no step', { steps: '' }],
  ['a step that there is not', { steps: 'destroy' }],
])('a form with %s does nothing', async (_, fields) => {
  const { node, id } = await failed('service failed');
  const browser = await pages.as('owner-admin');
  await browser.get(`/rollouts/${id}`);
  await browser.post(`/rollouts/${id}/targets/0/mend`, { node, reason: 'x', ...fields });
  expect(await standing(id, node)).toMatchObject({ maintenance: true, retried: false });
});

test('the report has who planned, started, opened and consented, and each node; the sheet has the same rows', async () => {
  const [own] = await world.nodes(['r1'], { name: 'report-own' });
  const [leased] = await world.nodes(['r1'], { name: 'report-leased', lessee });
  const rollout = await world.plan({ select: { nodes: [own, leased] }, order: 'name', name: 'reported' });
  await world.start(rollout, { reason: 'a CVE' });
  await world.posted('lessee-manager', `/temper/v1/rollouts/${rollout.uuid}/targets/${leased}/consent`, { now: true, reason: 'at night' });
  const browser = await pages.as('owner-reader');
  const { status, text } = await browser.get(`/rollouts/${rollout.uuid}/report`);
  expect(status).toBe(200);
  for (const shown of ['Report: reported', 'user-of-project-owner', 'a CVE', 'report-own', 'report-leased', 'Consent: now, by user-of-project-lessee']) expect(text).toContain(shown);
  const sheet = await browser.get(`/rollouts/${rollout.uuid}/report.csv`);
  expect(sheet.headers.get('content-disposition')).toContain('attachment');
  expect(sheet.text.trim().split('\r\n')).toHaveLength(3);
  expect(sheet.text).toContain('at night');
  const tenant = await pages.as('lessee-reader');
  expect((await tenant.get(`/rollouts/${rollout.uuid}/report`)).text).not.toContain('report-own');
  expect((await tenant.get(`/rollouts/${rollout.uuid}/report.csv`)).text).not.toContain('report-own');
  const stranger = await pages.as('stranger-admin');
  for (const address of ['report', 'report.csv']) expect((await stranger.get(`/rollouts/${rollout.uuid}/${address}`)).status).toBe(404);
}); // biome-ignore format: short lines

test('the person who started a rollout is named after another has adopted it', async () => {
  const nodes = await world.nodes(['r1']);
  const rollout = await world.plan({ select: { nodes } });
  await world.start(rollout, { reason: 'a CVE' });
  expect((await world.act(rollout, 'adopt', { reason: 'a shift has ended' }, 'operator')).status).toBe(200);
  const browser = await pages.as('operator');
  expect((await browser.get(`/rollouts/${rollout.uuid}/report`)).text).toMatch(/Started by<\/dt><dd[^>]*>user-of-project-owner/);
}); // biome-ignore format: short lines

test('a sheet of many pages has its heading once', async () => {
  const nodes = await world.nodes(Array(1_100).fill('r1'));
  const rollout = await world.plan({ select: { nodes } });
  const { text } = await (await pages.as('owner-reader')).get(`/rollouts/${rollout.uuid}/report.csv`);
  const lines = text.trim().split('\r\n');
  expect(lines).toHaveLength(1_101);
  expect(lines.filter((line) => line.startsWith('position,'))).toHaveLength(1);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
