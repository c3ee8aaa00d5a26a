/** What was last seen inside a node: BIOS settings, firmware, inventory; from the store alone. */
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner } from '../support/world';

let api: TestApi;
let uuid: NodeUuid;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
  const { body } = await api.as('operator', 'POST', '/v1/nodes', {
    body: { name: 'n1', driver: 'redfish', owner, lessee },
  });
  uuid = body.uuid;
});

const get = (part: string, minor?: number) => api.as('operator', 'GET', `/v1/nodes/${uuid}/${part}`, { minor });
const write = (seen: Parameters<TestApi['inventory']['details']['write']>[1]) =>
  api.inventory.details.write(uuid, seen);

const bios = [
  {
    name: 'ProcTurbo',
    value: 'Enabled',
    attribute_type: 'Enumeration',
    allowable_values: ['Enabled', 'Disabled'],
    read_only: false,
  },
  { name: 'BootCount', value: '3', attribute_type: 'Integer', lower_bound: 0, upper_bound: 9 },
  { name: 'AdminPassword', value: 'hunter2' },
];
const firmware = [
  { component: 'bios', current_version: '1.0', vendor: 'Acme' },
  { component: 'bmc', current_version: '7.1' },
];

describe('BIOS settings', () => {
  test('nothing is known before the node was inspected', async () => {
    expect((await get('bios')).body).toEqual({ bios: [] });
    expect((await get('firmware')).body).toEqual({ firmware: [] });
  });

  test('they are listed by name and value, and in full on request', async () => {
    await write({ bios });
    const { body } = await get('bios');
    expect(body.bios.map(({ name }: { name: string }) => name)).toEqual(['ProcTurbo', 'BootCount', 'AdminPassword']);
    expect(body.bios[0]).toEqual({
      name: 'ProcTurbo',
      value: 'Enabled',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
      updated_at: null,
      links: [
        { href: `${api.url}/v1/nodes/${uuid}/bios/ProcTurbo`, rel: 'self' },
        { href: `${api.url}/nodes/${uuid}/bios/ProcTurbo`, rel: 'bookmark' },
      ],
    });
    const detailed = (await get('bios?detail=true')).body.bios;
    expect(detailed[0]).toMatchObject({ attribute_type: 'Enumeration', allowable_values: ['Enabled', 'Disabled'] });
    expect(detailed[1]).toMatchObject({ lower_bound: 0, upper_bound: 9, allowable_values: null, unique: null });
    expect((await get('bios?fields=value')).body.bios[1]).toEqual({ name: 'BootCount', value: '3' });
  });

  test('one is answered below its own name', async () => {
    await write({ bios });
    expect((await get('bios/BootCount')).body).toEqual({
      BootCount: expect.objectContaining({ name: 'BootCount', value: '3', upper_bound: 9, links: expect.any(Array) }),
    });
    expect(Object.keys((await get('bios/BootCount', 73)).body.BootCount).sort()).toEqual(
      'created_at links name updated_at value'.split(' '),
    );
    const missing = await get('bios/Nothing');
    expect([missing.status, faultOf(missing)]).toEqual([404, expect.stringContaining('Nothing')]);
  });

  test('a password among them is not shown', async () => {
    await write({ bios });
    for (const part of ['bios', 'bios?detail=true', 'bios/AdminPassword']) {
      const { text } = await get(part);
      expect(text).not.toContain('hunter2');
      expect(text).toContain('******');
    }
  });

  test('a value that changes gets a time, others keep theirs, and what is gone is gone', async () => {
    await write({ bios });
    const [before] = (await get('bios')).body.bios;
    await write({ bios: [{ ...bios[1]!, value: '4' }, bios[0]!] });
    const after = (await get('bios')).body.bios;
    expect(after.map(({ name, value }: Record<string, string>) => [name, value])).toEqual([
      ['BootCount', '4'],
      ['ProcTurbo', 'Enabled'],
    ]);
    expect(after[0].updated_at).not.toBeNull();
    expect(after[1]).toEqual(before);
  });

  test.each([
    ['bios', 39, 404],
    ['bios', 40, 200],
    ['bios/x', 39, 404],
    ['bios?detail=true', 73, 400],
    ['bios?fields=name', 73, 400],
    ['bios?fields=name', 74, 200],
    ['bios?fields=colour', 115, 400],
    ['bios?fields=name&detail=true', 115, 400],
    ['bios?limit=1', 115, 400],
    ['firmware', 85, 404],
    ['firmware', 86, 200],
    ['firmware?fields=vendor', 113, 400],
    ['firmware?fields=vendor', 114, 200],
    ['firmware?fields=colour', 115, 400],
    ['inventory', 80, 404],
  ])('%s at 1.%s is %s', async (part, minor, status) => {
    expect((await get(part, minor)).status).toBe(status);
  });
});

