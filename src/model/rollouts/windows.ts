/** Maintenance windows: weekly hours by a zone's own clock, as instants; clocks that change included. */
import { Temporal } from 'temporal-polyfill';

export const windowDays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type WindowDay = (typeof windowDays)[number];

export type Window = {
  /** On which it begins. */
  readonly days: readonly WindowDay[];
  /** The zone's clock at its beginning: `22:00`. */
  readonly from: string;
  /** How long it lasts by elapsed time, also over a change of the clock. */
  readonly minutes: number;
  /** A name of the time zone database, such as `Europe/Berlin`. */
  readonly zone: string;
};

/** Epoch milliseconds; `closes` is the first that is outside. */
export type Opening = { readonly opens: number; readonly closes: number };

/** A week is the longest that a weekly window can last without meeting itself. */
export const mostMinutes = 7 * 24 * 60;
const minuteMs = 60_000;

/**
 * The platform's one name of a zone, whatever letters and alias it is given in: `Europe/Berlin` for `europe/BERLIN`. Undefined where the
 * platform knows no such zone. Offsets such as `+01:00` are none: they have no clock that changes.
 */
export const zoneNamed = (zone: string): string | undefined => {
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/**
 * The window's openings that begin on this day of the zone's calendar or on the fifteen after it, in order. If a clock shows the time
 * twice, the earlier counts. If it skips the time, the opening is as much later as the clock goes forward (RFC 5545, 3.3.5).
 */
const openingsFrom = ({ days, from, minutes, zone }: Window, first: Temporal.PlainDate): Opening[] =>
  Array.from({ length: 16 }, (_, number) => first.add({ days: number }))
    .filter(({ dayOfWeek }) => days.includes(windowDays[dayOfWeek % 7]!))
    .map((day) => {
      const opens = day.toZonedDateTime({ timeZone: zone, plainTime: from }).epochMilliseconds;
      return { opens, closes: opens + minutes * minuteMs };
    });

/**
 * The window's first opening in which something that lasts `needsMs` can be begun at `at` or later and ends before it
 * closes; undefined where the window is too short for it.
 * @param at epoch milliseconds
 */
export const openingFor = (window: Window, at: number, needsMs: number): Opening | undefined => {
  if (needsMs > window.minutes * minuteMs) return undefined;
  // One that began before today may still be open.
  const since = Temporal.Instant.fromEpochMilliseconds(Math.floor(at) - window.minutes * minuteMs);
  const openings = openingsFrom(window, since.toZonedDateTimeISO(window.zone).toPlainDate());
  return openings.find(({ opens, closes }) => closes - Math.max(opens, at) >= needsMs);
};

/**
 * When something that lasts `needsMs` may begin: `at` itself where one of the windows is open long enough, else the next
 * opening of any; undefined where all are too short.
 */
export const beginsIn = (windows: readonly Window[], at: number, needsMs: number): number | undefined => {
  const begins = windows.flatMap((window) => openingFor(window, at, needsMs)?.opens ?? []);
  return begins.length === 0 ? undefined : Math.max(at, Math.min(...begins));
};
