/** Firmware over the nodes that a caller may see, and a baseline that nodes are brought to. */
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

const url = 'https://images.example.org/x.bin';
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { imageOrigins: ['https://images.example.org'] } });
  await api.sql`insert into workers (hostname, conductor_group, drivers, role) values ('w', '', ${['redfish']}, 'bmc')`;
  const nodes = [
    { name: 'a', owner, vendor: 'Dell Inc.', version: '2.1' },
    { name: 'b', owner, vendor: 'Dell Inc.', version: '2.2' },
    { name: 'c', owner: stranger, vendor: 'Dell Inc.', version: '2.1' },
    { name: 'd', owner, vendor: null, version: null },
  ];
  for (const { name, owner: of, vendor, version } of nodes) {
    const [row] = await api.sql<{ uuid: NodeUuid }[]>`
      insert into nodes (name, driver, provision_state, owner, lessee, driver_info, properties)
      values (${name}, 'redfish', 'manageable', ${of}, ${name === 'b' ? lessee : null}, ${api.sql.json({ redfish_address: 'https://192.0.2.7' })},
        ${api.sql.json(vendor ? { vendor, model: 'R760' } : {})}) returning uuid`;
    if (version)
      await api.inventory.details.write(row!.uuid, { firmware: [{ component: 'bios', current_version: version }] });
  }
});
afterAll(() => api?.close());
beforeEach(() => {
  api.runs.started.length = 0;
});

const versions = async (who: Persona, query = '') => {
  const { status, body } = await api.as(who, 'GET', `/temper/v1/firmware${query}`);
  return status === 200
    ? body.firmware.map((one: { version: string; nodes: number }) => `${one.version} ${one.nodes}`)
    : status;
};

test.each([
  ['operator', ['2.1 2', '2.2 1']],
  ['owner-reader', ['2.1 1', '2.2 1']],
  ['lessee-reader', ['2.2 1']],
  ['stranger-admin', ['2.1 1']],
  ['stranger-roleless' as Persona, 403],
] as const)('%s sees what its nodes have', async (who, expected) => {
  expect(await versions(who)).toEqual(expected);
});

test('by vendor, model and component', async () => {
  const [row] = (await api.as('owner-reader', 'GET', '/temper/v1/firmware')).body.firmware;
  expect(row).toEqual({ vendor: 'Dell Inc.', model: 'R760', component: 'bios', version: '2.1', nodes: 1 });
  expect(await versions('operator', '?vendor=dell%20inc.&model=r760&component=bios')).toEqual(['2.1 2', '2.2 1']);
  expect(await versions('operator', '?component=bmc')).toEqual([]);
  expect(await versions('operator', '?limit=1')).toEqual(['2.1 2']);
  expect(await versions('operator', '?serial=x')).toBe(400);
});

describe('a baseline', () => {
  const baseline = [{ vendor: 'dell inc.', components: { bios: { version: '2.2', url } } }];
  const plan = (node: string, temper: object = { baseline }, who: Persona = 'operator', more: object = {}) =>
    api.as(who, 'POST', `/temper/v1/nodes/${node}/plan`, { body: { target: 'clean', temper, ...more } });
  const provision = (node: string, who: Persona = 'operator') =>
    api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { body: { target: 'clean', temper: { baseline } } });

  test('is brought to a node that differs, by the step that a caller would have given', async () => {
    const { body } = await plan('a');
    expect(body).toMatchObject({
      would_run: true,
      firmware: [{ component: 'bios', current: '2.1', wanted: '2.2', url }],
      steps: [{ interface: 'firmware', step: 'update', args: { settings: [{ component: 'bios', url }] } }],
    });
    expect((await provision('a')).status).toBe(202);
    expect(api.runs.started[0]!.steps).toMatchObject([{ interface: 'firmware', step: 'update' }]);
  });

  test('leaves a node alone that has it', async () => {
    const { body } = await plan('b');
    expect(body).toMatchObject({ would_run: false, firmware: [], steps: [] });
    expect(body.refusals).toMatchObject([{ code: 'firmware_current', status: 409 }]);
    const reply = await provision('b');
    expect([reply.status, faultOf(reply)]).toEqual([409, body.refusals[0].reason]);
    expect(api.runs.started).toEqual([]);
  });

  test('a node that was never inspected is refused with what to do', async () => {
    const wide = [{ components: { bios: { version: '2.2', url } } }];
    expect((await plan('d', { baseline: wide })).body.refusals[0].reason).toContain('inspect it first');
  });

  test('needs the rules of free steps, and of reading firmware', async () => {
    expect((await provision('a', 'owner-member')).status).toBe(403);
    const overrides = { 'baremetal:node:firmware:get': '!' };
    api.setPolicy({ set: 'temper', overrides });
    const { body } = await plan('a', { baseline }, 'owner-manager');
    expect(body.refusals[0]).toMatchObject({ code: 'rule', rule: 'baremetal:node:firmware:get' });
    expect(body.firmware).toEqual([]);
    api.setPolicy({ set: 'temper' });
  });

  test('images come from allowed origins only', async () => {
    const elsewhere = [{ components: { bios: { version: '9', url: 'https://evil.example.org/x' } } }];
    expect((await plan('a', { baseline: elsewhere })).body.refusals).toMatchObject([{ code: 'origin' }]);
  });

  test.each([
    ['with a runbook', { runbook: 'X' }, 'comes without a runbook'],
    ['with steps', { clean_steps: [] }, 'comes without a runbook'],
    ['with a verb without steps', { target: 'provide' }, 'is not possible with provide'],
    ['of nothing', { temper: { baseline: [{ components: {} }] } }, 'at least one component'],
  ])('%s is refused', async (_, more, text) => {
    const reply = await plan('a', { baseline }, 'operator', more);
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(text)]);
  });
});
