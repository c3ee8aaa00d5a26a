/** The pages: what they show of nodes and runs to whom, what a form causes, and that no text of others becomes markup. */
import { verdicts } from '../../src/model/resources/audit';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { endRun, happened, runningRun, type SeenRun } from '../support/happenings';
import type { Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let seen: SeenRun;
/** Runs about which the engine was asked. */
const asked: string[] = [];
const hostile = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;

beforeAll(async () => {
  api = await startTestApi({
    runs: {
      look: async (run) => {
        asked.push(run);
        return { sources: [] };
      },
    },
  });
  pages = await startTestConsole(api.url);
  seen = await runningRun(api, {
    state: 'parked',
    cursor: 0,
    waiting_for: hostile,
    last_error: hostile,
    node_name: 'rack-1',
  });
  await api.sql`update nodes set name = 'rack-1', description = ${hostile}, maintenance = true, maintenance_reason = ${hostile},
    last_error = ${hostile}, resource_class = ${hostile} where uuid = ${seen.node}`;
  await api.sql`insert into run_steps ${api.sql({ run_id: seen.run, index: 0, interface: 'power', step: 'reboot', args: api.sql.json({ note: hostile }), state: 'parked', last_error: hostile, note: hostile, attempt: 5 } as never)}`;
  const step = { interface: 'power', step: 'reboot', order: 1, args: {} };
  const made = { name: 'CUSTOM_HOSTILE', description: hostile, steps: [step] };
  await api.as('owner-manager', 'POST', '/v1/runbooks', { body: made });
  await happened(api, seen, 'step.parked', { step: 'power.reboot', error: hostile });
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const addresses = (): string[] => [
  '/',
  '/inbox',
  '/nodes',
  '/nodes/rack-1',
  '/runs',
  '/runs?state=any',
  `/runs/${seen.run}`,
];
const others = ['/runbooks', '/allocations', '/policy', '/policy?rule=temper:run:skip', '/system', '/scope'];
const viewers: readonly Persona[] = ['operator', 'owner-manager', 'owner-member', 'lessee-member'];

test.each(viewers)('no text that others wrote becomes markup for %s', async (who) => {
  const browser = await pages.as(who);
  let shown = 0;
  for (const address of [...addresses(), ...others]) {
    const { status, text } = await browser.get(address);
    expect({ address, status }).toEqual({ address, status: 200 });
    expect(text).not.toMatch(/<img|<script>/);
    shown += text.split('&lt;img src=x onerror').length - 1;
  }
  expect(shown).toBeGreaterThan(5);
});

test('a stranger sees nothing of it: a hidden page is a missing one', async () => {
  const browser = await pages.as('stranger-admin');
  for (const address of addresses()) expect((await browser.get(address)).text).not.toContain('rack-1</a>');
  expect((await browser.get('/nodes/rack-1')).status).toBe(404);
  expect((await browser.get(`/runs/${seen.run}`)).status).toBe(404);
  expect((await browser.get(`/runs/${seen.run}/live`)).status).toBe(404);
});

const uuids = (text: string): string[] => [
  ...new Set(text.match(/\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g)),
];

test.each<Persona>([...viewers, 'lessee-reader', 'system-reader', 'stranger-admin'])(
  'no page says more to %s than the API does',
  async (who) => {
    const browser = await pages.as(who);
    const lists = ['/v1/nodes/detail', '/temper/v1/runs?state=any', '/v1/runbooks?detail=true', '/v1/allocations', '/temper/v1/webhooks', '/temper/v1/ramdisks', '/temper/v1/policy/history']; // biome-ignore format: one list
    const said = (await Promise.all(lists.map((path) => api.as(who, 'GET', path)))).map(({ text }) => text).join('\n');
    for (const address of [...addresses(), ...others, '/runbooks/CUSTOM_HOSTILE', '/audit']) {
      const { text } = await browser.get(address);
      // Forms have keys of their own, a reading of the trail has a request id, and streams lie behind addresses that were shown.
      const shown = uuids(text.replaceAll(/name="key" value="[^"]*"|\breq-[0-9a-f-]{36}/g, ''));
      expect({ address, more: shown.filter((id) => !said.includes(id) && !address.includes(id)) }).toEqual({
        address,
        more: [],
      });
      for (const project of ['project-owner', 'project-lessee'])
        if (text.includes(project)) expect(said).toContain(project);
    }
  },
);

test('what the API refuses is refused by its page', async () => {
  const { status, text } = await (await pages.as('owner-member')).get('/audit');
  expect(status).toBe(403);
  expect(text).toContain('temper:audit:get');
});

test('the trail is offered by each verdict that it has', async () => {
  const browser = await pages.as('system-reader');
  const { text } = await browser.get('/audit');
  for (const verdict of verdicts) expect(text).toContain(`<option value="${verdict}"`);
  const offered = [.../name="verdict"[\s\S]*?<\/select>/.exec(text)![0].matchAll(/value="(\w+)"/g)].map(
    ([, one]) => one!,
  );
  for (const verdict of offered) expect((await browser.get(`/audit?verdict=${verdict}`)).status).toBe(200);
});

test('a runbook is written, checked before it is saved, and edited, by plain forms', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/runbooks/new');
  const form = { name: 'CUSTOM_BOOT', rows: '1', 'place-0': '1', 'step-0': 'management.set_boot_device' };
  const more = await browser.post('/runbooks/new', { ...form, do: 'more' });
  expect(more.text).toContain('name="arg-0-boot_device"');
  expect(more.text).toContain('name="step-1"');
  const wrong = await browser.post('/runbooks/new', { ...form, do: 'check' });
  expect(wrong.text).toMatch(/Check: [1-9]\d* errors/);
  const right = { ...form, 'arg-0-boot_device': 'disk' };
  expect((await browser.post('/runbooks/new', { ...right, do: 'check' })).text).toContain('Check: 0 errors');
  expect(await browser.post('/runbooks/new', { ...right, do: 'save' })).toMatchObject({ to: '/runbooks/CUSTOM_BOOT' });
  const again = await browser.get('/runbooks/CUSTOM_BOOT/edit');
  expect(again.text).toContain('<option value="disk" selected');
  const two = { ...right, rows: '2', 'place-1': '0.5', 'step-1': 'power.power_off' };
  expect((await browser.post('/runbooks/CUSTOM_BOOT/edit', { ...two, do: 'save' })).status).toBe(303);
  const { body } = await api.as('owner-manager', 'GET', '/v1/runbooks/CUSTOM_BOOT');
  expect(body.steps.map(({ step }: { step: string }) => step)).toEqual(['power_off', 'set_boot_device']);
  expect((await browser.get('/runbooks/CUSTOM_BOOT/compare?from=1&to=2')).text).toContain('Revision 2');
  const refused = await browser.post('/runbooks/CUSTOM_BOOT/edit', { ...two, 'step-1': 'no.such', do: 'save' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('CUSTOM_BOOT');
});

test('a runbook with one step twice shows both, in the editor and side by side', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/runbooks/new');
  const step = (at: number, device: string) => ({
    [`place-${at}`]: String(at + 1),
    [`step-${at}`]: 'management.set_boot_device',
    [`arg-${at}-boot_device`]: device,
  });
  const middle = { 'place-1': '2', 'step-1': 'power.reboot' };
  const form = { name: 'CUSTOM_TWICE', rows: '3', ...step(0, 'pxe'), ...middle, ...step(2, 'disk') };
  expect((await browser.post('/runbooks/new', { ...form, do: 'check' })).text).toContain('Check: 0 errors');
  expect((await browser.post('/runbooks/new', { ...form, do: 'save' })).status).toBe(303);
  const devices = (text: string) => [...text.matchAll(/boot_device&quot;:&quot;(\w+)/g)].map(([, device]) => device);
  expect(devices((await browser.get('/runbooks/CUSTOM_TWICE')).text)).toEqual(['pxe', 'disk']);
  const { text } = await browser.get('/runbooks/CUSTOM_TWICE/edit');
  expect([...text.matchAll(/<option value="(\w+)" selected/g)].map(([, device]) => device)).toEqual(['pxe', 'disk']);
  expect((await browser.post('/runbooks/CUSTOM_TWICE/edit', { ...form, ...step(2, 'cdrom'), do: 'save' })).status).toBe(
    303,
  );
  const { text: compared } = await browser.get('/runbooks/CUSTOM_TWICE/compare?from=1&to=2');
  expect(devices(compared)).toEqual(['pxe', 'disk', 'pxe', 'cdrom']);
});

test('a member learns why it may not do what its manager may', async () => {
  const { text } = await (await pages.as('owner-member')).get(
    `/policy?rule=temper:run:skip&kind=run&object=${seen.run}`,
  );
  expect(text).toContain('You don’t have permission: temper:run:skip. Go on with a run as if the step');
  const reader = await (await pages.as('system-reader')).get(
    '/policy?rule=temper:run:skip&roles=manager&project=project-owner&kind=node&object=rack-1',
  );
  expect(reader.text).toContain('For that caller:');
});

test('an act that the rules refuse is off, and says by which rule', async () => {
  const member = (await (await pages.as('owner-member')).get(`/runs/${seen.run}`)).text;
  expect(member).toContain('You don’t have permission: temper:run:skip.');
  expect(member).not.toContain(`action="/runs/${seen.run}/skip"`);
  expect(member).toContain(`action="/runs/${seen.run}/retry"`);
  const manager = (await (await pages.as('owner-manager')).get(`/runs/${seen.run}`)).text;
  expect(manager).toContain(`action="/runs/${seen.run}/skip"`);
});

test('an act that the state refuses is off, and says by which state', async () => {
  const { text } = await (await pages.as('operator')).get(`/runs/${seen.run}`);
  expect(text).toContain('The run is parked, not paused.');
  expect(text).not.toContain(`action="/runs/${seen.run}/resume"`);
});

test('a decision is sent with its reason and its step, and the page says what will follow', async () => {
  const browser = await pages.as('owner-manager');
  const { text } = await browser.get(`/runs/${seen.run}`);
  const key = /name="key" value="([^"]+)"/.exec(text)![1]!;
  const fields = { key, reason: 'the cable is in again', step: '0' };
  const page = await browser.post(`/runs/${seen.run}/retry`, fields);
  expect(page.status).toBe(303);
  expect(page.to).toMatch(`/runs/${seen.run}?will=The%20step%20is%20run%20again.&proof=`);
  expect((await browser.get(page.to!)).text).toContain('class="notice good">The step is run again.');
  await browser.post(`/runs/${seen.run}/retry`, fields);
  expect(api.runs.operated).toMatchObject([
    { run: seen.run, act: 'retry', cursor: 0, reason: 'the cable is in again' },
  ]);
});

test('what only a link says is said by no page', async () => {
  const browser = await pages.as('owner-manager');
  const own = await browser.post(`/runs/${seen.run}/retry`, { reason: 'once more', step: '0' });
  const proof = new URL(own.to!, pages.url).searchParams.get('proof')!;
  for (const given of ['', `&proof=${proof}`, '&proof=x']) {
    const { status, text } = await browser.get(`/runs/${seen.run}?will=Call%20this%20number${given}`);
    expect(status).toBe(200);
    expect(text).not.toContain('Call this number</p>');
    expect(text).not.toContain('role="status"');
  }
  const other = await pages.as('owner-manager');
  expect((await other.get(own.to!)).text).not.toContain('role="status"');
});

test('a refusal of the API is shown word for word, with the rule and the way to ask why', async () => {
  const browser = await pages.as('owner-member');
  const page = await browser.post(`/runs/${seen.run}/skip`, { reason: 'just so' });
  expect(page.status).toBe(403);
  expect(page.text).toContain('Access was denied to the following resource: temper:run:skip');
  expect(page.text).toContain('href="/policy?rule=temper%3Arun%3Askip"');
  expect(page.text).toContain(`<a href="/runs/${seen.run}">Back to the page</a>`);
  expect((await browser.get('/audit')).text).not.toContain('Back to the page');
});

test('the inbox has the decision itself', async () => {
  const { text } = await (await pages.as('owner-manager')).get('/inbox');
  expect(text).toContain('Needs a decision <span class="muted">1</span>');
  expect(text).toContain(`action="/runs/${seen.run}/retry"`);
  expect(text).toContain('In maintenance <span class="muted">1</span>');
  expect(text).not.toContain('Failing nodes');
});

test('the inbox asks the engine about no run: the store has all that it shows of them', async () => {
  asked.length = 0;
  const browser = await pages.as('owner-manager');
  const { text } = await browser.get('/inbox');
  expect(text).toContain('power.reboot, attempt 5, <time');
  expect(asked).toEqual([]);
  await browser.get(`/runs/${seen.run}`);
  expect(asked).toEqual([seen.run]);
});

test('an act that a rule refuses leads to the rule and to what it was asked about', async () => {
  const browser = await pages.as('owner-member');
  const { text } = await browser.get(`/runs/${seen.run}`);
  const link = text.match(/href="(\/policy\?rule=temper%3Arun%3Askip[^"]*)">Why\?/)![1]!.replaceAll('&amp;', '&');
  const page = await browser.get(link);
  expect(page.status).toBe(200);
  expect(page.text).toContain('managers of the owner');
  const reader = (await (await pages.as('system-reader')).get(link)).text;
  expect(reader).toContain('For that caller:');
});

test('a run that failed says why its node takes no new one, and leads to what the node takes', async () => {
  const failed = await runningRun(api, { state: 'failed', finished_at: new Date(), node_name: 'rack-8' });
  await api.sql`update nodes set name = 'rack-8', provision_state = 'service failed', maintenance = true where uuid = ${failed.node}`;
  const browser = await pages.as('operator');
  const off = (await browser.get(`/runs/${failed.run}`)).text;
  expect(off).toContain('The node is in maintenance.');
  expect(off).toContain('<a href="/nodes/rack-8">Open rack-8');
  expect(off).not.toContain(`action="/runs/${failed.run}/rerun"`);
  await api.sql`update nodes set maintenance = false where uuid = ${failed.node}`;
  expect((await browser.get(`/runs/${failed.run}`)).text).toContain(`action="/runs/${failed.run}/rerun"`);
  await api.sql`update runs set verb = 'inspect' where id = ${failed.run}`;
  expect((await browser.get(`/runs/${failed.run}`)).text).toContain('Start inspect again.');
  await api.sql`delete from nodes where uuid = ${failed.node}`;
});

test('lists go on where a page ends, and keep their filters', async () => {
  await api.sql`insert into nodes (name, driver, provision_state, resource_class)
    select 'many-' || lpad(n::text, 3, '0'), 'fake-hardware', 'available', 'many' from generate_series(1, 60) n`;
  const browser = await pages.as('operator');
  const first = await browser.get('/nodes?resource_class=many&sort_key=name');
  expect(first.text.match(/>many-\d{3}</g)).toHaveLength(50);
  const next = /<a class="button" href="([^"]+)">Next page/.exec(first.text)![1]!.replaceAll('&amp;', '&');
  const second = await browser.get(next);
  expect(second.text.match(/>many-\d{3}</g)).toHaveLength(10);
  expect(second.text).toContain('>many-060<');
  expect(second.text).toContain('First page');
});

