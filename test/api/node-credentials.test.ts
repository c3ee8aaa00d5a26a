/** Stored BMC credentials stay with the BMC they were given for, unless an operator moves them. */
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { projectAdminCanManageOwnNodes: true } });
  await addWorker(api.sql);
});
afterAll(() => api.close());

const stored = {
  redfish_address: 'https://192.0.2.7/bmc/1',
  redfish_username: 'admin',
  redfish_password: 'hunter2',
  redfish_verify_ca: true,
};
const enrol = async (more: Record<string, unknown> = {}) => {
  await api.sql`delete from nodes`;
  await api.as('operator', 'POST', '/v1/nodes', {
    body: { name: 'n1', driver: 'redfish', owner, driver_info: { ...stored, ...more } },
  });
};
beforeEach(() => enrol());

type Operation = { readonly op: string; readonly path: string; readonly value?: unknown };
const patch = (who: Persona, body: readonly Operation[], query = '') =>
  api.as(who, 'PATCH', `/v1/nodes/n1${query}`, { body });
const info = (values: Record<string, unknown>): Operation[] =>
  Object.entries(values).map(([key, value]) => ({ op: 'add', path: `/driver_info/${key}`, value }));
const storedInfo = async () => (await api.sql`select driver_info from nodes where name = 'n1'`)[0]!.driver_info;

const moves: readonly [string, readonly Operation[]][] = [
  ['another host', info({ redfish_address: 'https://203.0.113.9/bmc/1' })],
  ['another port', info({ redfish_address: 'https://192.0.2.7:8443/bmc/1' })],
  ['another scheme', info({ redfish_address: 'http://192.0.2.7/bmc/1' })],
  ['another prefix', info({ redfish_address: 'https://192.0.2.7/bmc/2' })],
  ['no check of certificates', info({ redfish_verify_ca: false })],
  ['no check of certificates, as a text', info({ redfish_verify_ca: 'no' })],
  [
    'another host, with the mask of the password',
    [
      {
        op: 'replace',
        path: '/driver_info',
        value: { redfish_address: 'evil.example.org', redfish_password: '******' },
      },
    ],
  ],
];

describe.each(moves)('%s', (_, operations) => {
  test('is refused to a project that keeps the password, and nothing is stored', async () => {
    const before = await storedInfo();
    const reply = await patch('owner-admin', operations);
    expect([reply.status, faultOf(reply)]).toEqual([
      400,
      expect.stringMatching(
        /^driver_info: changing redfish_(address|verify_ca) needs the password again: send redfish_password in the same request$/,
      ),
    ]);
    expect(await storedInfo()).toEqual(before);
  });

  test('is open to a project that gives the password again', async () => {
    const reply = await patch('owner-admin', [...operations, ...info({ redfish_password: 'hunter3' })]);
    expect(reply.status).toBe(200);
  });

  test('is open to operators, and the audit names the rule', async () => {
    expect((await patch('system-member', operations)).status).toBe(200);
    const [line] = await api.sql`select rule from audit where action = 'node.update' order by seq desc limit 1`;
    expect(line!.rule).toMatch(/^baremetal:node:update:driver_info, .*temper:node:move_credentials$/);
  });
});

test.each([
  ['the same address in other words', info({ redfish_address: 'HTTPS://192.0.2.7:443/bmc/1/redfish/v1/' })],
  ['the same trust in other words', info({ redfish_verify_ca: 'yes' })],
  ['another account', info({ redfish_username: 'root' })],
  ['another system', info({ redfish_system_id: '/redfish/v1/Systems/2' })],
  ['no address', [{ op: 'remove', path: '/driver_info/redfish_address' }]],
  [
    'no password and another host',
    [{ op: 'remove', path: '/driver_info/redfish_password' }, ...info({ redfish_address: 'https://203.0.113.9' })],
  ],
])('%s needs no password again', async (_, operations) => {
  expect((await patch('owner-admin', operations)).status).toBe(200);
});

test('a password is not moved in two requests either', async () => {
  await patch('owner-admin', [{ op: 'remove', path: '/driver_info/redfish_address' }]);
  const reply = await patch('owner-admin', info({ redfish_address: 'https://203.0.113.9' }));
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('changing redfish_address')]);
});

test('another driver does not take a stored password over', async () => {
  const toFake = [{ op: 'replace', path: '/driver', value: 'fake-hardware' }];
  const reply = await patch('owner-admin', toFake, '?reset_interfaces=true');
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('changing driver')]);
  expect((await patch('operator', toFake, '?reset_interfaces=true')).status).toBe(200);
  await patch('owner-admin', info({ redfish_address: 'https://203.0.113.9' }));
  const back = await patch(
    'owner-admin',
    [{ op: 'replace', path: '/driver', value: 'redfish' }],
    '?reset_interfaces=true',
  );
  expect([back.status, faultOf(back)]).toEqual([400, expect.stringContaining('changing driver')]);
});

test('more trust needs no password again', async () => {
  await enrol({ redfish_verify_ca: false });
  expect((await patch('owner-admin', info({ redfish_verify_ca: true }))).status).toBe(200);
});

