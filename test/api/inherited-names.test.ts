/** Names that every object inherits are texts like others, wherever a caller's text is looked up in a table. */
import { givenSteps } from '../../src/console/pages/runbook-form';
import { expandRoles } from '../../src/model/access/callers';
import { addWorker, type Request, startTestApi, type TestApi } from '../support/api';
import { worldOf } from '../support/rule-world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { cleaningRunbooks: { gold: 'CUSTOM_CLEANS' } } });
  await addWorker(api.sql);
});
afterAll(() => api.close());

const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

test.each(inherited)('a node of class %s is cleaned as one of a class without an entry', async (resource_class) => {
  const node = await worldOf(api, { resource_class, deploy_interface: 'direct', provision_state: 'active' })('{node}');
  const body = { target: 'deleted' };
  const reply = await api.as('operator', 'PUT', `/v1/nodes/${node}/states/provision`, { body });
  expect([reply.status, reply.text]).toEqual([202, '']);
  expect(api.runs.started.at(-1)).toMatchObject({
    node: { uuid: node },
    runbook: null,
    ramdisk: { boot: expect.anything() },
  });
});

const asks: readonly (readonly [method: string, path: string, request: (name: string) => Request])[] = [
  ['GET', '/v1/nodes?maintenance=NAME', () => ({})],
  ['GET', '/v1/nodes?sort_key=NAME', () => ({})],
  ['GET', '/v1/nodes?fields=NAME', () => ({})],
  ['GET', '/v1/nodes/NAME', () => ({})],
  ['GET', '/v1/drivers/NAME', () => ({})],
  ['GET', '/v1/drivers/NAME/properties', () => ({})],
  ['PATCH', '/v1/nodes/{node}', (value) => ({ body: [{ op: 'replace', path: '/maintenance', value }] })],
  ['PATCH', '/v1/nodes/{node}', (value) => ({ body: [{ op: 'replace', path: '/driver', value }] })],
  ['PATCH', '/v1/nodes/{node}', (value) => ({ body: [{ op: 'replace', path: '/boot_interface', value }] })],
  ['PATCH', '/v1/nodes/{node}', (value) => ({ body: [{ op: 'add', path: `/${value}`, value: 1 }] })],
  ['PUT', '/v1/nodes/{node}/states/provision', (target) => ({ body: { target } })],
  ['PUT', '/v1/nodes/{node}/states/power', (target) => ({ body: { target } })],
  ['PUT', '/v1/nodes/{node}/states/boot_mode', (target) => ({ body: { target } })],
  ['PUT', '/v1/nodes/{node}/management/boot_device', (boot_device) => ({ body: { boot_device } })],
  ['PUT', '/v1/nodes/{node}/management/indicators/NAME', (state) => ({ body: { state } })],
  ['PUT', '/v1/nodes/{node}/states/raid', (raid_level) => ({ body: { logical_disks: [{ size_gb: 1, raid_level }] } })],
  ['POST', '/v1/nodes/{node}/vmedia', (device_type) => ({ body: { device_type, image_url: 'https://192.0.2.1/x' } })],
  ['POST', '/v1/nodes/{node}/vendor_passthru?method=NAME', () => ({ body: {} })],
  [
    'POST',
    '/v1/ports',
    (key) => ({ raw: `{"node_uuid":"{node}","address":"52:54:00:00:00:aa","local_link_connection":{"${key}":"x"}}` }),
  ],
  [
    'POST',
    '/v1/volume/targets',
    (volume_type) => ({ body: { node_uuid: '{node}', volume_type, volume_id: 'x', boot_index: 0, properties: {} } }),
  ],
  [
    'POST',
    '/v1/runbooks',
    (step) => ({
      body: {
        name: `CUSTOM_${step.toUpperCase().replaceAll('_', 'X')}`,
        steps: [{ interface: 'power', step, args: {}, order: 1 }],
      },
    }),
  ],
  ['POST', '/v1/inspection_rules', (op) => ({ body: { actions: [{ op }] } })],
  [
    'POST',
    '/v1/inspection_rules',
    (path) => ({ body: { actions: [{ op: 'set-attribute', args: { path, value: 1 } }] } }),
  ],
  ['GET', '/temper/v1/runs?state=NAME', () => ({})],
  ['GET', '/temper/v1/policy/explain?rule=NAME', () => ({})],
];

test.each(asks)('%s %s answers such a name as any other text', async (method, path, request) => {
  for (const name of inherited) {
    const fill = worldOf(api, {});
    const { raw, ...given } = request(name);
    const filled = { ...(await fill(given)), ...(raw && { raw: JSON.parse(await fill(JSON.stringify(raw))) }) };
    const type = raw ? { headers: { 'content-type': 'application/json' } } : {};
    const reply = await api.as('operator', method, (await fill(path)).replace('NAME', name), { ...filled, ...type });
    expect([name, reply.status < 500, reply.status < 500 ? '' : reply.text]).toEqual([name, true, '']);
  }
  expect(api.log.filter((line) => (line as { level: string }).level === 'error')).toEqual([]);
});

test('no such name is a truth', async () => {
  for (const name of inherited)
    expect((await api.as('operator', 'GET', `/v1/nodes?maintenance=${name}`)).status).toBe(400);
});

test('a role of such a name implies no other', () => {
  expect(expandRoles(inherited)).toEqual(inherited);
});

test.each(inherited)('%s is no argument of a step in the form of a runbook', (name) => {
  const steps = [{ name: 'power.reboot', args: Object.fromEntries([[name, '{"x": 1}']]), temper: '' }];
  const { steps: given, faults } = givenSteps({ name: 'n', description: '', steps });
  const [{ args }] = given as [{ args: object }];
  expect([faults, Object.getOwnPropertyNames(args), Object.getPrototypeOf(args)]).toEqual([[], [], Object.prototype]);
});
