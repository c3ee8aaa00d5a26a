/** Machines that no node stands for: reported by their ramdisks, kept within bounds, and made nodes by operators alone. */
import { randomUUID } from 'node:crypto';
import { discoveryLimits } from '../../src/model/boot/discovery';
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { trustedProxies: ['127.0.0.0/8'], discovery: true } });
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.sql`truncate discovered_machines`;
  Object.assign(api.rooms.settings, { discovery: true });
});

const path = '/temper/v1/discovered-machines';
const mac = (n: number): string =>
  `02:00:00:00:${(n >> 8).toString(16).padStart(2, '0')}:${(n & 255).toString(16).padStart(2, '0')}`;
const inventoryOf = (macs: readonly string[], more: object = {}) => ({
  interfaces: macs.map((mac_address, at) => ({ name: `eth${at}`, mac_address })),
  cpu: { architecture: 'aarch64', count: 4 },
  bmc_address: '192.0.2.10',
  system_vendor: { manufacturer: 'Maker', product_name: 'Box', serial_number: 'S1' },
  boot: { pxe_interface: `01-${macs[0]!.replaceAll(':', '-')}`, current_boot_mode: 'uefi' },
  ...more,
});
const report = (macs: readonly string[], { from = '198.51.100.1', minor, ...more }: Record<string, unknown> = {}) =>
  api.as(null, 'POST', '/v1/continue_inspection', {
    body: { inventory: inventoryOf(macs, more) },
    headers: { 'x-forwarded-for': String(from) },
    ...(minor !== undefined && { minor: minor as number }),
  });
const records = async () => (await api.as('system-reader', 'GET', path)).body.discovered_machines;
const enroll = (uuid: string, body: object) => api.as('operator', 'POST', `${path}/${uuid}/enroll`, { body });

test('a machine that no node stands for is refused and not kept, unless the setting says so', async () => {
  Object.assign(api.rooms.settings, { discovery: false });
  expect((await report([mac(1)])).status).toBe(404);
  expect(await records()).toEqual([]);
  Object.assign(api.rooms.settings, { discovery: true });
  const answer = await report([mac(1)]);
  expect([answer.status, answer.body]).toEqual([202, {}]);
  expect(await records()).toEqual([
    expect.objectContaining({
      state: 'waiting',
      macs: [mac(1)],
      boot_mac: mac(1),
      arch: 'aarch64',
      bmc_address: '192.0.2.10',
      vendor: 'Maker',
      product: 'Box',
      serial: 'S1',
      sender: '198.51.100.1',
      contested: false,
      reports: 1,
    }),
  ]);
  expect((await api.as('operator', 'GET', '/v1/nodes')).body.nodes).toEqual([]);
});

test('the same machine again is the same record, with what it says now', async () => {
  await report([mac(1), mac(2)]);
  const [before] = await records();
  await report([mac(2), mac(1)]);
  await report([mac(1), mac(2)], { bmc_address: '192.0.2.66' });
  const [after, ...others] = await records();
  expect(others).toEqual([]);
  expect(after).toMatchObject({ uuid: before.uuid, reports: 3, bmc_address: '192.0.2.66' });
  expect(after.revision).not.toBe(before.revision);
  const events = await api.sql`
    select kind from events where data ->> 'discovered_machine_uuid' = ${before.uuid}`;
  expect(events).toEqual([{ kind: 'discovered_machine.reported' }]);
});

