/** What clients send that no document describes: bodies with nothing in them, the node named last, words of older versions. */
import { addWorker, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
let uuid: string;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
  const body = { driver: 'fake-hardware', name: 'n1', resource_class: 'x' };
  uuid = (await api.as('operator', 'POST', '/v1/nodes', { body })).body.uuid;
});
afterAll(() => api.close());

test.each([['{}'], ['null'], ['']])('a request that takes no body may bring %j', async (raw) => {
  const path = `/v1/nodes/${uuid}/traits/CUSTOM_A`;
  expect((await api.as('operator', 'PUT', path, { raw })).status).toBe(204);
});

test.each([['{"trait": "CUSTOM_B"}'], ['[1]'], ['"x"'], ['0']])('and may not bring %s', async (raw) => {
  const reply = await api.as('operator', 'PUT', `/v1/nodes/${uuid}/traits/CUSTOM_A`, { raw });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('takes no body')]);
});

test('a node may stand behind the part of it that is asked for', async () => {
  const usual = await api.as('operator', 'GET', `/v1/nodes/${uuid}/states/console`);
  const reply = await api.as('operator', 'GET', `/v1/nodes/states/console/${uuid}`);
  expect([reply.status, reply.body]).toEqual([usual.status, usual.body]);
  const strange = await api.as('stranger-admin', 'GET', `/v1/nodes/states/console/${uuid}`);
  expect(strange.status).toBe(404);
});

test('an allocation may be named from the first version that knows allocations', async () => {
  const body = { resource_class: 'y', name: 'a1' };
  expect((await api.as('operator', 'POST', '/v1/allocations', { minor: 52, body })).status).toBe(201);
  const patch = [{ op: 'replace', path: '/name', value: 'a2' }];
  expect((await api.as('operator', 'PATCH', '/v1/allocations/a1', { minor: 57, body: patch })).status).toBe(200);
});

test.each(['boot_mode', 'secure_boot'])(
  'who may not set %s is refused by the rule in every version, and who may is answered that 1.75 has no such path',
  async (name) => {
    const path = `/v1/nodes/${uuid}/states/${name}`;
    const ask = (who: Parameters<TestApi['as']>[0], minor: number) =>
      api.as(who, 'PUT', path, { minor, body: { target: name === 'boot_mode' ? 'uefi' : true } });
    for (const minor of [75, 76]) expect((await ask('system-reader', minor)).status).toBe(403);
    expect((await ask('operator', 75)).status).toBe(404);
    expect((await ask('stranger-admin', 75)).status).toBe(404);
    expect((await ask('operator', 76)).status).toBe(202);
  },
);

test('a path that nothing offers to a version does not exist there, whatever the method', async () => {
  const put = (minor: number) => api.as('operator', 'PUT', `/v1/nodes/${uuid}/vmedia`, { minor, body: {} });
  expect([(await put(88)).status, (await put(89)).status]).toEqual([404, 405]);
});

test.each(['not:a:name', 'fake_port'])('a port below 1.88 is found by UUID alone, and %s is none', async (ident) => {
  const reply = await api.as('operator', 'GET', `/v1/ports/${ident}`, { minor: 87 });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('must be a UUID')]);
});

test.each([
  ['connectors', { type: 'iqn', connector_id: 'c' }, 'volume connector'],
  ['targets', { boot_index: 0, volume_id: 'v', volume_type: 'iscsi' }, 'volume target'],
] as const)('%s of an available node can be changed and removed only while it is off', async (kind, body, what) => {
  const made = await api.as('operator', 'POST', `/v1/volume/${kind}`, { body: { node_uuid: uuid, ...body } });
  const path = `/v1/volume/${kind}/${made.body.uuid}`;
  await api.sql`update nodes set provision_state = 'available', power_state = 'power on' where uuid = ${uuid}`;
  const patch = [{ op: 'replace', path: '/extra', value: { a: 1 } }];
  const changed = await api.as('operator', 'PATCH', path, { body: patch });
  expect([changed.status, changed.text]).toEqual([400, expect.stringContaining(`${what} update`)]);
  const removed = await api.as('operator', 'DELETE', path);
  expect([removed.status, removed.text]).toEqual([400, expect.stringContaining(`${what} deletion`)]);
  await api.sql`update nodes set power_state = 'power off' where uuid = ${uuid}`;
  expect((await api.as('operator', 'DELETE', path)).status).toBe(204);
});

test('an inspection rule may name the driver of a node, as rules elsewhere do; what may be set is looked at when it runs', async () => {
  const rule = (path: string) => ({ actions: [{ op: 'set-attribute', args: [path, 'redfish'] }] });
  const made = (path: string) => api.as('operator', 'POST', '/v1/inspection_rules', { body: rule(path) });
  expect([(await made('/driver')).status, (await made('/owner')).status]).toEqual([201, 400]);
});
