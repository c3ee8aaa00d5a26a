/** A node's page: its sentence, the act that leads on, its activity, and what callers with fewer rights see. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld } from '../support/console-world';
import { happened, runningRun, type SeenRun } from '../support/happenings';
import { lessee, type Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

/** A node without an open run. */
const idleNode = async (name: string, columns: Readonly<Record<string, unknown>>): Promise<SeenRun> => {
  const seen = await runningRun(api, { state: 'succeeded', finished_at: new Date(), node_name: name });
  await api.sql`update nodes set ${api.sql({ name, driver: 'redfish', ...columns } as never)} where uuid = ${seen.node}`;
  return seen;
};

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  await addWorker(api.sql);
  world = await consoleWorld(api);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const pageAs = async (who: Persona, address: string): Promise<string> => {
  const { status, text } = await (await pages.as(who)).get(address);
  expect({ address, status }).toEqual({ address, status: 200 });
  return text;
};

/** Text of a page without its tags and menus. */
const saidIn = (html: string): string =>
  html
    .replaceAll(/<div id="[^"]*" (?:class="[^"]*" )?popover[\s\S]*?<\/div><\/form><\/div>|<ul class="items"[\s\S]*?<\/ul>/g, '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"'); // biome-ignore format: short lines

const sentenceIn = (html: string): string => saidIn(/<div class="sentence">([\s\S]*?)<\/div>/.exec(html)![1]!);
const primaryIn = (html: string): string | undefined =>
  /<(?:button|a)[^>]* class="(?:button )?primary"[^>]*>([^<]+)/.exec(/<div class="acts">([\s\S]*)/.exec(html)![1]!.split('popover="auto"')[0]!)?.[1]; // biome-ignore format: one line

test('one sentence says what is wrong, since when and by whom, and one button leads on', async () => {
  const parked = await pageAs('owner-manager', '/nodes/rack-1');
  expect(sentenceIn(parked)).toMatch(
    /^Runbook CUSTOM_RESTART \(service\), started 12 min ago by asker, needs a decision: power\.reboot failed \(attempt 5\)/,
  );
  expect(primaryIn(parked)).toBe('Retry step');
  const failed = await pageAs('operator', '/nodes/rack-3');
  expect(sentenceIn(failed)).toMatch(/^Run service failed 2 min ago: The BMC of node rack-3 refused the credentials on record\./);
  expect(sentenceIn(failed)).toContain('In maintenance by Temper (service failure): the service run failed');
  expect(primaryIn(failed)).toBe('Leave maintenance and retry');
  const free = await pageAs('operator', '/nodes/rack-4');
  expect(sentenceIn(free)).toMatch(/^Free for use/);
}); // biome-ignore format: short lines

test.each([
  ['enroll', {}, 'Manage'],
  ['manageable', {}, 'Make available'],
  ['clean failed', {}, 'Manage'],
  ['clean failed', { maintenance: true }, 'Leave maintenance and manage'],
  ['active', { maintenance: true }, 'Leave maintenance'],
  ['rescue', {}, 'End rescue'],
  ['error', {}, 'Tear down'],
  ['active', {}, undefined],
])('in state %s with %j the primary act is %s', async (provision_state, columns, primary) => {
  const name = `lead-${provision_state.replaceAll(' ', '-')}-${Object.keys(columns).length}`;
  await idleNode(name, { provision_state, ...columns });
  expect(primaryIn(await pageAs('operator', `/nodes/${name}`))).toBe(primary);
  // A reader may do none of it, and is told by which rule.
  const reader = await pageAs('system-reader', `/nodes/${name}`);
  expect(primaryIn(reader)).toBeUndefined();
  expect(reader).toContain('You don’t have permission: baremetal:node:set_provision_state');
});

test('a hold is released by the primary button', async () => {
  const { node, run } = await runningRun(api, { state: 'waiting', cursor: 0 });
  await api.sql`update nodes set name = 'on-hold', provision_state = 'service hold', reservation = ${run} where uuid = ${node}`;
  const html = await pageAs('operator', '/nodes/on-hold');
  expect(sentenceIn(html)).toContain('Release the hold to continue.');
  expect(primaryIn(html)).toBe('Release hold');
});

test('what is not possible is in the menu, greyed, with its verb and its reason', async () => {
  const html = await pageAs('operator', '/nodes/rack-4');
  expect(html).toMatch(/<li class="off"><span>Tear down <small>undeploy<\/small><\/span><p>Not possible while the node is available\./);
  expect(html).not.toContain('value="undeploy"');
}); // biome-ignore format: short lines