test('a node has its ports, its firmware and its BIOS settings, and a part that is fetched again has none of them', async () => {
  await api.sql`insert into ports (node_uuid, address, name) values (${seen.node}, '52:54:00:00:00:07', 'eth0')`;
  const at = new Date().toISOString();
  const bios = [{ name: 'BootMode', value: 'Uefi', created_at: at, updated_at: at }];
  const firmware = [
    { component: 'bmc', current_version: '7.11', initial_version: '7.10', created_at: at, updated_at: at },
  ];
  await api.sql`
    insert into node_details (node_uuid, bios, bios_at, firmware, firmware_at)
    values (${seen.node}, ${api.sql.json(bios)}, now(), ${api.sql.json(firmware)}, now())`;
  const browser = await pages.as('owner-member');
  const { text } = await browser.get('/nodes/rack-1/hardware');
  for (const part of ['52:54:00:00:00:07', 'BootMode', 'Uefi', '7.11', 'BIOS settings (1)'])
    expect(text).toContain(part);
  const again = (await browser.get('/nodes/rack-1/hardware', { 'hx-request': 'true' })).text;
  expect(again).toContain('id="node"');
  expect(again).not.toContain('BootMode');
});

test('an open page shows a change within a second, and by the events of its own run only', async () => {
  const browser = await pages.as('owner-member');
  const leaving = new AbortController();
  const reply = await fetch(`${pages.url}/live`, { headers: { cookie: browser.cookie }, signal: leaving.signal });
  expect(reply.headers.get('content-type')).toBe('text/event-stream');
  const reader = reply.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('retry:')) text += decoder.decode((await reader.read()).value, { stream: true });
  const other = await runningRun(api);
  await happened(api, other, 'step.begun', { step: 'power.reboot' });
  while (!text.includes('event: change')) text += decoder.decode((await reader.read()).value, { stream: true });
  leaving.abort();
  await endRun(api, other);
  // Of a run that has ended nothing more will come: its page does not ask.
  expect((await browser.get(`/runs/${other.run}`)).text).not.toContain('sse-connect');
  expect((await browser.get(`/runs/${seen.run}`)).text).toContain(`sse-connect="/runs/${seen.run}/live"`);
});

test('a page that was at an event which its user may not see is drawn anew, and goes on from now', async () => {
  const { cookie } = await pages.as('owner-member');
  const leaving = new AbortController();
  const headers = { cookie, 'last-event-id': '999999999' };
  const reply = await fetch(`${pages.url}/live`, { headers, signal: leaving.signal });
  expect(reply.status).toBe(200);
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (what: RegExp): Promise<void> => {
    while (!what.test(text)) text += (await reader.read()).value ?? '';
  };
  await until(/^retry: 2000\n\nid:\nevent: change\ndata: now\n\n/);
  const other = await runningRun(api);
  await happened(api, other, 'step.begun', { step: 'power.reboot' });
  await until(/\nid: \d+\nevent: change\n/);
  leaving.abort();
  await endRun(api, other);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
