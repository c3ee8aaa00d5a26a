/** The tabs of a node and the page of a run: what they show to whom, and forms that keep what was typed. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld } from '../support/console-world';
import { happened, runningRun } from '../support/happenings';
import { lessee, owner, type Persona, personas } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

const redfish = { redfish_address: 'https://192.0.2.7', deploy_iso: 'https://images.example.org/r.iso' };

const makeNode = async (name: string, columns: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const row = { name, driver: 'redfish', owner, provision_state: 'available', power_state: 'power off', driver_info: api.sql.json(redfish), ...columns };
  const [node] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(row as never)} returning uuid`;
  return node!.uuid;
}; // biome-ignore format: short lines

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

const tabs = ['', '/hardware', '/deploy', '/console', '/access', '/audit'];
const everyPersona = (Object.keys(personas) as (keyof typeof personas)[]).filter((who): who is Persona => who !== 'stranger-roleless'); // biome-ignore format: one row

test.each(everyPersona)('%s reads every tab of a node that it sees, without words for hidden fields', async (who) => {
  const node = await makeNode(`leased-for-${who}`, { lessee, provision_state: 'active', instance_info: api.sql.json({ image_source: 'image:debian' }) });
  await api.sql`update nodes set last_error = 'told', reservation = null where uuid = ${node}`;
  const browser = await pages.as(who);
  const seen = (await api.as(who, 'GET', `/v1/nodes/${node}`)).status;
  for (const tab of tabs) {
    const { status, text } = await browser.get(`/nodes/leased-for-${who}${tab}`);
    expect({ tab, status }).toEqual({ tab, status: seen });
    expect({ tab, words: /Redacted|[Rr]equires baremetal:|undefined|\[object/.exec(text.replaceAll(/<script[\s\S]*?<\/script>/g, '')) }).toEqual({ tab, words: null });
    if (seen === 200) expect(text).toContain(`aria-current="page">${tab === '' ? 'Activity' : tab[1]!.toUpperCase() + tab.slice(2)}</a>`);
  }
}); // biome-ignore format: short lines

test('firmware stands beside what most nodes of the same model have', async () => {
  const at = new Date().toISOString();
  const versions = (current_version: string) => api.sql.json([{ component: 'bmc', current_version, initial_version: '1', created_at: at, updated_at: at }]);
  const properties = api.sql.json({ vendor: 'Acme', model: 'R1' });
  for (const [name, version] of [['fw-1', '2.1'], ['fw-2', '2.1'], ['fw-3', '1.9']] as const) {
    const node = await makeNode(name, { properties });
    await api.sql`insert into node_details (node_uuid, firmware, firmware_at) values (${node}, ${versions(version)}, now())`;
  }
  expect(await pageAs('operator', '/nodes/fw-3/hardware')).toMatch(/others have 2\.1<\/span> <span class="muted">2 of 3 nodes/);
  expect(await pageAs('operator', '/nodes/fw-1/hardware')).toMatch(/● ?<\/span> same/);
}); // biome-ignore format: short lines

test('a node with an inventory shows its parts, and one without says so', async () => {
  const node = await makeNode('with-inventory');
  const inventory = { system_vendor: { manufacturer: 'Acme', product_name: 'R1', serial_number: 'S-77' }, memory: { physical_mb: 65_536 }, disks: [{ name: '/dev/sda', size: 2 ** 40, rotational: false }] };
  await api.sql`insert into node_details (node_uuid, inventory, inventory_at) values (${node}, ${api.sql.json(inventory)}, now())`;
  const html = await pageAs('operator', '/nodes/with-inventory/hardware');
  for (const text of ['S-77', '64 GiB', '1024 GiB', 'solid state']) expect(html).toContain(text);
  expect(await pageAs('operator', '/nodes/rack-4/hardware')).toContain('No inventory, or you don’t have access to it.');
}); // biome-ignore format: short lines

test('the image is saved, and a refused one keeps what was typed, with the fault in its field', async () => {
  const node = await makeNode('to-deploy');
  const browser = await pages.as('operator');
  await browser.get('/nodes/to-deploy/deploy');
  const wrong = await browser.post('/nodes/to-deploy/deploy', { do: 'run', verb: 'active', hostname: 'web-1', keys: 'ssh-ed25519 AAAA a', user_data: '#cloud-config' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toMatch(/name="image_source"[^>]*aria-invalid="true"\/><small class="fault" role="alert">[^<]*image_source is missing/);
  for (const typed of ['name="hostname" value="web-1"', 'ssh-ed25519 AAAA a', '#cloud-config']) expect(wrong.text).toContain(typed);
  const saved = await browser.post('/nodes/to-deploy/deploy', { do: 'image', image_source: 'https://images.example.org/a.raw', image_checksum: 'a'.repeat(64) });
  expect(saved.status).toBe(303);
  expect((await browser.get(saved.to!)).text).toContain('The image is saved on the node.');
  const info = async () => (await api.sql`select instance_info from nodes where uuid = ${node}`)[0]!.instance_info;
  expect(await info()).toMatchObject({ image_source: 'https://images.example.org/a.raw', image_checksum: 'a'.repeat(64) });
  await browser.post('/nodes/to-deploy/deploy', { do: 'image', image_source: 'image:debian', image_checksum: '' });
  expect(await info()).toEqual({ image_source: 'image:debian' });
}); // biome-ignore format: short lines

test('a preview changes nothing, and a start sends the config drive', async () => {
  const node = await makeNode('deployed', { instance_info: api.sql.json({ image_source: 'https://images.example.org/a.raw', image_checksum: 'a'.repeat(64) }) });
  const browser = await pages.as('operator');
  await browser.get('/nodes/deployed/deploy');
  const fields = { verb: 'active', hostname: 'web-1', keys: 'ssh-ed25519 AAAA a\nssh-ed25519 BBBB b', user_data: '' };
  const before = api.runs.started.length;
  const preview = await browser.post('/nodes/deployed/deploy', { ...fields, do: 'preview' });
  expect(preview.status).toBe(200);
  expect(preview.text).toMatch(/Preview: this would (?:run|be refused)\. Nothing was changed\./);
  expect(preview.text).toContain('name="hostname" value="web-1"');
  expect(api.runs.started).toHaveLength(before);
  expect((await browser.post('/nodes/deployed/deploy', { ...fields, do: 'run' })).status).toBe(303);
  const order = api.runs.started.at(-1)!;
  expect(order).toMatchObject({ verb: 'active', node: { uuid: node } });
  expect(JSON.stringify(order.instance_info)).toContain('BBBB');
}); // biome-ignore format: short lines

test('deploy, rebuild and rescue are offered where rules and state admit them, with the reason for the others', async () => {
  const free = await pageAs('operator', '/nodes/rack-4/deploy');
  expect(free).toContain('<option value="active"');
  expect(free).not.toContain('<option value="rebuild"');
  expect(free).toContain('Not possible while the node is available.');
  const reader = await pageAs('owner-reader', '/nodes/rack-4/deploy');
  expect(reader).not.toContain('action="/nodes/rack-4/deploy"');
  expect(reader).toContain('You don’t have permission: baremetal:node:set_provision_state');
  const refused = await (await pages.as('owner-reader')).post('/nodes/rack-4/deploy', { do: 'run', verb: 'active' });
  expect(refused.status).toBe(403);
});

test('the console tab says how to open the console, or the reason against it and whom to ask', async () => {
  expect(await pageAs('operator', '/nodes/rack-4/console')).toContain('This node has no serial console.');
  await makeNode('serial', { driver: 'ipmi', console_interface: 'ipmitool-socat', lessee });
  const browser = await pages.as('operator');
  expect((await browser.get('/nodes/serial/console')).text).toContain('The serial console is disabled.');
  const { to } = await browser.post('/nodes/serial/acts', { what: 'console-on' });
  expect((await browser.get(to!)).text).toContain('The serial console is enabled.');
  expect(await pageAs('operator', '/nodes/serial/console')).toContain('temper console serial');
  const tenant = await pageAs('lessee-member', '/nodes/serial/console');
  expect(tenant).toContain('You can’t open it.');
  expect(tenant).toContain('Ask the managers of project');
  expect(tenant).not.toContain('temper console serial');
});

test('the access tab answers as the API does, for each rule', async () => {
  for (const who of ['operator', 'owner-member', 'lessee-reader'] as const) {
    const html = await pageAs(who, '/nodes/rack-1/access');
    const rows = [...html.matchAll(/(allowed|denied)<\/span><\/td><td[^>]*><code>([^<]+)<\/code>/g)].map(([, answer, rule]) => ({ answer, rule: rule! }));
    expect(rows.length).toBeGreaterThan(15);
    const { body } = await api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks: rows.map(({ rule }) => ({ rule, node: 'rack-1' })) } });
    expect(rows).toEqual(body.answers.map(({ rule, allowed }: { rule: string; allowed: boolean }) => ({ answer: allowed ? 'allowed' : 'denied', rule })));
  }
}); // biome-ignore format: short lines

test('the audit tab has the node’s own rows, for those who may read them', async () => {
  await makeNode('audited');
  await api.as('operator', 'PUT', '/v1/nodes/audited/maintenance', { body: { reason: 'a fan' } });
  await api.as('operator', 'PUT', '/v1/nodes/rack-5/maintenance', { body: { reason: 'another fan' } });
  const html = await pageAs('system-reader', '/nodes/audited/audit');
  expect(html).toContain('a fan');
  expect(html).not.toContain('another fan');
  expect(await pageAs('owner-manager', '/nodes/audited/audit')).toContain('a fan');
  api.setPolicy({ set: 'ironic' });
  expect(await pageAs('owner-manager', '/nodes/audited/audit')).toContain('You don’t have access to this.');
  api.setPolicy({ set: 'temper' });
});

test('a run names its rollout and its runbook, and has every failed attempt in the words of the BMC', async () => {
  const { run, node } = world.parked;
  await api.sql`update runs set batch = ${world.rollout}, runbook_uuid = ${node}, runbook_revision = 2 where id = ${run}`;
  const words = 'The BMC answered 500: General error.';
  await happened(api, world.parked, 'step.tried', { index: 1, step: 'power.reboot', act: 'power_off', attempt: 1, error: words });
  const html = await pageAs('operator', `/runs/${run}`);
  expect(html).toContain(`<a href="/rollouts/${world.rollout}">`);
  expect(html).toMatch(/Runbook <a href="\/runbooks\/[^"]+">CUSTOM_RESTART, revision 2/);
  expect(html).toContain(`power_off, attempt 1: ${words}`);
}); // biome-ignore format: short lines

test('a run on hold is released from its page', async () => {
  const { node, run } = await runningRun(api, { state: 'waiting', cursor: 0, waiting_for: 'unhold' });
  await api.sql`update nodes set provision_state = 'service hold', reservation = ${run} where uuid = ${node}`;
  const html = await pageAs('operator', `/runs/${run}`);
  expect(html).toMatch(new RegExp(`action="/nodes/${node}/acts"[\\s\\S]*?name="verb" value="unhold"`));
  expect(html).toContain('The run continues with its next step.');
  const reader = await pageAs('system-reader', `/runs/${run}`);
  expect(reader).not.toContain('value="unhold"');
});

test('the visit of an open rollout stands beside its node', async () => {
  expect(await pageAs('operator', '/nodes/rack-3')).toContain(`href="/rollouts/${world.rollout}/targets/0"`);
  expect(await pageAs('operator', '/nodes/rack-4')).not.toContain('Rollouts that visit this node');
});

test('the targets of a rollout can be those of one node, and a hidden node is a missing one', async () => {
  const path = `/temper/v1/rollouts/${world.rollout}/targets`;
  const { body } = await api.as('operator', 'GET', `${path}?node=rack-3`);
  expect(body.targets).toMatchObject([{ node_uuid: world.failed.node }]);
  expect((await api.as('operator', 'GET', `${path}?node=rack-4`)).body.targets).toEqual([]);
  expect((await api.as('operator', 'GET', `${path}?node=none`)).status).toBe(404);
  await makeNode('foreign', { owner: 'project-stranger' });
  expect((await api.as('owner-manager', 'GET', `${path}?node=foreign`)).status).toBe(404);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
