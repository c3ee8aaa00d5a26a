/** Power notices to Nova: their content, repeats after failures, and that no answer of Nova delays other work. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { ActLock } from '../../src/inventory/fence';
import type { NodeUuid } from '../../src/model/ids';
import { type AskCompute, noticeAttempts, notifyOnce, runPowerNotices } from '../../src/runs/power-notices';
import { readEvents } from '../../src/runs/webhooks';
import { heldAct } from '../support/held-act';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

let database: TestDatabase;
let owner: Sql;
let control: Inventory;
let bmc: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 3 });
  control = createInventory(connect(database.controlUrl, { max: 4 }));
  bmc = createInventory(connect(database.bmcUrl, { max: 4 }));
});
afterAll(async () => {
  await control?.close();
  await bmc?.close();
  await owner?.end({ timeout: 1 });
  await database?.drop();
});

type Told = { readonly name: string; readonly server_uuid: string; readonly tag: string };
let told: Told[][] = [];
let outcomes: string[] = [];
let warned: string[] = [];

type Answer = Awaited<ReturnType<AskCompute>>;
const codes =
  (code: number, status = 207) =>
  (events: readonly Told[]): Answer => ({
    is: 'answer',
    status,
    body: { events: events.map((event) => ({ ...event, code })) },
  });
const fine = codes(200, 200);

const depsWith = (answer: (events: readonly Told[]) => Answer | Promise<Answer>) => ({
  inventory: control,
  compute: async (body: string) => {
    const { events } = JSON.parse(body) as { events: Told[] };
    told.push(events);
    return answer(events);
  },
  log: { warn: (text: string, { reason }: { reason?: unknown } = {}) => void warned.push(`${text}: ${reason}`) },
  onNotice: (outcome: string) => void outcomes.push(outcome),
});

/** Waits until older transactions, which other tests on the server have, keep no event back. */
const settled = async (): Promise<void> => {
  for (;;) {
    const [row] = await owner`select 1 from events where tx >= pg_snapshot_xmin(pg_current_snapshot()) limit 1`;
    if (!row) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
const read = async (notifiesPower = true): Promise<void> => {
  await settled();
  await readEvents({ inventory: control, notifiesPower });
};

beforeEach(async () => {
  await read(false);
  await owner`delete from webhook_deliveries`;
  await owner`delete from nodes`;
  [told, outcomes, warned] = [[], [], []];
});

const server = (): string => randomUUID();
const node = async (values: Record<string, unknown> = {}): Promise<NodeUuid> => {
  const columns = { driver: 'fake-hardware', provision_state: 'active', power_state: 'power on', ...values };
  const [row] = await owner<{ uuid: NodeUuid }[]>`insert into nodes ${owner(columns)} returning uuid`;
  return row!.uuid;
};
const event = (node_uuid: string, kind = 'node.power', data: Record<string, unknown> = {}) =>
  owner`insert into events (kind, node_uuid, data) values (${kind}, ${node_uuid}, ${owner.json(data as never)})`;
const turned = async (uuid: string, power_state: string | null): Promise<void> => {
  await owner`update nodes set power_state = ${power_state} where uuid = ${uuid}`;
  await event(uuid);
  await read();
};
const log = () => owner<
  { state: string; attempts: number; status: number | null; error: string | null; waits: number }[]
>`
  select state, attempts, status, error, extract(epoch from next_at - now())::float8 as waits
  from webhook_deliveries where webhook_uuid is null order by id`;
const hurry = () => owner`update webhook_deliveries set next_at = now() where state = 'pending'`;

test('a change of power on a node with an instance is sent to Nova once, in the form that Ironic sends', async () => {
  const instance_uuid = server();
  const uuid = await node({ instance_uuid });
  await turned(uuid, 'power off');
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: true });
  expect(told).toEqual([[{ name: 'power-update', server_uuid: instance_uuid, tag: 'POWER_OFF' }]]);
  expect(await log()).toMatchObject([{ state: 'delivered', attempts: 1, status: 200, error: null }]);
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: false });
  expect(outcomes).toEqual(['sent']);
});