test('one step makes it a node with its ports and its inventory', async () => {
  await report([mac(10), mac(11)]);
  const [{ uuid, revision }] = await records();
  const name = `found-${randomUUID()}`;
  const driver_info = { redfish_address: 'https://192.0.2.10' };
  const made = await enroll(uuid, { revision, name, driver: 'redfish', driver_info, resource_class: 'metal' });
  expect([made.status, made.body]).toEqual([201, { node_uuid: expect.any(String), name, provision_state: 'enroll' }]);
  const node = (await api.as('operator', 'GET', `/v1/nodes/${made.body.node_uuid}`, { minor: 95 })).body;
  expect(node).toMatchObject({ name, driver: 'redfish', properties: { cpu_arch: 'aarch64' }, resource_class: 'metal' });
  const { ports } = (await api.as('operator', 'GET', `/v1/nodes/${node.uuid}/ports`, { minor: 95 })).body;
  expect(ports.map((port: { address: string }) => port.address).sort()).toEqual([mac(10), mac(11)]);
  const boots = await api.sql`select address from ports where node_uuid = ${node.uuid} and pxe_enabled`;
  expect(boots).toEqual([{ address: mac(10) }]);
  expect((await api.inventory.details.inventory(node.uuid))?.inventory).toMatchObject({ cpu: { count: 4 } });
  expect(await records()).toEqual([]);
  // It is a node's from now on, and that node is not being inspected.
  expect((await report([mac(10), mac(11)])).status).toBe(404);
  const rows = await api.sql`select action, rule from audit where resource_id = ${uuid}`;
  expect(rows).toEqual([{ action: 'discovered_machine.enroll', rule: 'temper:discovered_machine:enroll' }]);
});

test('what a machine says after it was read is not enrolled unseen, and nothing half is left', async () => {
  await report([mac(20), mac(21)]);
  const [{ uuid, revision }] = await records();
  await report([mac(20), mac(21)], { bmc_address: '192.0.2.66' });
  const stale = await enroll(uuid, { revision, driver: 'fake-hardware' });
  expect([stale.status, faultOf(stale)]).toEqual([409, expect.stringContaining('reported itself otherwise')]);
  // A card that has become a node's since: neither the node nor the other port stays.
  const { body: other } = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
  await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: other.uuid, address: mac(21) } });
  const [now] = await records();
  const name = `half-${randomUUID()}`;
  expect((await enroll(uuid, { revision: now.revision, name, driver: 'fake-hardware' })).status).toBe(409);
  expect((await api.as('operator', 'GET', `/v1/nodes/${name}`)).status).toBe(404);
  expect(await api.sql`select 1 from ports where address = ${mac(20)}`).toHaveLength(0);
  expect(await records()).toHaveLength(1);
});

test('two machines with one MAC address are two records, and neither is enrolled while both wait', async () => {
  await report([mac(30), mac(31)]);
  await report([mac(30), mac(32)], { from: '198.51.100.2' });
  const [first, second] = await records();
  expect([first.contested, second.contested]).toEqual([true, true]);
  const { uuid, revision } = first;
  const answer = await enroll(uuid, { revision, driver: 'fake-hardware' });
  expect([answer.status, faultOf(answer)]).toEqual([409, expect.stringContaining('one of its MAC addresses')]);
  const body = { reason: 'not ours' };
  expect((await api.as('operator', 'POST', `${path}/${second.uuid}/refuse`, { body })).body).toMatchObject({
    state: 'refused',
    reason: 'not ours',
  });
  expect((await enroll(second.uuid, { revision: second.revision, driver: 'fake-hardware' })).status).toBe(409);
  expect((await enroll(uuid, { revision, driver: 'fake-hardware' })).status).toBe(201);
});

test('a refused machine stays refused whatever it reports, until its record is removed', async () => {
  await report([mac(40)]);
  const [{ uuid }] = await records();
  await api.as('operator', 'POST', `${path}/${uuid}/refuse`, { body: { reason: 'a printer' } });
  expect((await report([mac(40)], { bmc_address: '192.0.2.66' })).status).toBe(202);
  expect(await records()).toEqual([
    expect.objectContaining({ uuid, state: 'refused', bmc_address: '192.0.2.10', reports: 2 }),
  ]);
  expect((await api.as('operator', 'DELETE', `${path}/${uuid}`)).status).toBe(204);
  expect((await api.as('operator', 'DELETE', `${path}/${uuid}`)).status).toBe(404);
});