test('one form ends maintenance and asks for what follows, and is refused like its parts', async () => {
  const { node } = await idleNode('mended', { provision_state: 'clean failed', maintenance: true });
  const fields = { what: 'mend', verb: 'manage' };
  const member = await pages.as('lessee-member');
  expect((await member.get('/nodes/mended')).text).not.toContain('value="mend"');
  expect((await member.post('/nodes/mended/acts', fields)).status).toBe(403);
  const of = async () => (await api.sql`select maintenance, provision_state from nodes where uuid = ${node}`)[0];
  expect(await of()).toMatchObject({ maintenance: true });
  const browser = await pages.as('operator');
  expect((await browser.get('/nodes/mended')).text).toContain('value="mend"');
  expect((await browser.post('/nodes/mended/acts', fields)).status).toBe(303);
  expect(await of()).toMatchObject({ maintenance: false });
  // The move of such a node needs no run.
  expect(JSON.stringify(api.runs.moved.at(-1))).toContain(node);
});

test('an act says what it did, and only its own session is told', async () => {
  await idleNode('told', { provision_state: 'active' });
  const browser = await pages.as('operator');
  const { to } = await browser.post('/nodes/told/acts', { what: 'maintenance-on', reason: 'a fan' });
  expect((await browser.get(to!)).text).toContain('role="status" class="notice good">The node is in maintenance now.');
  expect((await (await pages.as('operator')).get(to!)).text).not.toContain('role="status"');
});

test('the activity has each run once, with its steps, and every other event in words, by day', async () => {
  const of = { node: world.parked.node, run: null };
  const yesterday = new Date(Date.now() - 86_400_000);
  await happened(api, of, 'node.maintenance.set', { maintenance_reason: 'no answer', by: 'power sync' }, yesterday);
  await happened(api, of, 'node.maintenance.cleared', { by: 'power sync' }, yesterday);
  await happened(api, of, 'node.power', { from: 'power on', to: 'power off', by: 'power sync' });
  const html = await pageAs('operator', '/nodes/rack-1');
  expect(html.match(new RegExp(`id="activity-${world.parked.run}"`, 'g'))).toHaveLength(1);
  expect(html).toMatch(/parked<\/span> <b>power\.reboot<\/b> <span class="muted">4 attempts/);
  for (const words of ['Power: power on → power off (power sync)', 'Maintenance set by power sync: no answer', 'Maintenance ended by power sync'])
    expect(saidIn(html)).toContain(words);
  expect(html.match(/<section class="day"/g)!.length).toBeGreaterThan(1);
  expect(saidIn(html)).not.toMatch(/\b(?:run|step|node)\.[a-z]+\b/);
  const tenant = saidIn(await pageAs('owner-member', '/nodes/rack-1'));
  expect(tenant).toContain('Maintenance set');
  expect(tenant).not.toContain('no answer');
}); // biome-ignore format: short lines

test('a filter of the activity is an address', async () => {
  const changes = await pageAs('operator', '/nodes/rack-1?show=changes');
  expect(changes).toContain('aria-current="true">Changes</a>');
  expect(changes).not.toContain(`activity-${world.parked.run}`);
  expect(saidIn(changes)).toContain('Maintenance ended');
  expect(saidIn(await pageAs('operator', '/nodes/rack-4?show=rollouts'))).toContain('No events match.');
  expect(saidIn(await pageAs('operator', '/nodes/rack-4?show=constructor'))).toContain('No activity yet');
});

test('more events than fit are on a second page', async () => {
  const { node } = await idleNode('busy-history', { provision_state: 'active' });
  const row = { kind: 'node.power', node_uuid: node, data: api.sql.json({ from: 'power on', to: 'power off' }) };
  await api.sql`insert into events ${api.sql(Array.from({ length: 210 }, () => row) as never)}`;
  const first = await pageAs('operator', '/nodes/busy-history');
  const next = /<a class="button" href="([^"]+)">Next page/.exec(first)![1]!.replaceAll('&amp;', '&');
  expect(saidIn(await pageAs('operator', next)).match(/Power: power on → power off/g)).toHaveLength(10);
});

test('the place of a node stands in its head', async () => {
  await idleNode('placed', { properties: api.sql.json({ rack: 'r3', rack_unit: 12, power_feed: 'A' }) });
  expect(saidIn(await pageAs('lessee-reader', '/nodes/placed'))).toContain(`Rack r3, unit 12, feed A · ${lessee}`);
});

test('windows and disruption budgets that apply stand beside the node, and others do not', async () => {
  await idleNode('guarded', { resource_class: 'guarded', lessee });
  const budget = (resource_class: string) => ({ body: { query: { resource_class: [resource_class] }, max_unavailable: 1 } });
  await api.as('lessee-manager', 'POST', '/temper/v1/disruption-budgets', budget('guarded'));
  await api.as('lessee-manager', 'POST', '/temper/v1/disruption-budgets', budget('other'));
  const window = { name: 'nights', days: ['sat'], from: '02:00', minutes: 240, zone: 'UTC' };
  await api.as('lessee-manager', 'POST', '/temper/v1/windows', { body: window });
  const html = saidIn(await pageAs('lessee-manager', '/nodes/guarded'));
  expect(html.match(/at most 1 unavailable/g)).toHaveLength(1);
  expect(html).toMatch(/nights (?:opens|open, closes)/);
}); // biome-ignore format: short lines

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
