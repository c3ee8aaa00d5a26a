/** Kinds of events: an event of a misspelled kind does not compile, and a webhook that names one is refused. */
import type { EventRow } from '../../src/inventory/events';
import { isEventKind, webhookKinds } from '../../src/model/resources/event-kinds';
import { eventKindFault } from '../../src/model/resources/webhooks';

test('an event of a misspelled kind does not compile', () => {
  // @ts-expect-error there is no such kind
  const row: EventRow = { kind: 'run.failled' };
  expect(isEventKind(row.kind)).toBe(false);
});

test('a webhook can name every kind but the acts of steps, which are for streams', () => {
  expect(webhookKinds.filter((kind) => eventKindFault(kind) !== undefined)).toEqual([]);
  expect(['act.done', 'act.*'].map(eventKindFault)).toEqual([expect.any(String), expect.any(String)]);
});

test.each([
  '*',
  'run.*',
  'step.*',
  'run.parked',
  'run.retrying',
  'node.maintenance.set',
  'port.created',
  'discovered_machine.enrolled',
  'discovered_machine.*',
  'run.pause.refused',
  'run.unhold',
  'rollout.target.soaking',
])('%s can be named', (kind) => expect(eventKindFault(kind)).toBeUndefined());

test.each([
  ['run.failled', 'run.failed'],
  ['run.park', 'run.parked'],
  ['nodes.*', 'node.*'],
  ['node.maintenence.set', 'node.maintenance.set'],
])('%s is refused, and %s is offered', (kind, near) => expect(eventKindFault(kind)).toContain(`Did you mean ${near}?`));

test('what is near nothing is refused without an offer', () =>
  expect(eventKindFault('something.else.entirely')).toMatch(/^must be \*(?!.*Did you mean)/));
