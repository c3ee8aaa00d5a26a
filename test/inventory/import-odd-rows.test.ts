/** An import from a database with rows that no API would have taken: each is refused by its name, and the others are taken. */
import { importIronic } from '../../src/import';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { below, node, sourceOf, uuid } from '../support/ironic-rows';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

let database: TestDatabase;
let inventory: Inventory;

beforeAll(async () => {
  database = await testDatabase();
  inventory = createInventory(connect(database.apiUrl, { max: 2 }));
});
afterAll(async () => {
  await inventory.close();
  await database.drop();
});

// JSON that cannot be made a text or a number of as others are.
const object = '{"toString": 1, "valueOf": 1}';
const noText = `{"ipmi_address": "10.0.0.1", "ipmi_port": ${object}, "ipmi_bridging": ${object}, "ipmi_protocol_version": ${object}}`;

const secret = '{"auth_password": {"$secret": "22222222-2222-4333-8444-000000000001"}}';

test('odd rows are refused one by one, and keep no other from being taken', async () => {
  const source = sourceOf({
    nodes: [
      node(1, 'cut-off', { extra: '{"a": ' }),
      node(2, 'a-list', { properties: '[1]' }),
      node(3, 'nul', { extra: '{"a": "\\u0000"}' }),
      node(4, 'nul-text', { description: 'a\0b' }),
      node(5, 'surrogate', { instance_info: '{"a": "\\ud800"}' }),
      node(6, 'no-uuid', { uuid: 'six' }),
      node(7, 'no-time', { provision_updated_at: new Date(Number.NaN) }),
      node(8, 'good'),
      node(9, 'deep', { extra: `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}` }),
      node(10, 'bytes', { driver_info: Buffer.from('{"redfish_address": "https://bmc"}') }),
      node(11, 'long', { resource_class: Array.from({ length: 9_000 }, (_, nth) => nth.toString(36)).join('') }),
      node(13, 'long-number', { properties: '{"serial": 12345678901234567890, "cpus": 8}' }),
      node(12, 'no-text', { driver: 'ipmi', driver_info: noText }),
    ],
    ports: [
      below(21, 8, { address: '00:00:5e:00:53:01', extra: 'null' }),
      below(22, 8, { address: '00:00:5e:00:53:02', local_link_connection: '"text"' }),
      below(26, 8, { address: null }),
    ],
    volume_targets: [
      below(23, 8, { volume_type: 'iscsi', volume_id: '1', boot_index: 0, properties: secret }),
      below(24, 8, { volume_type: 'iscsi', volume_id: '2', boot_index: 1, properties: '{}' }),
      below(25, 8, { volume_type: 'iscsi', volume_id: '3', boot_index: 2 ** 40, properties: '{}' }),
    ],
    runbooks: [{ id: 31, uuid: uuid(31), name: 'CUSTOM_X', extra: '{' }],
    runbook_steps: [{ runbook_id: 31, interface: 'bios', step: 'factory_reset', order: 1, args: '{}' }],
  });
  const wish = { dryRun: false };
  const { counts, lines } = await importIronic(source, { inventory, sealer: testVault, user: 'tester' }, wish);
  const refused = lines.filter(({ is }) => is === 'refused').map(({ uuid: id, reason }) => [id, reason]);
  const stored = (text: string) =>
    expect.stringMatching(new RegExp(`^Temper’s database does not take it \\(${text}.*in Ironic`));
  expect(Object.fromEntries(refused)).toEqual({
    [uuid(1)]: expect.stringMatching(/^its extra is no JSON object.*in Ironic/),
    [uuid(13)]: expect.stringMatching(/^its properties has the number 12345678901234567890, beyond 2\^53.*in Ironic/),
    [uuid(2)]: expect.stringMatching(/^its properties is no JSON object.*in Ironic/),
    [uuid(3)]: stored('unsupported Unicode escape sequence: .*u0000'),
    [uuid(4)]: stored('invalid byte sequence'),
    [uuid(5)]: stored('invalid input syntax for type json: Unicode'),
    [uuid(9)]: expect.stringMatching(/^its extra has lists and objects deeper than 1000.*in Ironic/),
    [uuid(10)]: expect.stringMatching(/^its driver_info is not stored as text.*in Ironic/),
    [uuid(11)]: stored('index row'),
    [uuid(26)]: expect.stringMatching(/^it has no address.*in Ironic/),
    six: stored('invalid input syntax for type uuid: "six"'),
    [uuid(22)]: expect.stringMatching(/^its local_link_connection is no JSON object/),
    [uuid(23)]: 'an object with the single key $secret is reserved',
    [uuid(25)]: stored('.*out of range'),
    [uuid(31)]: expect.stringMatching(/^its extra is no JSON object/),
  });
  expect(counts.node).toMatchObject({ new: 3, refused: 10 });
  expect(counts.port).toMatchObject({ new: 1, refused: 2 });
  expect(counts['volume target']).toMatchObject({ new: 1, refused: 2 });
});

test('a node that Ironic may still drive is refused, unless the caller says that its conductors are stopped', async () => {
  const source = sourceOf({
    nodes: [
      node(41, 'driven', { maintenance: false }),
      node(42, 'left-alone'),
      // Ironic looks at such a node every few minutes, and ends its maintenance itself.
      node(43, 'no-power', { fault: 'power failure' }),
      node(44, 'no-clean', { fault: 'clean failure' }),
      node(45, 'moving', { maintenance: false, provision_state: 'cleaning' }),
    ],
    ports: [below(51, 41, { address: '00:00:5e:00:53:41' })],
  });
  const context = { inventory, sealer: testVault, user: 'tester' };
  for (const dryRun of [true, false]) {
    const { counts, lines } = await importIronic(source, context, { dryRun });
    expect(
      Object.fromEntries(
        lines.flatMap(({ is, name, uuid: id, reason }) => (is === 'refused' ? [[name ?? id, reason]] : [])),
      ),
    ).toEqual({
      driven: expect.stringMatching(/not in maintenance in Ironic.*set maintenance there first/),
      'no-power': expect.stringMatching(/power failure.*ends automatically.*there/),
      moving: expect.stringMatching(/^it is moving/),
      [uuid(51)]: 'its node is not taken',
    });
    expect(counts.node).toMatchObject({ new: 2, refused: 3 });
  }
  const { counts } = await importIronic(source, context, { dryRun: false, ironicStopped: true });
  expect(counts.node).toMatchObject({ new: 2, same: 2, refused: 1 });
});

test('a node that was taken is refused to a repeat while Ironic may drive it', async () => {
  const context = { inventory, sealer: testVault, user: 'tester' };
  await importIronic(sourceOf({ nodes: [node(61, 'back')] }), context, { dryRun: false });
  const driven = sourceOf({ nodes: [node(61, 'back', { maintenance: false })] });
  expect((await importIronic(driven, context, { dryRun: false })).counts.node).toMatchObject({
    refused: 1,
    changed: 0,
  });
});
