/** Queries of runs and keys that decide who does a piece of work: each is true for one caller, and for one alone. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { idempotency } from '../../src/inventory/idempotency';
import type { LeaseUuid } from '../../src/model/ids';
import { heldAct } from '../support/held-act';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

const vault = testVault;
let database: TestDatabase;
let owner: Sql;
let api: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 4 });
  api = createInventory(owner);
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

const act = { index: 0, act: 'power_on', nth: 1, force: false } as const;
const begun = ({ lock, step }: Awaited<ReturnType<typeof heldAct>>, nth = 1, name = 'power_on') =>
  api.runSteps.begin(
    { ...lock, token: randomUUID() },
    { index: 0, act: name, attempt: 1, execution: 'e', activity: `a-${nth}`, nth, asked_at: 1_000_000 * nth },
    step,
  );
const begin = async (...given: Parameters<typeof begun>) => (await begun(...given)).node;
const stepOf = async (run: string) => (await owner`select * from run_steps where run_id = ${run} and index = 0`)[0]!;
const announce = (run: string, detail: object = {}, name = 'power_on') =>
  owner`insert into intents (run_id, index, act, detail) values (${run}, 0, ${name}, ${owner.json(detail as never)})`;

describe('a freeze holds an act back', () => {
  const frozen = async () => {
    const held = await heldAct({ api, owner, vault });
    const { node_uuid } = held.lock;
    await owner`insert into freezes (node_uuid, reason, requester) values (${node_uuid}, 'look', '{}')`;
    return held;
  };

  test('which is not begun then: step, run and events stay as they were', async () => {
    const held = await frozen();
    expect(await begun(held)).toEqual({ held_back: true });
    expect(await stepOf(held.lock.run)).toMatchObject({ state: 'pending', act: null, attempts: 0, started_at: null });
    expect((await owner`select act_token from runs where id = ${held.lock.run}`)[0]).toEqual({ act_token: null });
    expect(await owner`select 1 from events where run_id = ${held.lock.run} and kind = 'step.begun'`).toEqual([]);
    await owner`update freezes set ended_at = now() where node_uuid = ${held.lock.node_uuid}`;
    expect(await begun(held)).toMatchObject({ held_back: false, node: { uuid: held.lock.node_uuid } });
  });

  test('but not a read', async () => {
    const held = await frozen();
    expect(await begun(held, 1, 'verify')).toMatchObject({ held_back: true, node: { uuid: held.lock.node_uuid } });
  });
});

describe('an abort cuts an act', () => {
  test('whose command has not left, and no attempt of it begins from then on', async () => {
    const held = await heldAct({ api, owner, vault });
    expect(await begin(held)).toBeDefined();
    expect(await api.runSteps.cut(held.lock, act)).toEqual({ cut: true, sent: null });
    expect(await begin(held)).toBeUndefined();
    expect(await begin(held, 2)).toBeDefined();
  });

  test('not where its command has left, and says when it did', async () => {
    const held = await heldAct({ api, owner, vault });
    await begin(held);
    await announce(held.lock.run);
    const [intent] = await owner<{ sent_at: Date }[]>`select sent_at from intents where run_id = ${held.lock.run}`;
    const sent = intent!.sent_at.toISOString();
    expect(await api.runSteps.cut(held.lock, act)).toEqual({ cut: false, sent });
    expect(await begin(held)).toBeDefined();
    expect(await api.runSteps.cut(held.lock, { ...act, force: true })).toEqual({ cut: true, sent });
    expect(await begin(held)).toBeUndefined();
  });

  test.each([
    ['was withdrawn', { withdrawn: true }],
    ['is a plan without jobs', { jobs: {} }],
  ])('whose announcement %s', async (_what, detail) => {
    const held = await heldAct({ api, owner, vault });
    await announce(held.lock.run, detail);
    expect(await api.runSteps.cut(held.lock, act)).toEqual({ cut: true, sent: null });
  });

  test('of a run that another has taken the node from by writing nothing; what has left is waited for', async () => {
    const held = await heldAct({ api, owner, vault });
    await owner`update nodes set fence = fence + 1 where uuid = ${held.lock.node_uuid}`;
    const run = () => owner`select * from runs where id = ${held.lock.run}`;
    const before = await run();
    expect(await api.runSteps.cut(held.lock, act)).toEqual({ cut: true, sent: null });
    await announce(held.lock.run);
    expect(await api.runSteps.cut(held.lock, act)).toEqual({ cut: false, sent: expect.any(String) });
    expect(await api.runSteps.cut(held.lock, { ...act, force: true })).toMatchObject({ cut: true });
    expect(await run()).toEqual(before);
  });
});

describe('a step that is tried again', () => {
  const tried = async () => {
    const held = await heldAct({ api, owner, vault }, { args: { first: 1 } });
    await owner`update run_steps set acts_done = 1, acts_ended = '{power_on}' where run_id = ${held.lock.run}`;
    await announce(held.lock.run);
    return held.lock;
  };

  test('with other arguments begins anew with these', async () => {
    const lock = await tried();
    await api.runSteps.again(lock, 0, { second: 2 });
    expect(await stepOf(lock.run)).toMatchObject({ args: { second: 2 }, acts_done: 0, acts_ended: [] });
    expect(await owner`select 1 from intents where run_id = ${lock.run}`).toHaveLength(0);
  });

  test('with its own goes on where it was, and what was announced no longer counts', async () => {
    const lock = await tried();
    await api.runSteps.again(lock, 0);
    expect(await stepOf(lock.run)).toMatchObject({ args: { first: 1 }, acts_done: 1, acts_ended: ['power_on'] });
    expect(await owner`select 1 from intents where run_id = ${lock.run}`).toHaveLength(0);
  });
});

test('a free node is moved at once by one caller, and a held node by none', async () => {
  const [node] = await owner`
    insert into nodes (driver, provision_state) values ('fake-hardware', 'enroll') returning uuid`;
  const move = () => api.runs.moveAtOnce(node!.uuid, 'enroll', 'manageable');
  expect((await Promise.all([move(), move(), move()])).filter(Boolean)).toHaveLength(1);
  const { lock } = await heldAct({ api, owner, vault });
  expect(await api.runs.moveAtOnce(lock.node_uuid, 'cleaning', 'manageable')).toBe(false);
});

test('a run of another lease is foreign, one of the same is not, and none is not', async () => {
  const { lock } = await heldAct({ api, owner, vault });
  const [mine, other] = [randomUUID() as LeaseUuid, randomUUID() as LeaseUuid];
  await owner`update runs set lease_id = ${mine} where id = ${lock.run}`;
  const foreign = (lease: LeaseUuid | null) => api.runs.lastIsForeign(lock.node_uuid, lease);
  expect([await foreign(mine), await foreign(other), await foreign(null)]).toEqual([false, true, true]);
  expect(await api.runs.lastIsForeign(randomUUID() as never, mine)).toBe(false);
});

test('a start that is refused is counted, and that of a run that has ended is not', async () => {
  const { lock } = await heldAct({ api, owner, vault });
  const refused = () => api.runs.startFailed(lock.run, 'the engine');
  expect([await refused(), await refused()]).toEqual([1, 2]);
  await owner`update runs set finished_at = now(), state = 'failed' where id = ${lock.run}`;
  expect(await refused()).toBe(0);
});

test('nothing that may be running still counts as over', async () => {
  const { lock } = await heldAct({ api, owner, vault });
  expect(await api.runs.isOver(lock.run, 0)).toBe(false);
  await owner`update runs set finished_at = now() - interval '1 minute', state = 'failed' where id = ${lock.run}`;
  expect([await api.runs.isOver(lock.run, 30_000), await api.runs.isOver(lock.run, 90_000)]).toEqual([true, false]);
  expect(await api.runs.isOver(randomUUID() as never, 0)).toBe(true);
});

describe('a key whose request', () => {
  const asked = () => ({
    request_id: randomUUID(),
    caller: Buffer.from(randomUUID()),
    key: 'k',
    asked: Buffer.from('x'),
    keptForHours: 1,
  });
  const begun = async (dead: boolean) => {
    const first = asked();
    expect(await api.idempotency.begin(first)).toBeUndefined();
    if (dead) await api.idempotency.abandon(first.request_id);
    return first;
  };
  const next = (first: ReturnType<typeof asked>) => ({ ...first, request_id: randomUUID() });

  test('lives is neither taken over nor revived', async () => {
    const first = await begun(false);
    expect(await api.idempotency.takeOver(first.request_id, next(first))).toBe(false);
    expect(await api.idempotency.revive(first.request_id)).toBe(false);
    expect(await api.idempotency.begin(next(first))).toMatchObject({ request_id: first.request_id, alive: true });
  });

  test('is dead is taken over by one, however many ask', async () => {
    const first = await begun(true);
    const taken = await Promise.all([1, 2, 3].map(() => api.idempotency.takeOver(first.request_id, next(first))));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  test('is dead is revived by one, however many ask', async () => {
    const first = await begun(true);
    const revived = await Promise.all([1, 2, 3].map(() => api.idempotency.revive(first.request_id)));
    expect(revived.filter(Boolean)).toHaveLength(1);
  });

  test('ends at every moment it is asked for is given up after a few tries', async () => {
    const none = (() => Promise.resolve([])) as never;
    await expect(idempotency(none).begin(asked())).rejects.toThrow('neither free nor taken');
  });
});