describe('a CA path is a file on the workers', () => {
  const path = '/etc/ca/bmc.pem';
  const says =
    'driver_info.redfish_verify_ca: must be true or false; a path is a file on the workers, which only an operator may name';

  test('which a project does not name, not even with the password', async () => {
    const reply = await patch('owner-admin', info({ redfish_verify_ca: path, redfish_password: 'hunter3' }));
    expect([reply.status, faultOf(reply)]).toEqual([400, says]);
    const made = await api.as('owner-admin', 'POST', '/v1/nodes', {
      body: { name: 'n2', driver: 'redfish', driver_info: { ...stored, redfish_verify_ca: path } },
    });
    expect([made.status, faultOf(made)]).toEqual([400, says]);
  });

  test('which an operator names, and a project leaves as it is', async () => {
    expect((await patch('operator', info({ redfish_verify_ca: path }))).status).toBe(200);
    expect((await patch('owner-admin', info({ redfish_username: 'root' }))).status).toBe(200);
    const reply = await patch('owner-admin', info({ redfish_verify_ca: true }));
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('changing redfish_verify_ca')]);
  });
});

test('a system id that names another host is refused when it is written', async () => {
  const url = 'http://10.9.9.9/redfish/v1/Systems/1';
  const reply = await patch('operator', info({ redfish_system_id: url }));
  expect([reply.status, faultOf(reply)]).toEqual([
    400,
    expect.stringContaining('redfish_system_id must be a path at the BMC'),
  ]);
  const made = await api.as('operator', 'POST', '/v1/nodes', {
    body: { driver: 'redfish', driver_info: { ...stored, redfish_system_id: url } },
  });
  expect(made.status).toBe(400);
});

test('under the other rule sets the password is as safe', async () => {
  for (const set of ['ironic', 'temper'] as const) {
    api.setPolicy({ set });
    expect((await patch('owner-admin', moves[0]![1])).status).toBe(400);
  }
});

describe('over IPMI', () => {
  const bridged = {
    ipmi_bridging: 'single',
    ipmi_target_channel: '7',
    ipmi_target_address: '0x20',
  };
  const enrolIpmi = async (more: Record<string, unknown> = {}) => {
    await api.sql`delete from nodes`;
    const driver_info = { ipmi_address: '192.0.2.7', ipmi_username: 'root', ipmi_password: 'hunter2', ...more };
    const made = await api.as('operator', 'POST', '/v1/nodes', {
      body: { name: 'n1', driver: 'ipmi', owner, driver_info },
    });
    expect(made.status).toBe(201);
  };

  const losses: readonly [string, Record<string, unknown>, Record<string, unknown>, string][] = [
    ['another host', {}, { ipmi_address: '203.0.113.9' }, 'ipmi_address'],
    ['another port', {}, { ipmi_port: 6230 }, 'ipmi_address'],
    ['the older protocol', {}, { ipmi_protocol_version: '1.5' }, 'ipmi_protocol_version'],
    [
      'the older protocol instead of the newer',
      { ipmi_protocol_version: '2.0' },
      { ipmi_protocol_version: '1.5' },
      'ipmi_protocol_version',
    ],
    ['a bridge where was none', {}, bridged, 'ipmi_bridging'],
    ['no bridge any more', bridged, { ipmi_bridging: 'no' }, 'ipmi_bridging'],
    ['a bridge to another address', bridged, { ipmi_target_address: '0x24' }, 'ipmi_bridging'],
    ['a bridge over another channel', bridged, { ipmi_target_channel: '6' }, 'ipmi_bridging'],
    [
      'a bridge over one more BMC',
      bridged,
      { ipmi_bridging: 'dual', ipmi_transit_channel: '0', ipmi_transit_address: '0x82' },
      'ipmi_bridging',
    ],
  ];

  test.each(losses)('%s is refused to a project that keeps the password', async (_, before, change, field) => {
    await enrolIpmi(before);
    const had = await storedInfo();
    const reply = await patch('owner-admin', info(change));
    expect([reply.status, faultOf(reply)]).toEqual([
      400,
      `driver_info: changing ${field} needs the password again: send ipmi_password in the same request`,
    ]);
    expect(await storedInfo()).toEqual(had);
  });

  test.each(losses)(
    '%s is open to a project that gives the password again, and to operators',
    async (_, before, change) => {
      await enrolIpmi(before);
      expect((await patch('owner-admin', info({ ...change, ipmi_password: 'hunter3' }))).status).toBe(200);
      await enrolIpmi(before);
      expect((await patch('system-member', info(change))).status).toBe(200);
      const [line] = await api.sql`select rule from audit where action = 'node.update' order by seq desc limit 1`;
      expect(line!.rule).toMatch(/^baremetal:node:update:driver_info, .*temper:node:move_credentials$/);
    },
  );

  test.each([
    ['the newer protocol', { ipmi_protocol_version: '1.5' }, { ipmi_protocol_version: '2.0' }],
    ['the default protocol, named', {}, { ipmi_protocol_version: '2.0' }],
    ['the same bridge in other words', bridged, { ipmi_target_address: '32' }],
    ['hops that no bridge uses', {}, { ipmi_target_channel: '7', ipmi_transit_address: '0x82' }],
    ['another privilege', {}, { ipmi_priv_level: 'OPERATOR' }],
  ])('%s needs no password again', async (_, before, change) => {
    await enrolIpmi(before);
    expect((await patch('owner-admin', info(change))).status).toBe(200);
  });
});
