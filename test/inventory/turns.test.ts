/** Turns: only so many runs of a class work at once, projects share them evenly, and those that wait for a person let others by. */
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { Lock } from '../../src/model/runs/runs';
import { heldAct } from '../support/held-act';
import { openStores } from '../support/stores';
import { testVault } from '../support/vault';

const vault = testVault;
let owner: Sql;
let api: Inventory;
let control: Inventory;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ owner, api, control, close } = await openStores());
});
afterEach(() => close());

let accepted = 0;
/** A run of the class on a node of this project, younger than all before it. */
const runOf = async (project: string | null = null): Promise<Lock> => {
  const { lock } = await heldAct({ api, owner, vault });
  await owner`
    update runs set limit_class = 'clean', state = 'running', owner = ${project}, created_at = now() + ${++accepted} * interval '1 second'
    where id = ${lock.run}`;
  return lock;
};
const limit = (max: number) => ({ class: 'clean' as const, max });
/** As a worker asks: whether the run has its turn. */
const asks = (lock: Lock, max = 1): Promise<boolean> =>
  control.transaction((store) => store.turns.give(lock, limit(max)));
const look = (lock: Lock, max = 1) => control.turns.look(lock.run, limit(max));

test('a younger run waits for one that works, and the older does not wait for it', async () => {
  const [older, younger] = [await runOf(), await runOf()];
  expect(await look(younger)).toEqual({ has: false, full: false });
  expect(await asks(younger)).toBe(false); // the older is next
  expect(await asks(older)).toBe(true);
  expect(await look(older)).toEqual({ has: true, full: true });
  expect(await look(younger)).toEqual({ has: false, full: true });
  expect(await asks(younger)).toBe(false);
  expect(await asks(older)).toBe(true);
});

test('a turn that ends is the next run’s', async () => {
  const [older, younger] = [await runOf(), await runOf()];
  await asks(older);
  await owner`update runs set finished_at = now(), state = 'succeeded' where id = ${older.run}`;
  expect(await asks(younger)).toBe(true);
});

test('one project’s hundred runs do not keep another’s first one waiting', async () => {
  const greedy: Lock[] = [];
  for (let at = 0; at < 12; at++) greedy.push(await runOf('greedy'));
  const modest = [await runOf('modest'), await runOf('modest')];
  const given: string[] = [];
  for (let pass = 0; pass < 3; pass++)
    for (const [name, lock] of [
      ...greedy.map((one) => ['greedy', one] as const),
      ...modest.map((one) => ['modest', one] as const),
    ])
      if (!(await look(lock, 4)).has && (await asks(lock, 4))) given.push(name);
  expect(given.sort()).toEqual(['greedy', 'greedy', 'modest', 'modest']);
});

test('the project with the fewest at work goes first, within it the oldest', async () => {
  const first = await runOf('a');
  expect(await asks(first, 1)).toBe(true);
  const [a2, b1, b2] = [await runOf('a'), await runOf('b'), await runOf('b')];
  expect([await asks(a2, 2), await asks(b2, 2), await asks(b1, 2)]).toEqual([false, false, true]);
  expect([await asks(b2, 3), await asks(a2, 3)]).toEqual([false, true]);
});

test('asked at the same moment by all, no more get one than may', async () => {
  const locks: Lock[] = [];
  for (let at = 0; at < 8; at++) locks.push(await runOf(`p${at % 3}`));
  const given = (await Promise.all(locks.map((lock) => asks(lock, 3)))).filter(Boolean);
  expect(given).toHaveLength(3);
});

test('a frozen run lets others by, whatever its text says, and counts again when it goes on', async () => {
  const [frozen, next, last] = [await runOf(), await runOf(), await runOf()];
  await asks(frozen);
  await control.runs.advance(frozen, 1, 'waiting', 'Knoten n-1 ist eingefroren', 'freeze');
  expect([await asks(next), await asks(last)]).toEqual([true, false]);
  await owner`update runs set finished_at = now(), state = 'succeeded' where id = ${next.run}`;
  await control.runs.advance(frozen, 2, 'running', null);
  expect(await asks(last)).toBe(false);
});

test('a text that reads like a freeze is none', async () => {
  const [older, younger] = [await runOf(), await runOf()];
  await asks(older);
  await control.runs.advance(older, 1, 'waiting', 'Node n-1 is frozen by ice');
  expect(await asks(younger)).toBe(false);
});

test.each([
  ['parked', 'a person'],
  ['paused', 'a person'],
  ['waiting', 'unhold'],
] as const)('a run that is %s for %s lets others by', async (state, waitingFor) => {
  const [older, younger] = [await runOf(), await runOf()];
  await asks(older);
  await control.runs.advance(older, 1, state, waitingFor);
  expect(await asks(younger)).toBe(true);
});

test('a run that lets time pass gives its turn back, and stands in line again when that is over', async () => {
  const [older, younger] = [await runOf(), await runOf()];
  await asks(older);
  await control.turns.giveBack(older);
  expect(await asks(younger)).toBe(true);
  expect(await asks(older)).toBe(false);
  await owner`update runs set finished_at = now(), state = 'succeeded' where id = ${younger.run}`;
  expect(await asks(older)).toBe(true);
});

test('a run that the engine cannot start keeps the turn from others for a minute, not longer', async () => {
  const [stuck, younger] = [await runOf(), await runOf()];
  await owner`update runs set state = 'accepted' where id = ${stuck.run}`;
  expect(await asks(younger)).toBe(false);
  await owner`update runs set created_at = now() - interval '2 minutes' where id = ${stuck.run}`;
  expect(await asks(younger)).toBe(true);
});