describe('firmware', () => {
  test('the first version is kept, and a changed one was flashed', async () => {
    await write({ firmware });
    await write({ firmware: [{ component: 'bios', current_version: '1.1' }, firmware[1]!] });
    await write({ firmware: [{ component: 'bios', current_version: '1.1' }, firmware[1]!] });
    const { body } = await get('firmware', 113);
    expect(body.firmware).toEqual([
      {
        component: 'bios',
        initial_version: '1.0',
        current_version: '1.1',
        last_version_flashed: '1.1',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      {
        component: 'bmc',
        initial_version: '7.1',
        current_version: '7.1',
        last_version_flashed: null,
        created_at: expect.any(String),
        updated_at: null,
      },
    ]);
  });

  test('from 1.114 it says whose it is', async () => {
    await write({ firmware });
    expect((await get('firmware', 114)).body.firmware[0]).toMatchObject({
      vendor: 'Acme',
      model: null,
      serial_number: null,
    });
  });

  test('a component that a BMC lists twice is one', async () => {
    await write({ firmware: [firmware[0]!, { component: 'bios', current_version: '2.0' }] });
    await write({ firmware: [{ component: 'bios', current_version: '2.1' }] });
    expect((await get('firmware')).body.firmware).toEqual([
      expect.objectContaining({ component: 'bios', initial_version: '2.0', current_version: '2.1' }),
    ]);
  });
});

describe('inventory', () => {
  test('it is what the last inspection found, secrets masked', async () => {
    expect((await get('inventory')).status).toBe(404);
    await write({ inventory: { cpu: { count: 4 } } });
    await write({ inventory: { cpu: { count: 8 } }, plugin_data: { token: 'abc' }, bios });
    expect((await get('inventory')).body).toEqual({
      inventory: { cpu: { count: 8 } },
      plugin_data: { token: '******' },
    });
    await write({ inventory: { cpu: { count: 9 } } });
    expect((await get('inventory')).body).toEqual({ inventory: { cpu: { count: 9 } }, plugin_data: {} });
    expect((await get('bios')).body.bios).toHaveLength(3);
  });
});

test('each role’s part: the BMC workers and the control workers may write, and a node takes its details with it', async () => {
  await write({ bios, firmware, inventory: {} });
  await api.as('operator', 'DELETE', `/v1/nodes/${uuid}`);
  expect(await api.sql`select 1 from node_details`).toHaveLength(0);
  for (const role of ['temper_bmc', 'temper_control'])
    for (const right of ['select', 'insert', 'update'])
      expect((await api.sql`select has_table_privilege(${role}, 'node_details', ${right}) as may`)[0]).toEqual({
        may: true,
      });
});

test.each([
  //               bios firmware inventory
  ['operator', 200, 200, 200],
  ['system-reader', 200, 200, 200],
  ['owner-reader', 200, 200, 200],
  ['lessee-reader', 200, 200, 403],
  ['lessee-admin', 200, 200, 403],
  ['stranger-admin', 404, 404, 404],
] as const)('%s: bios %s, firmware %s, inventory %s', async (who, ...statuses) => {
  await write({ bios, firmware, inventory: {} });
  const got = [];
  for (const part of ['bios', 'firmware', 'inventory'])
    got.push((await api.as(who, 'GET', `/v1/nodes/n1/${part}`)).status);
  expect(got).toEqual(statuses);
  const one = await api.as(who, 'GET', '/v1/nodes/n1/bios/ProcTurbo');
  expect(one.status).toBe(statuses[0]);
});
