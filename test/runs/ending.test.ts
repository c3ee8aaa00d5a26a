/** Where a node comes to rest, by the state it is in, how its run ended, and whether what the run left could be tidied. */

import type { Queries } from '../../src/inventory';
import type { Event, ProvisionState } from '../../src/model/lifecycle/states';
import { type Ending, endRun, recovered, restingState } from '../../src/runs/ending';
import { type Answers, storeOf } from '../support/run-doubles';

type Row = [from: ProvisionState, outcome: Ending['outcome'], ends: Event | null, rests: string | null];

test.each<Row>([
  ['cleaning', 'succeeded', 'done', 'available'],
  ['servicing', 'succeeded', 'done', 'active'],
  ['deleting', 'succeeded', 'done', 'available'],
  ['active', 'succeeded', null, null],
  ['active', 'failed', null, null],
  ['active', 'aborted', null, null],
  ['cleaning', 'failed', 'done', 'clean failed'],
  ['clean wait', 'failed', 'done', 'clean failed'],
  ['clean hold', 'failed', 'done', 'clean failed'],
  ['deploying', 'failed', 'done', 'deploy failed'],
  ['clean wait', 'aborted', 'done', 'clean failed'],
  ['cleaning', 'aborted', 'done', 'clean failed'],
  ['service wait', 'aborted', 'done', 'active'],
  ['servicing', 'aborted', 'done', 'active'],
])('from %s, %s, with the end %s: %s', (from, outcome, ends, rests) => {
  expect(restingState(from, outcome, ends)).toBe(rests);
});

test('a service that left something untidied does not put its node back to use', () => {
  expect(restingState('service wait', 'aborted', 'done', true)).toBe('service failed');
});

test('a state that no run ends in is a fault of ours', () => {
  expect(() => restingState('available', 'succeeded', 'done')).toThrow(
    expect.objectContaining({ code: 'Unexpected', facts: { request_id: expect.stringContaining('from available') } }),
  );
});

describe('in the store', () => {
  const lock = { run: 'r1', node_uuid: 'u1', fence: 1 };
  const ending = { lock, outcome: 'succeeded', ends: 'done', fault: null, error: 'x', cursor: 2, power: null };
  const node = { uuid: 'u1', owner: 'p1', lessee: 'p2', target_provision_state: 'available', maintenance: false };
  const endedOf = async (over: object, held: object, answers: Answers = {}) => {
    const store = storeOf({ 'runs.held': { ...node, ...held }, ...answers });
    await endRun(store.inventory as Queries, { ...ending, ...over } as unknown as Ending);
    const [finished] = store.of('runs.finish') as [[unknown, object]];
    return { store, finished: finished[1] };
  };

  test.each([
    // from          ends   outcome      instance power  dropped
    ['deleting', 'done', 'succeeded', true, false, 1],
    ['cleaning', 'done', 'succeeded', false, false, 0],
    ['adopting', 'done', 'failed', false, true, 0],
    ['active', null, 'succeeded', false, false, 0],
  ])(
    'what is forgotten of a node that ends %s',
    async (provision_state, ends, outcome, forgetInstance, forgetPower, dropped) => {
      const { store, finished } = await endedOf({ ends, outcome }, { provision_state });
      expect(finished).toMatchObject({ forgetInstance, forgetPower, state: outcome, cursor: 2 });
      expect(store.of('secrets.dropUnused')).toHaveLength(dropped);
    },
  );

  test('a target stays where the node has not come to rest, and goes where it has', async () => {
    expect((await endedOf({}, { provision_state: 'cleaning' })).finished).toMatchObject({
      to: 'available',
      target: null,
    });
    const failed = await endedOf({ outcome: 'failed' }, { provision_state: 'cleaning' });
    expect(failed.finished).toMatchObject({ to: 'clean failed', target: 'available' });
  });

  test('the maintenance that a failed service left is over with a run that ends well, which an event says', async () => {
    const held = { provision_state: 'servicing', maintenance: true };
    const { store } = await endedOf({}, held, { 'runs.leaveFault': true });
    expect(store.of('runs.leaveFault')).toEqual([['u1', 'service failure']]);
    expect(store.of('events.append')).toEqual([
      [
        {
          kind: 'node.maintenance.cleared',
          node_uuid: 'u1',
          project: 'p1',
          lessee: 'p2',
          data: { maintenance: false, maintenance_reason: null },
        },
      ],
      [expect.objectContaining({ kind: 'run.succeeded', data: { from: 'servicing', to: 'active', error: null } })],
    ]);
    for (const [over, of] of [
      [{ outcome: 'failed' }, held],
      [{}, { ...held, maintenance: false }],
      [{ ends: null }, held],
    ] as const)
      expect((await endedOf(over, of)).store.of('runs.leaveFault')).toEqual([]);
  });

  test('no event says so where it was left for another reason', async () => {
    const store = storeOf({ 'runs.leaveFault': false });
    await recovered(
      store.inventory as Queries,
      { uuid: 'u1', owner: null, lessee: null } as Parameters<typeof recovered>[1],
    );
    expect(store.of('events.append')).toEqual([]);
  });

  test('a second end changes nothing; one of a run that goes on elsewhere is refused', async () => {
    const late = (answers: Answers) => {
      const store = storeOf(answers);
      return { store, done: endRun(store.inventory as Queries, ending as unknown as Ending) };
    };
    const again = late({ 'runs.find': { finished_at: new Date() } });
    expect(await again.done).toBeNull();
    expect(again.store.of('runs.finish')).toEqual([]);
    const stale = { code: 'StaleOperation', facts: { node: 'u1', run: 'r1' } };
    await expect(late({ 'runs.find': { finished_at: null } }).done).rejects.toMatchObject(stale);
    await expect(late({}).done).rejects.toMatchObject(stale);
  });
});
