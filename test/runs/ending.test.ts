/** Where a node comes to rest, by the state it is in, how its run ended, and whether what the run left could be tidied. */
import type { Event, ProvisionState } from '../../src/model/lifecycle/states';
import { type Ending, restingState } from '../../src/runs/ending';

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