test('one address makes so many records and no more, also with many at once; others are recorded all the same', async () => {
  const most = discoveryLimits.ofSender;
  const answers = await Promise.all(Array.from({ length: most + 8 }, (_, n) => report([mac(100 + n)])));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(most);
  const refused = answers.find(({ status }) => status === 400)!;
  expect(faultOf(refused)).toContain(`reports from its address have made ${most} records`);
  expect((await report([mac(200)], { from: '198.51.100.9' })).status).toBe(202);
});

test('a machine that announces more cards, more of them shared, or more text than is kept is refused with the reason', async () => {
  const thousands = Array.from({ length: 2_000 }, (_, n) => mac(n));
  expect((await report(thousands)).status).toBe(400);
  for (let n = 0; n < discoveryLimits.sharing; n++) await report([mac(300), mac(301 + n)]);
  const shared = await report([mac(300), mac(400)]);
  expect([shared.status, faultOf(shared)]).toEqual([400, expect.stringContaining('one of its MAC addresses')]);
  const long = await report([mac(500)], { from: '198.51.100.3', notes: 'x'.repeat(discoveryLimits.bytes) });
  expect([long.status, faultOf(long)]).toEqual([400, expect.stringContaining('bytes')]);
});

test('all records together have a bound', async () => {
  await api.sql`
    insert into discovered_machines (key, macs, sender, revision, inventory)
    select n::text, array[n::text], n::text, 'x', '{}' from generate_series(1, ${discoveryLimits.records - 1}::int) n`;
  expect((await report([mac(600)])).status).toBe(202);
  const full = await report([mac(601)], { from: '198.51.100.4' });
  expect([full.status, faultOf(full)]).toEqual([400, expect.stringContaining('machines are recorded')]);
  expect((await report([mac(600)])).status).toBe(202);
  const page = (await api.as('operator', 'GET', `${path}?limit=1000`)).body.discovered_machines;
  expect(page).toHaveLength(1_000);
  const next = (await api.as('operator', 'GET', `${path}?limit=10&marker=${page.at(-1).uuid}`)).body
    .discovered_machines;
  expect(next).toHaveLength(10);
  expect(page.map(({ uuid }: { uuid: string }) => uuid)).not.toContain(next[0].uuid);
});

test.each([
  ['no card at all', ['00:00:00:00:00:00']],
  ['a group’s address', ['01:00:5e:00:00:01']],
])('%s stands for no machine', async (_, macs) => {
  expect((await report(macs)).status).toBe(404);
  expect(await records()).toEqual([]);
});

test('a report that bears a boot’s secret, names a node, or has a node’s card is never a discovery', async () => {
  const { body: node } = await api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware' } });
  await api.as('operator', 'POST', '/v1/ports', { body: { node_uuid: node.uuid, address: mac(700) } });
  const send = (query: string, macs: readonly string[]) =>
    api.as(null, 'POST', `/v1/continue_inspection${query}`, { body: { inventory: inventoryOf(macs) } });
  expect((await send('?boot=unknown', [mac(701)])).status).toBe(404);
  expect((await send(`?node_uuid=${randomUUID()}`, [mac(701)])).status).toBe(404);
  expect((await send('', [mac(700), mac(701)])).status).toBe(404);
  expect(await records()).toEqual([]);
});

test('no tenant sees or does any of it', async () => {
  await report([mac(800)]);
  const [{ uuid, revision }] = await records();
  for (const who of ['owner-admin', 'lessee-admin', 'stranger-admin'] as const) {
    expect((await api.as(who, 'GET', path)).status).toBe(403);
    expect((await api.as(who, 'GET', `${path}/${uuid}`)).status).toBe(403);
    const body = { revision, driver: 'fake-hardware' };
    expect((await api.as(who, 'POST', `${path}/${uuid}/enroll`, { body })).status).toBe(403);
    expect((await api.as(who, 'DELETE', `${path}/${uuid}`)).status).toBe(403);
  }
  expect(await records()).toHaveLength(1);
});