test('an act of a run that changes power leaves a notice, and one that does not leaves none', async () => {
  const api = createInventory(owner);
  const { lock: run, step } = await heldAct({ api, owner, vault: testVault });
  await owner`update nodes set instance_uuid = ${server()}, power_state = 'power off' where uuid = ${run.node_uuid}`;
  await owner`update runs set state = 'running' where id = ${run.run}`;
  const ended = async (nth: number, act: string, power_state: 'power on' | 'power off') => {
    const lock: ActLock = { ...run, token: randomUUID() };
    const key = { index: 0, act, attempt: 1, execution: 'e', activity: `a${nth}`, nth, asked_at: nth } as const;
    const execution = '11111111-1111-4111-8111-111111111111';
    await bmc.runSteps.begin(lock, { ...key, execution }, step);
    expect(await bmc.runSteps.end(lock, { ...key, execution }, { is: 'done', seen: { power_state } }, false)).toBe(
      true,
    );
    await read();
  };
  await ended(1, 'verify', 'power off');
  expect(await log()).toHaveLength(0);
  await ended(2, 'power_on', 'power on');
  await notifyOnce(depsWith(fine));
  expect(told.flat().map(({ tag }) => tag)).toEqual(['POWER_ON']);
});

test.each([
  ['without an instance', { instance_uuid: null }, 'power off'],
  ['whose power is not known', { instance_uuid: server() }, null],
  ['whose power cannot be read', { instance_uuid: server() }, 'error'],
])('nothing is told of a node %s, and nothing of it waits', async (_, values, power) => {
  await turned(await node(values), power);
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: false });
  expect([told, await log()]).toEqual([[], []]);
});

test('events of other kinds, and installations that tell nothing, leave no notice', async () => {
  const uuid = await node({ instance_uuid: server() });
  await event(uuid, 'node.updated', { note: 'x' });
  await read();
  await event(uuid);
  await read(false);
  expect(await log()).toEqual([]);
});

test('a late notice tells the power as it is now, of the instance that is there now', async () => {
  const uuid = await node({ instance_uuid: server() });
  await turned(uuid, 'power off');
  const later = server();
  await owner`update nodes set power_state = 'power on', instance_uuid = ${later} where uuid = ${uuid}`;
  await notifyOnce(depsWith(fine));
  expect(told).toEqual([[{ name: 'power-update', server_uuid: later, tag: 'POWER_ON' }]]);
});

test('what is told of a node that changed meanwhile is told again, so that a process that stood still has not the last word', async () => {
  const uuid = await node({ instance_uuid: server() });
  await turned(uuid, 'power off');
  await notifyOnce(
    depsWith(async (events) => {
      await owner`update nodes set power_state = 'power on' where uuid = ${uuid}`;
      return fine(events);
    }),
  );
  expect(await log()).toMatchObject([{ state: 'pending', attempts: 1 }]);
  await notifyOnce(depsWith(fine));
  expect(told.flat().map(({ tag }) => tag)).toEqual(['POWER_OFF', 'POWER_ON']);
  expect(await log()).toMatchObject([{ state: 'delivered' }]);
});

test('a process that stood still beyond its lease, and tells what another has corrected, is corrected once more', async () => {
  const uuid = await node({ instance_uuid: server() });
  await turned(uuid, 'power off');
  await notifyOnce(
    depsWith(async (events) => {
      await owner`update nodes set power_state = 'power on' where uuid = ${uuid}`;
      await hurry();
      await notifyOnce(depsWith(fine));
      expect(await log()).toMatchObject([{ state: 'delivered' }]);
      return fine(events);
    }),
  );
  await notifyOnce(depsWith(fine));
  expect(told.flat().map(({ tag }) => tag)).toEqual(['POWER_OFF', 'POWER_ON', 'POWER_ON']);
  expect(await log()).toMatchObject([{ state: 'delivered' }]);
});

test('a node that changed many times is told once, and many nodes in one request', async () => {
  const uuids = await Promise.all([1, 2, 3].map(() => node({ instance_uuid: server() })));
  for (const uuid of uuids) for (const power of ['power off', 'power on', 'power off']) await turned(uuid, power);
  await notifyOnce(depsWith(fine));
  expect(told.map((events) => events.length)).toEqual([3]);
  expect((await log()).every(({ state }) => state === 'delivered')).toBe(true);
});

