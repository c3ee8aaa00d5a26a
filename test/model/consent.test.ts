/** Whether a tenant's node may be taken: its answer, its windows, its budget, in that order. */
import { type ConsentFacts, consentOf, tenantOf, termsOf } from '../../src/model/rollouts/consent';
import type { Window } from '../../src/model/rollouts/windows';

const hour = 3_600_000;
const now = Date.parse('2026-11-21T21:30:00Z'); // a Saturday
const night: Window = { days: ['sat'], from: '21:00', minutes: 120, zone: 'UTC' }; // 90 minutes are left
const sunday: Window = { days: ['sun'], from: '08:00', minutes: 60, zone: 'UTC' };
const facts = { windows: [], budgeted: false, now, needsMs: hour } satisfies ConsentFacts;
const waits = (until: string) => ({ is: 'waits', until: Date.parse(until), reason: expect.any(String) });
const [given, asks] = [{ is: 'given' }, { is: 'asks' }];

test.each<[string, Partial<ConsentFacts>, object]>([
  ['without any word the tenant is asked', {}, asks],
  ['now', { answer: { answer: 'now' } }, given],
  [
    'at a time to come',
    { answer: { answer: 'at', at: now + hour } },
    { is: 'waits', until: now + hour, reason: expect.stringContaining('this time') },
  ],
  ['at a time that is over', { answer: { answer: 'at', at: now - 1 } }, given],
  ['in an open window', { answer: { answer: 'in', window: night } }, given],
  ['in a window that opens later', { answer: { answer: 'in', window: sunday } }, waits('2026-11-22T08:00:00Z')],
  [
    'in a window that closes too soon',
    { answer: { answer: 'in', window: night }, needsMs: 1.6 * hour },
    waits('2026-11-28T21:00:00Z'),
  ],
  ['in a window that is too short', { answer: { answer: 'in', window: sunday }, needsMs: 2 * hour }, asks],
  ['in a window that was deleted', { answer: { answer: 'in', window: null } }, asks],
  ['refuse', { answer: { answer: 'refuse', reason: 'no' } }, { is: 'refused', reason: 'no' }],
  ['a window of the project, open', { windows: [sunday, night] }, given],
  ['a window of the project, later', { windows: [sunday] }, waits('2026-11-22T08:00:00Z')],
  ['a budget', { budgeted: true }, given],
  ['a budget beside a window: both hold', { budgeted: true, windows: [sunday] }, waits('2026-11-22T08:00:00Z')],
  ['a budget beside a window that is too short', { budgeted: true, windows: [sunday], needsMs: 2 * hour }, asks],
  ['silence that is passed over', { forced: true }, { is: 'forced' }],
  [
    'a refusal after all',
    { forced: true, answer: { answer: 'refuse', reason: 'no' } },
    { is: 'refused', reason: 'no' },
  ],
  ['an answer counts before the window', { answer: { answer: 'now' }, windows: [sunday] }, given],
  [
    'a refusal counts before the budget',
    { answer: { answer: 'refuse', reason: null }, budgeted: true },
    { is: 'refused', reason: null },
  ],
])('%s', (_, more, wanted) => expect(consentOf({ ...facts, ...more })).toEqual(wanted));

test('the project that uses a node is asked', () => {
  expect(tenantOf({ owner: 'o', lessee: 'l' })).toBe('l');
  expect(tenantOf({ owner: 'o', lessee: null })).toBe('o');
  expect(tenantOf({ owner: null, lessee: null })).toBeNull();
});

test('a rollout that says nothing waits a day', () => {
  expect(termsOf({})).toEqual({ grace_ms: 24 * hour, force: 'never' });
  expect(termsOf({ consent: { grace_ms: 0 } })).toEqual({ grace_ms: 0, force: 'never' });
});
