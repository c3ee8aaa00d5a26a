/** Notifications from a real feed: their place, what becomes of deleted rows, repeats after failures, and what is masked. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { EventRow } from '../../src/inventory/events';
import type { EventKind } from '../../src/model/resources/event-kinds';
import { type NotificationDeps, runNotifications, sendOnce } from '../../src/notifications';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let api: Inventory;
let reader: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 3 });
  api = createInventory(connect(database.apiUrl, { max: 2 }));
  reader = createInventory(connect(database.notificationsUrl, { max: 4 }));
});
afterAll(async () => {
  await api?.close();
  await reader?.close();
  await owner?.end({ timeout: 1 });
  await database?.drop();
});

type Message = ReturnType<typeof JSON.parse>;
let sent: Message[] = [];
let warned: string[] = [];
let counted: Record<string, number> = {};

const parsed = (body: string): Message => {
  const envelope = JSON.parse(body);
  expect(envelope['oslo.version']).toBe('2.0');
  return JSON.parse(envelope['oslo.message']);
};

const broker = {
  send: async (messages: readonly { body: string }[]) => void sent.push(...messages.map((one) => parsed(one.body))),
};
const away = { send: async () => Promise.reject(new Error('RabbitMQ closed the connection')) };

const depsWith = (more: Partial<NotificationDeps> = {}): NotificationDeps => ({
  inventory: reader,
  connect: async () => ({ ...broker, close: async () => {} }),
  log: { info() {}, warn: (text) => void warned.push(text) },
  host: 'temper.example.org',
  level: 'info',
  onSent: (outcome, count) => {
    counted[outcome] = (counted[outcome] ?? 0) + count;
  },
  ...more,
});

/** Waits until older transactions, which other tests on the server have, keep no event back. */
const settled = async (): Promise<void> => {
  for (;;) {
    const [row] = await owner`select 1 from events where tx >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
    if (!row) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
const send = async (deps = depsWith(), to: Pick<typeof broker, 'send'> = broker): Promise<void> => {
  await settled();
  while (await sendOnce(deps, to));
};

beforeEach(async () => {
  await send();
  await owner`delete from nodes`;
  [sent, warned, counted] = [[], [], {}];
});

const enrol = async (values: Record<string, unknown> = {}): Promise<string> => {
  const uuid = randomUUID();
  const columns = {
    uuid,
    driver: 'fake-hardware',
    provision_state: 'enroll',
    name: `n-${uuid.slice(0, 8)}`,
    ...values,
  };
  await owner`insert into nodes ${owner(columns as never)}`;
  return uuid;
};
const happens = (kind: EventKind, node_uuid: string | null, data: EventRow['data'] = {}) =>
  api.events.append({ kind, node_uuid, data });
const types = () => sent.map(({ event_type }) => event_type.replace('baremetal.', ''));
const dataOf = (message: Message) => message.payload['ironic_object.data'];

test('an event is sent in the envelope, with the versioned payload, and once', async () => {
  const uuid = await enrol({ traits: ['CUSTOM_GPU'], extra: owner.json({ rack: 7 }) as never });
  await happens('node.updated', uuid, { node_uuid: uuid, changed: { extra: {} } });
  await send();
  await send();
  expect(types()).toEqual(['node.update.start', 'node.update.end']);
  expect(sent[1]).toMatchObject({
    publisher_id: 'ironic-api.temper.example.org',
    priority: 'INFO',
    message_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/),
    payload: {
      'ironic_object.name': 'NodeCRUDPayload',
      'ironic_object.namespace': 'ironic',
      'ironic_object.version': '1.15',
    },
  });
  expect(dataOf(sent[1])).toMatchObject({
    uuid,
    traits: ['CUSTOM_GPU'],
    extra: { rack: 7 },
    provision_state: 'enroll',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    updated_at: null,
    chassis_uuid: null,
  });
});

test('a broker that is away loses nothing, and the order of a node stays; repeats have the same ids', async () => {
  const uuid = await enrol();
  for (const kind of ['node.updated', 'node.maintenance.set', 'node.maintenance.cleared'] as const)
    await happens(kind, uuid, { node_uuid: uuid });
  await settled();
  await expect(sendOnce(depsWith(), away)).rejects.toThrow('closed');
  // Taken, and the process is killed before its place is written.
  const killed = depsWith({
    inventory: {
      ...reader,
      notifications: { ...reader.notifications, move: () => Promise.reject(new Error('killed')) },
    },
  });
  await expect(sendOnce(killed, broker)).rejects.toThrow('killed');
  const first = [...sent];
  sent = [];
  await send();
  expect(types()).toEqual([
    'node.update.start',
    'node.update.end',
    'node.maintenance_set.start',
    'node.maintenance_set.end',
    'node.maintenance_set.start',
    'node.maintenance_set.end',
  ]);
  expect(sent).toEqual(first);
  expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(6);
});

test('one who was late writes no place behind that of another', async () => {
  const uuid = await enrol();
  await happens('node.updated', uuid, { node_uuid: uuid });
  await settled();
  const overtaken = { send: async () => send() };
  await expect(sendOnce(depsWith(), overtaken)).rejects.toThrow('another process has sent');
  const place = await reader.notifications.place();
  await send();
  expect(await reader.notifications.place()).toEqual(place);
});

test('a deleted row is told of as it was, also where its UUID is used again, and then forgotten', async () => {
  const uuid = await enrol({ description: 'the first' });
  await happens('node.updated', uuid, { node_uuid: uuid });
  await owner.begin(async (tx) => {
    await tx`delete from nodes where uuid = ${uuid}`;
    await tx`insert into events (kind, node_uuid) values ('node.deleted', ${uuid})`;
  });
  await enrol({ uuid, description: 'the second' });
  await happens('node.updated', uuid, { node_uuid: uuid });
  await send();
  expect(sent.map((one) => [one.event_type, dataOf(one).description])).toEqual([
    ['baremetal.node.update.start', 'the first'],
    ['baremetal.node.update.end', 'the first'],
    ['baremetal.node.delete.start', 'the first'],
    ['baremetal.node.delete.end', 'the first'],
    ['baremetal.node.update.start', 'the second'],
    ['baremetal.node.update.end', 'the second'],
  ]);
  await happens('node.updated', uuid, { node_uuid: uuid });
  await send();
  expect(await owner`select from notification_remains`).toHaveLength(0);
});

test('of a row that left no remains, the UUID is told', async () => {
  const uuid = randomUUID();
  await happens('port.deleted', null, { port_uuid: uuid });
  await send();
  expect(types()).toEqual(['port.delete.start', 'port.delete.end']);
  expect(dataOf(sent[0])).toMatchObject({ uuid, address: null });
});

test('an installation that gave the process up keeps no deleted rows', async () => {
  await reader.notifications.place();
  await owner`update notification_place set looked_at = now() - interval '40 days'`;
  const uuid = await enrol();
  await owner`delete from nodes where uuid = ${uuid}`;
  expect(await owner`select from notification_remains where uuid = ${uuid}`).toHaveLength(0);
  await reader.notifications.place();
  const again = await enrol();
  await owner`delete from nodes where uuid = ${again}`;
  expect(await owner`select from notification_remains where uuid = ${again}`).toHaveLength(1);
});

test('secrets are masked, those that lie elsewhere too, and no value is longer than a broker takes', async () => {
  const uuid = await enrol({
    driver_info: owner.json({
      redfish_password: { $secret: randomUUID() },
      redfish_username: 'admin',
      snmp_token: '',
    }) as never,
    instance_info: owner.json({
      image_url: 'http://u:p@h/i',
      configdrive: 'H4sI',
      image_source: 'http://u:hunter2@h/i',
    }) as never,
    clean_step: owner.json({ step: 'x', args: { password: 'hunter2' } }) as never,
    extra: owner.json({ long: 'x'.repeat(300_000) }) as never,
  });
  await happens('node.updated', uuid, { node_uuid: uuid });
  await send();
  expect(dataOf(sent[1])).toMatchObject({
    driver_info: { redfish_password: '******', redfish_username: 'admin', snmp_token: '******' },
    instance_info: { image_url: '******', configdrive: '******', image_source: 'http://u:******@h/i' },
    clean_step: { step: 'x', args: { password: '******' } },
    extra: { $bytes: expect.any(Number), $sha256: expect.any(String) },
  });
  expect(JSON.stringify(sent)).not.toContain('hunter2');
});

test('documents that Ironic does not publish are not published', async () => {
  const node_uuid = await enrol();
  const [target] = await owner<{ uuid: string }[]>`
    insert into volume_targets (node_uuid, volume_type, volume_id, boot_index, properties)
    values (${node_uuid}, 'iscsi', 'v', 0, ${owner.json({ auth_password: 'hunter2' })}) returning uuid`;
  await happens('volume_target.created', node_uuid, { volume_target_uuid: target!.uuid });
  await send();
  expect(dataOf(sent[1])).toMatchObject({ node_uuid, properties: { redacted_contents: expect.any(String) } });
  expect(JSON.stringify(sent)).not.toContain('hunter2');
});

test('below the level nothing is sent; the place moves on', async () => {
  const uuid = await enrol();
  await happens('node.updated', uuid, { node_uuid: uuid });
  await happens('run.failed', uuid, { from: 'deploying', to: 'deploy failed', error: 'no disk' });
  await send(depsWith({ level: 'error' }));
  expect(types()).toEqual(['node.provision_set.error']);
  expect(sent[0].priority).toBe('ERROR');
  await send();
  expect(sent).toHaveLength(1);
});

test('an event without a notification stops none behind it', async () => {
  const uuid = await enrol();
  await happens('node.updated', uuid, { node_uuid: uuid });
  await happens('node.maintenance.set', uuid, { maintenance: true });
  const rows = reader.notifications.rows;
  let first = true;
  const broken: typeof rows = async (subjects) => {
    const found = await rows(subjects);
    return (...of: Parameters<typeof found>) => {
      if (!first) return found(...of);
      first = false;
      throw new Error('odd row');
    };
  };
  await send(depsWith({ inventory: { ...reader, notifications: { ...reader.notifications, rows: broken } } }));
  expect(types()).toEqual(['node.maintenance_set.start', 'node.maintenance_set.end']);
  expect([warned, counted]).toEqual([['no notification could be made of an event'], { failed: 1, sent: 2 }]);
});

test('its role reads no secret and changes nothing but its place', async () => {
  const sql = connect(database.notificationsUrl, { max: 1 });
  const refused = (statement: string) =>
    sql.unsafe(statement).then(
      () => 'went through',
      (error) => error.message,
    );
  for (const statement of [
    'select * from secrets',
    'select * from webhook_secrets',
    'select * from agents',
    'update nodes set name = null',
    'delete from events',
    `insert into events (kind) values ('node.updated')`,
    'update event_cursor set seq = 0',
    'select input from runs',
  ])
    expect([statement, await refused(statement)]).toEqual([statement, expect.stringContaining('permission denied')]);
  await sql.end();
});

test('of two processes one sends, and the other goes on when it ends', async () => {
  const uuid = await enrol();
  const [one, two] = [new AbortController(), new AbortController()];
  let connected = 0;
  const deps = depsWith({
    connect: async () => {
      connected += 1;
      return { ...broker, close: async () => {} };
    },
  });
  const until = async (enough: () => boolean) => {
    while (!enough()) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const first = runNotifications(deps, { signal: one.signal });
  await until(() => connected === 1);
  const ages: number[] = [];
  const second = runNotifications({ ...deps, onBehind: (age) => void ages.push(age) }, { signal: two.signal });
  await happens('node.updated', uuid, { node_uuid: uuid });
  await until(() => sent.length === 2);
  await until(() => ages.at(-1) === 0); // also while the other one sends
  one.abort();
  await first;
  await happens('node.updated', uuid, { node_uuid: uuid });
  await until(() => sent.length === 4);
  expect(connected).toBe(2);
  two.abort();
  await second;
});

test('behind is the age of the oldest event that waits', async () => {
  const uuid = await enrol();
  expect(await reader.notifications.behindSeconds()).toBe(0);
  await happens('node.updated', uuid, { node_uuid: uuid });
  await settled();
  expect(await reader.notifications.behindSeconds()).toBeGreaterThan(0);
  await send();
  expect(await reader.notifications.behindSeconds()).toBe(0);
  expect(await reader.notifications.standing()).toMatchObject({ silentSeconds: expect.any(Number) });
});