const down: Answer = { is: 'down', reason: 'the compute service did not answer (ECONNREFUSED)' };
test.each([
  ['is away', () => down, null, 'ECONNREFUSED'],
  ['answers 500', () => ({ is: 'answer', status: 500, body: 'no' }) as const, 500, 'Nova answered 500.'],
  ['answers 403', () => ({ is: 'answer', status: 403, body: {} }) as const, 403, 'Nova answered 403.'],
  ['is not at its address', () => ({ is: 'answer', status: 404, body: {} }) as const, 404, 'Nova answered 404.'],
  ['redirects', () => ({ is: 'answer', status: 302, body: {} }) as const, 302, 'Nova answered 302.'],
  ['answers anything', () => ({ is: 'answer', status: 200, body: ['x'] }) as const, 200, 'without an outcome'],
  [
    'answers for another server',
    () => ({ is: 'answer', status: 200, body: { events: [{ server_uuid: 'x', code: 200 }] } }) as const,
    200,
    'without an outcome',
  ],
  ['has no host for the server yet', codes(422), 422, '422 for the server'],
])('a notice is tried again if Nova %s', async (_, answer, status, says) => {
  await turned(await node({ instance_uuid: server() }), 'power off');
  expect(await notifyOnce(depsWith(answer))).toEqual({ busy: true, error: expect.stringContaining(says) });
  const [row] = await log();
  expect(row).toMatchObject({ state: 'pending', attempts: 1, status, error: expect.stringContaining(says) });
  expect(row!.waits).toBeGreaterThan(0);
  expect(outcomes).toEqual(['again']);
});

test('attempts are bounded in number, and their pauses in length', async () => {
  const uuid = await node({ instance_uuid: server() });
  await turned(uuid, 'power off');
  const waits: number[] = [];
  for (let attempt = 1; attempt <= noticeAttempts; attempt += 1) {
    await notifyOnce(depsWith(() => down));
    waits.push((await log())[0]!.waits);
    await hurry();
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(60);
  expect(await log()).toMatchObject([{ state: 'failed', attempts: noticeAttempts }]);
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: false });
  expect(await control.powerNotices.standing()).toMatchObject({ waiting: 0, failed: 1, error: down.reason });
  expect(outcomes.at(-1)).toBe('failed');
});

test('a server that Nova does not know ends its notice at once, and is no fault of the installation', async () => {
  await turned(await node({ instance_uuid: server() }), 'power off');
  await notifyOnce(depsWith(codes(404)));
  expect(await log()).toMatchObject([{ state: 'failed', attempts: 1, status: 404 }]);
  expect(await control.powerNotices.standing()).toMatchObject({ failed: 0 });
});

test('one refused server holds no other back', async () => {
  const [known, unknown] = [server(), server()];
  for (const instance_uuid of [known, unknown]) await turned(await node({ instance_uuid }), 'power off');
  await notifyOnce(
    depsWith((events) => ({
      is: 'answer',
      status: 207,
      body: { events: events.map((one) => ({ ...one, code: one.server_uuid === known ? 200 : 422 })) },
    })),
  );
  expect((await log()).map(({ state }) => state)).toEqual(['delivered', 'pending']);
});

test('two processes never tell the same at once, and what a dead one took is told after its lease', async () => {
  await turned(await node({ instance_uuid: server() }), 'power off');
  const taken = await control.powerNotices.takeDue({ limit: 9, leaseMs: 60_000 });
  expect(taken).toHaveLength(1);
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: false });
  await hurry();
  expect(await notifyOnce(depsWith(fine))).toEqual({ busy: true });
});

test('while Nova does not answer, events are read and power is recorded as ever, and the log says it once', async () => {
  const uuid = await node({ instance_uuid: server() });
  await turned(uuid, 'power off');
  const stop = new AbortController();
  let asked = 0;
  const running = runPowerNotices(
    depsWith(async () => {
      asked += 1;
      await hurry();
      return down;
    }),
    { signal: stop.signal },
  );
  while (asked < 2) {
    await hurry();
    await turned(uuid, 'power on');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  stop.abort();
  await running;
  expect(warned).toEqual([`power notices cannot be sent to Nova now: Error: ${down.reason}`]);
});
