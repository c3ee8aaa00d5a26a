/** Telling others of events: what is sent and how it is signed, what is tried again, and where nothing goes. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import http, { createServer, type IncomingHttpHeaders, type RequestOptions, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HTTP } from 'cloudevents';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { CountedEvent } from '../../src/inventory/feed';
import { createVault } from '../../src/inventory/secrets/vault';
import type { ProjectId } from '../../src/model/ids';
import { deliveryAttempts, deliveryPauseMs } from '../../src/model/resources/webhooks';
import { sendWebhook } from '../../src/runs/webhook-sender';
import {
  deliverOnce,
  forgetDeliveries,
  type NotifyDeps,
  readEvents,
  runWebhookDelivery,
} from '../../src/runs/webhooks';
import { logOf, storeOf } from '../support/run-doubles';
import { type TestDatabase, testDatabase } from '../support/servers';

type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

let database: TestDatabase;
let owner: Sql;
let control: Inventory;
let receiver: Server;
let origin: string;
const received: Received[] = [];
let answers: { status: number; headers?: Record<string, string> } = { status: 204 };

const vault = createVault(new Map([['test', Buffer.alloc(32, 9)]]));
const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const older = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const never = new AbortController().signal;

beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 3 });
  control = createInventory(connect(database.controlUrl, { max: 4 }));
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answers.status, answers.headers).end('x'.repeat(100_000));
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(async () => {
  receiver?.closeAllConnections();
  receiver?.close();
  await control?.close();
  await owner?.end({ timeout: 1 });
  await database?.drop();
});
beforeEach(async () => {
  received.length = 0;
  answers = { status: 204 };
  await owner`delete from webhooks`;
  await settled();
  await readEvents({ inventory: control });
});

const logged: unknown[] = [];
const deps = (more: Partial<NotifyDeps> = {}): NotifyDeps => ({
  inventory: control,
  vault,
  origins: [origin],
  log: { info() {}, warn: (...line) => void logged.push(line) },
  ...more,
});

const webhook = async (kinds: string[], url = `${origin}/t`, sealed = secret): Promise<string> => {
  const store = createInventory(owner);
  const { uuid } = await store.webhooks.create({ project: null, url, kinds, enabled: true, description: null });
  await store.webhooks.setSecret(uuid, vault.seal(sealed));
  return uuid;
};

/** Waits until older transactions, which other tests on the server have, keep no event back. */
const settled = async (): Promise<void> => {
  for (;;) {
    const [row] = await owner`select 1 from events where tx >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
    if (!row) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** Appends an event that can be read. @returns its number */
const happened = async (kind: string, data: Record<string, unknown> = {}): Promise<number> => {
  const seq = await appended(kind, data);
  await settled();
  return seq;
};

const appended = async (kind: string, data: Record<string, unknown> = {}): Promise<number> => {
  const [row] = await owner<{ seq: number }[]>`
    insert into events (kind, node_uuid, data) values (${kind}, ${randomUUID()}, ${owner.json(data as never)}) returning seq`;
  return Number(row!.seq);
};

type Logged = {
  kind: string;
  state: string;
  attempts: number;
  status: number | null;
  error: string | null;
  waits: number;
};
const log = (uuid: string) => owner<Logged[]>`
  select kind, state, attempts, status, error, extract(epoch from next_at - now())::float8 as waits
  from webhook_deliveries where webhook_uuid = ${uuid} order by id`;

/** Of the first delivery. Throws WebhookVerificationError. */
const verified = (key: string): unknown =>
  new Webhook(key).verify(received[0]!.body, received[0]!.headers as Record<string, string>);

/** Makes everything due now. */
const hurry = () => owner`update webhook_deliveries set next_at = now() where state = 'pending'`;

test('an event goes, signed and without secrets, to those who want its kind and to no other', async () => {
  const [runs, moves] = [await webhook(['run.*']), await webhook(['node.moved'], `${origin}/moves`)];
  const seq = await happened('run.failed', { error: 'It broke: password=geheim' });
  await happened('runbook.created');
  expect(await deliverOnce(deps(), never)).toBe(true);
  expect(received).toHaveLength(1);
  const [{ headers, body, path }] = received as [Received];
  const data = { seq, kind: 'run.failed', data: { error: 'It broke: password=******' } };
  expect(path).toBe('/t');
  expect(verified(secret)).toMatchObject({ id: String(seq), type: 'run.failed', data });
  const event = HTTP.toEvent({ headers, body });
  expect(event).toMatchObject({ id: String(seq), source: '/temper/v1/events', type: 'run.failed', data });
  expect(event).toMatchObject({ subject: JSON.parse(body).data.node_uuid, specversion: '1.0' });
  expect(await log(runs)).toMatchObject([{ state: 'delivered', attempts: 1, status: 204, error: null }]);
  expect(await log(moves)).toHaveLength(0);
});

test('a receiver that changes over verifies with the new secret and with the old one, and with no other', async () => {
  await webhook(['*'], undefined, `${secret} ${older}`);
  await happened('run.failed');
  await deliverOnce(deps(), never);
  expect(verified(secret)).toEqual(verified(older));
  expect(() => verified(`whsec_${Buffer.alloc(24, 3).toString('base64')}`)).toThrow(WebhookVerificationError);
});

test.each([
  ['body', ({ body, headers }: Received) => [body.replace('run.failed', 'run.passed'), headers]],
  ['id', ({ body, headers }: Received) => [body, { ...headers, 'webhook-id': randomUUID() }]],
  [
    'time',
    ({ body, headers }: Received) => [
      body,
      { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 2) },
    ],
  ],
  ['age', ({ body, headers }: Received) => [body, { ...headers, 'webhook-timestamp': '1700000000' }]],
] as [string, (one: Received) => [string, Record<string, string>]][])(
  'a delivery with another %s is not verified',
  async (_, change) => {
    await webhook(['*']);
    await happened('run.failed');
    await deliverOnce(deps(), never);
    expect(() => new Webhook(secret).verify(...change(received[0]!))).toThrow(WebhookVerificationError);
  },
);

test('a webhook whose secret has another form is sent nothing, and its log says what to do', async () => {
  const uuid = await webhook(['*'], undefined, 'a-secret-of-some-length');
  await happened('run.failed');
  await deliverOnce(deps(), never);
  const error = expect.stringContaining('does not have the form whsec_…; give it a new one.');
  expect([received, await log(uuid)]).toMatchObject([[], [{ state: 'pending', error }]]);
});

test('an event carries the name of its node and the verb of its run', async () => {
  await webhook(['run.parked']);
  const [node] =
    await owner`insert into nodes (name, driver, provision_state) values ('hook-1', 'fake-hardware', 'active') returning uuid`;
  const run = randomUUID();
  await owner`
    insert into runs (id, node_uuid, fence, kind, verb, input, requester, rule_set, workflow_id)
    values (${run}, ${node!.uuid}, 1, 'service', 'service', '{}', '{}', 'x', 'w')`;
  await owner`insert into events (kind, node_uuid, run_id) values ('run.parked', ${node!.uuid}, ${run})`;
  await settled();
  await deliverOnce(deps(), never);
  expect(JSON.parse(received[0]!.body).data).toMatchObject({
    node_uuid: node!.uuid,
    node_name: 'hook-1',
    run_id: run,
    verb: 'service',
  });
});

test('a webhook gets nothing of what was before it, and each event once', async () => {
  await happened('run.failed');
  const all = await webhook(['*']);
  await happened('step.done');
  await happened('node.moved');
  await deliverOnce(deps(), never);
  await deliverOnce(deps(), never);
  expect(received.map(({ body }) => JSON.parse(body).type).sort()).toEqual(['node.moved', 'step.done']);
  expect(await log(all)).toHaveLength(2);
});

test('what is refused is tried again, later every time, under the same id, until it has been tried often enough', async () => {
  const uuid = await webhook(['*']);
  answers = { status: 500 };
  await happened('run.failed');
  const outcomes: string[] = [];
  const telling = deps({ onDelivery: (outcome) => outcomes.push(outcome) });
  for (let attempt = 1; attempt <= deliveryAttempts; attempt++) {
    await deliverOnce(telling, never);
    const [row] = await log(uuid);
    expect(row).toMatchObject({ attempts: attempt, status: 500, error: 'The receiver answered 500.' });
    expect(row!.state).toBe(attempt < deliveryAttempts ? 'pending' : 'failed');
    if (attempt < deliveryAttempts) expect(row!.waits).toBeGreaterThan(deliveryPauseMs(attempt) / 1_000 - 60);
    await deliverOnce(telling, never); // not due
    await hurry();
  }
  expect(received).toHaveLength(deliveryAttempts);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(outcomes).toEqual([...Array(deliveryAttempts - 1).fill('again'), 'failed']);
});

test.each([
  [200, 'delivered'],
  [299, 'delivered'],
  [300, 'pending'],
  [404, 'pending'],
])('an answer of %i: %s', async (status, state) => {
  const uuid = await webhook(['*']);
  answers = { status };
  await happened('run.failed');
  await deliverOnce(deps(), never);
  expect(await log(uuid)).toMatchObject([{ state, status, attempts: 1 }]);
});

test('a redirect is not followed', async () => {
  const uuid = await webhook(['*']);
  answers = { status: 302, headers: { location: `${origin}/elsewhere` } };
  await happened('run.failed');
  await deliverOnce(deps(), never);
  expect(received.map(({ path }) => path)).toEqual(['/t']);
  expect(await log(uuid)).toMatchObject([{ state: 'pending', status: 302 }]);
});

test.each([
  ['whose name resolves to this machine', 'http://hooks.example.org:1/x', ['127.0.0.1'], 'resolves to 127.0.0.1'],
  [
    'one of whose addresses is link-local',
    'http://hooks.example.org:1/x',
    ['192.0.2.7', 'fe80::1'],
    'resolves to fe80::1',
  ],
  ['that is mapped into IPv6', 'http://hooks.example.org:1/x', ['::ffff:127.0.0.1'], 'resolves to ::ffff:127.0.0.1'],
  ['that the operator no longer allows', 'http://other.example.org/x', ['192.0.2.7'], 'not among the origins'],
  ['that does not resolve', 'http://hooks.example.org:1/x', [], 'ENOTFOUND'],
])('nothing is sent to a target %s', async (_, url, addresses, says) => {
  const uuid = await webhook(['*'], url);
  await happened('run.failed');
  await deliverOnce(deps({ origins: ['http://hooks.example.org:1'], lookup: async () => addresses }), never);
  expect(await log(uuid)).toMatchObject([{ state: 'pending', status: null, error: expect.stringContaining(says) }]);
  expect(received).toEqual([]);
});

test('a name is connected to at the addresses that were checked, of both families', async () => {
  let options: RequestOptions = {};
  const asked = Object.assign(new EventEmitter(), { end: () => asked.emit('error', new Error('enough')) });
  jest.spyOn(http, 'request').mockImplementationOnce(((_: URL, given: RequestOptions) => {
    options = given;
    return asked;
  }) as unknown as typeof http.request);
  const addresses = ['192.0.2.7', '2001:db8::7'];
  const sender = { origins: ['http://hooks.example.org:1'], lookup: async () => addresses };
  const message = { url: 'http://hooks.example.org:1/x', delivery: 'd', body: '{}', secret };
  await expect(sendWebhook(message, sender, never)).rejects.toThrow('enough');
  const found = (all: boolean) =>
    new Promise((done) => options.lookup!('hooks.example.org', { all }, (...answer) => done(answer)));
  expect(await found(true)).toEqual([
    null,
    [
      { address: '192.0.2.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ],
  ]);
  expect(await found(false)).toEqual([null, '192.0.2.7', 4]);
});

test('a receiver that never answers is given up on in time, and another one is not kept waiting', async () => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const deaf = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const [slow, quick] = [await webhook(['*'], `${deaf}/x`), await webhook(['*'])];
  for (let count = 0; count < 6; count++) await happened('run.failed');
  // The other receiver, in this process, is to answer within it.
  await deliverOnce(deps({ origins: [origin, deaf], timeoutMs: 5_000 }), never);
  silent.closeAllConnections();
  silent.close();
  const tried = (await log(slow)).filter(({ attempts }) => attempts > 0);
  expect(tried).toHaveLength(4);
  expect(tried[0]).toMatchObject({ error: 'The receiver did not answer in time.' });
  expect((await log(quick)).filter(({ state }) => state === 'delivered')).toHaveLength(4);
});

test('receivers that never answer keep no other waiting, however much is due to them', async () => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const deaf = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  for (let nth = 0; nth < 5; nth++) await webhook(['*'], `${deaf}/${nth}`);
  const quick = await webhook(['*']);
  const count = 12;
  for (let nth = 0; nth < count; nth++) await appended('run.failed');
  await settled();
  const stop = new AbortController();
  let delivered = 0;
  const onDelivery = (): void => {
    delivered += 1;
    if (delivered === count) stop.abort();
  };
  await runWebhookDelivery(deps({ origins: [origin, deaf], timeoutMs: 600_000, onDelivery }), { signal: stop.signal });
  silent.closeAllConnections();
  silent.close();
  expect((await log(quick)).filter(({ state }) => state === 'delivered')).toHaveLength(count);
  expect((await owner`select 1 from webhook_deliveries where webhook_uuid <> ${quick} and attempts > 1`).length).toBe(
    0,
  );
});

test('a project with many webhooks, to which much is due, keeps no other project waiting', async () => {
  const store = createInventory(owner);
  for (const project of ['busy', 'busy', 'busy', 'busy', 'busy', 'other']) {
    const values = { url: `${origin}/${project}`, kinds: ['*'], enabled: true, description: null };
    const { uuid } = await store.webhooks.create({ ...values, project: project as ProjectId });
    await store.webhooks.setSecret(uuid, vault.seal(secret));
  }
  const seqs: number[] = [];
  for (let nth = 0; nth < 4; nth++) seqs.push(await appended('run.failed'));
  await owner`
    insert into webhook_deliveries (webhook_uuid, event_seq, kind)
    select w.uuid, e.seq, e.kind from webhooks w, events e where e.seq in ${owner(seqs)} order by w.id`;
  const due = await control.webhooks.takeDue({ limit: 16, each: 4, leaseMs: 60_000 });
  expect(due).toHaveLength(16);
  expect(due.filter(({ project }) => project === 'other')).toHaveLength(4);
});

test('what was to be delivered of an event that is deleted has failed, and is tried no more', async () => {
  const uuid = await webhook(['*']);
  await owner`insert into webhook_deliveries (webhook_uuid, event_seq, kind) values (${uuid}, 1000000000, 'run.failed')`;
  await deliverOnce(deps(), never);
  expect(await log(uuid)).toMatchObject([{ state: 'failed', attempts: 0, error: 'The event was deleted by its age.' }]);
});

test('a webhook that is switched off is sent nothing', async () => {
  const uuid = await webhook(['*']);
  await owner`update webhooks set enabled = false where uuid = ${uuid}`;
  await happened('run.failed');
  await deliverOnce(deps(), never);
  expect([await log(uuid), received]).toEqual([[], []]);
});

test('several readers read every event once between them, also one whose transaction ends late', async () => {
  await webhook(['*']);
  const seen: CountedEvent[] = [];
  const counting = { inventory: control, onEvent: (event: CountedEvent) => void seen.push(event) };
  const held = await owner.reserve();
  await held`begin`;
  const [early] = await held<{ seq: number }[]>`insert into events (kind) values ('run.pause') returning seq`;
  const late = await appended('run.failed');
  await Promise.all([readEvents(counting), readEvents(counting), readEvents(counting)]);
  expect(seen).toEqual([]);
  await held`commit`;
  held.release();
  await settled();
  await Promise.all([readEvents(counting), readEvents(counting), readEvents(counting)]);
  await readEvents(counting);
  expect(seen.map(({ seq }) => seq)).toEqual([Number(early!.seq), late]);
});

test('the log is forgotten after a while', async () => {
  const uuid = await webhook(['*']);
  await happened('run.failed');
  await deliverOnce(deps(), never);
  expect(await control.webhooks.forget(7)).toBe(0);
  await owner`update webhook_deliveries set created_at = now() - interval '8 days', finished_at = now() - interval '8 days'`;
  expect(await control.webhooks.forget(7)).toBe(1);
  expect(await log(uuid)).toEqual([]);
});

test('a delivery that is still to be made is not forgotten, and one that ended late is kept from then on', async () => {
  const uuid = await webhook(['*']);
  const [waiting, late] = [await appended('run.failed'), await appended('run.succeeded')];
  await owner`
    insert into webhook_deliveries (webhook_uuid, event_seq, kind, state, next_at, created_at, finished_at) values
      (${uuid}, ${waiting}, 'run.failed', 'pending', now(), now() - interval '2 days', null),
      (${uuid}, ${late}, 'run.succeeded', 'failed', now(), now() - interval '2 days', now() - interval '1 hour')`;
  expect(await forgetDeliveries({ inventory: control, logDays: 1 })).toBe(0);
  expect((await log(uuid)).map(({ state }) => state).sort()).toEqual(['failed', 'pending']);
});

test('an old log is deleted as a whole, also when it is larger than one batch', async () => {
  const uuid = await webhook(['*']);
  await owner`
    insert into webhook_deliveries (webhook_uuid, event_seq, kind, state, created_at, finished_at)
    select ${uuid}, 1000000000 + number, 'run.failed', 'delivered', made, made from generate_series(0, 5001) number,
      lateral (select now() - case when number = 0 then '2 days' else '4 days' end::interval as made) dated`;
  expect(await forgetDeliveries({ inventory: control, logDays: 3 })).toBe(5_001);
  expect(await log(uuid)).toHaveLength(1);
});

test('records of deliveries are swept by the first pass, and not by those that follow it', async () => {
  const stop = new AbortController();
  let passes = 0;
  const store = storeOf({
    'webhooks.takeDue': () => {
      passes += 1;
      if (passes === 3) stop.abort();
      return [];
    },
  });
  const deps = { inventory: store.inventory, vault: {}, log: logOf().log } as unknown as Parameters<
    typeof runWebhookDelivery
  >[0];
  await runWebhookDelivery(deps, { signal: stop.signal });
  expect([passes, store.of('webhooks.forget').length]).toEqual([3, 1]);
});
