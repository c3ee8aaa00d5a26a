/** Maintenance windows as instants, by the real data of time zones: days, clocks that change, what fits into the rest. */
import fc from 'fast-check';
import { beginsIn, openingFor, type Window, zoneNamed } from '../../src/model/rollouts/windows';

const night: Window = { days: ['sat'], from: '22:00', minutes: 240, zone: 'Europe/Berlin' };
const minute = 60_000;
const at = (text: string) => Date.parse(text);
const shown = (window: Window, from: string, needs = 0) => {
  const opening = openingFor(window, at(from), needs * minute);
  return opening && [new Date(opening.opens).toISOString(), new Date(opening.closes).toISOString()];
};

describe('a window', () => {
  test.each([
    ['before it', '2026-11-20T00:00:00Z', '2026-11-21T21:00:00.000Z'],
    ['at its beginning', '2026-11-21T21:00:00Z', '2026-11-21T21:00:00.000Z'],
    ['in it, on the next day already', '2026-11-22T00:59:59Z', '2026-11-21T21:00:00.000Z'],
    ['after it', '2026-11-22T01:00:00.001Z', '2026-11-28T21:00:00.000Z'],
    ['in summer', '2026-07-01T00:00:00Z', '2026-07-04T20:00:00.000Z'],
  ])('%s: opens by the clock of its zone', (_, from, opens) => {
    expect(shown(night, from)).toEqual([opens, new Date(at(opens) + 240 * minute).toISOString()]);
  });

  test('admits only what ends before it closes, and puts the rest off to its next opening', () => {
    const inIt = '2026-11-21T23:30:00Z'; // 90 minutes are left
    expect(shown(night, inIt, 90)?.[0]).toBe('2026-11-21T21:00:00.000Z');
    expect(shown(night, inIt, 91)?.[0]).toBe('2026-11-28T21:00:00.000Z');
    expect(shown(night, inIt, 241)).toBeUndefined();
  });
});

// Berlin 2026: clocks go forward on 29 March from 02:00 to 03:00, back on 25 October from 03:00 to 02:00.
describe('where clocks change', () => {
  test.each([
    // A beginning that the clock leaves out is as much later as the clock goes forward.
    ['02:30', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['03:00', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['01:59', '2026-03-28T12:00:00Z', '2026-03-29T00:59:00.000Z'],
    // Of a beginning that the clock shows twice, the first.
    ['02:30', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z'],
    ['03:00', '2026-10-24T12:00:00Z', '2026-10-25T02:00:00.000Z'],
  ])('a window from %s after %s opens at %s', (from, after, opens) => {
    expect(shown({ ...night, days: ['sun'], from, minutes: 60 }, after)?.[0]).toBe(opens);
  });

  test.each(['2026-03-28T12:00:00Z', '2026-10-24T12:00:00Z'])('it lasts as long as ever, after %s', (after) => {
    const [opens, closes] = shown({ ...night, from: '23:00', minutes: 300 }, after)!;
    expect(at(closes!) - at(opens!)).toBe(300 * minute);
  });

  test.each([
    ['Australia/Lord_Howe', '2026-10-03T00:00:00Z', '02:15', '2026-10-03T15:45:00.000Z'], // forward by half an hour
    ['America/New_York', '2026-03-07T12:00:00Z', '02:30', '2026-03-08T07:30:00.000Z'],
    ['Asia/Kathmandu', '2026-05-02T00:00:00Z', '00:00', '2026-05-02T18:15:00.000Z'], // never changes, 5:45 ahead
    ['UTC', '2026-05-02T00:00:00Z', '00:00', '2026-05-03T00:00:00.000Z'],
  ])('in %s after %s, %s is %s', (zone, after, from, opens) => {
    expect(shown({ days: ['sun'], from, minutes: 60, zone }, after)?.[0]).toBe(opens);
  });
});

test('of several windows the one that lets it begin first counts', () => {
  const sunday: Window = { ...night, days: ['sun'], from: '08:00', minutes: 60 };
  const from = at('2026-11-20T00:00:00Z');
  expect(beginsIn([sunday, night], from, 30 * minute)).toBe(at('2026-11-21T21:00:00Z'));
  expect(beginsIn([sunday, night], at('2026-11-21T23:00:00Z'), 120 * minute)).toBe(at('2026-11-21T23:00:00Z'));
  expect(beginsIn([sunday], from, 120 * minute)).toBeUndefined();
  expect(beginsIn([], from, 0)).toBeUndefined();
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Etc/GMT+5', true],
  ['Europe/Atlantis', false],
  ['+01:00', false],
  ['', false],
  ['Europe/Berlin; drop', false],
])('%s is a zone: %s', (zone, is) => expect(zoneNamed(zone) !== undefined).toBe(is));

test('a zone has one name, in whatever letters it is given', () => {
  expect(['europe/BERLIN', 'aMeRiCa/NeW_yOrK', 'utc'].map(zoneNamed)).toEqual([
    'Europe/Berlin',
    'America/New_York',
    'UTC',
  ]);
});

test('the clock of the database has parts of a millisecond', () => {
  const whole = Date.UTC(2026, 0, 1);
  expect(openingFor(night, whole + 0.25, 0)).toEqual(openingFor(night, whole, 0));
});

test('what is given fits into its opening, is not before what was asked, and no opening that would do comes earlier', () => {
  const days = fc.uniqueArray(fc.constantFrom('sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'), { minLength: 1 });
  const zone = fc.constantFrom('Europe/Berlin', 'America/Santiago', 'Australia/Lord_Howe', 'Africa/Casablanca', 'UTC');
  const time = fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2028-01-01T00:00:00Z') });
  const clock = fc
    .tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 }))
    .map((both) => both.map((n) => `${n}`.padStart(2, '0')).join(':'));
  fc.assert(
    fc.property(days, clock, fc.integer({ min: 1, max: 10_080 }), zone, time, fc.nat({ max: 10_080 }), (...given) => {
      const [on, from, minutes, where, now, needs] = given;
      const window = { days: on, from, minutes, zone: where } as Window;
      const opening = openingFor(window, now, needs * minute);
      if (needs > minutes) return opening === undefined;
      if (!opening) return false;
      const begins = Math.max(now, opening.opens);
      const earlier = openingFor(window, now, 0)!;
      return (
        opening.closes - begins >= needs * minute &&
        opening.opens - now <= 15 * 24 * 60 * minute &&
        earlier.opens <= opening.opens
      );
    }),
    { numRuns: 500 },
  );
});
