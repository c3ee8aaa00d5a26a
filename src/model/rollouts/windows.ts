/** Maintenance windows: weekly hours in a time zone, as instants. */
import { Temporal } from 'temporal-polyfill';

export const windowDays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type WindowDay = (typeof windowDays)[number];

export type Window = {
  /** Days of its beginning. */
  readonly days: readonly WindowDay[];
  /** Local time: `22:00`. */
  readonly from: string;
  /** Elapsed time, also across a clock change. */
  readonly minutes: number;
  /** Such as `Europe/Berlin`. */
  readonly zone: string;
};

/** Epoch milliseconds; `closes` is exclusive. */
export type Opening = { readonly opens: number; readonly closes: number };

/** A longer weekly window would overlap its next opening. */
export const mostMinutes = 7 * 24 * 60;
const minuteMs = 60_000;

/**
 * The platform's canonical name: `Europe/Berlin` for `europe/BERLIN`. Undefined for an unknown zone, and for offsets such as `+01:00`,
 * which have no clock changes.
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
 * Openings that begin on this day in the zone or the next fifteen, in order. A repeated local time counts at its first occurrence. A
 * skipped one moves forward by the gap (RFC 5545, 3.3.5).
 */
const openingsFrom = ({ days, from, minutes, zone }: Window, first: Temporal.PlainDate): Opening[] =>
  Array.from({ length: 16 }, (_, number) => first.add({ days: number }))
    .filter(({ dayOfWeek }) => days.includes(windowDays[dayOfWeek % 7]!))
    .map((day) => {
      const opens = day.toZonedDateTime({ timeZone: zone, plainTime: from }).epochMilliseconds;
      return { opens, closes: opens + minutes * minuteMs };
    });

/**
 * The first opening for work of `needsMs` at `at` or later. Undefined if the window is too short.
 * @param at epoch milliseconds
 */
export const openingFor = (window: Window, at: number, needsMs: number): Opening | undefined => {
  if (needsMs > window.minutes * minuteMs) return undefined;
  // An opening from an earlier day may still be open.
  const since = Temporal.Instant.fromEpochMilliseconds(Math.floor(at) - window.minutes * minuteMs);
  const openings = openingsFrom(window, since.toZonedDateTimeISO(window.zone).toPlainDate());
  return openings.find(({ opens, closes }) => closes - Math.max(opens, at) >= needsMs);
};

/** `at` if one of the windows is open long enough, otherwise the next opening. Undefined if all are too short. */
export const beginsIn = (windows: readonly Window[], at: number, needsMs: number): number | undefined => {
  const begins = windows.flatMap((window) => openingFor(window, at, needsMs)?.opens ?? []);
  return begins.length === 0 ? undefined : Math.max(at, Math.min(...begins));
};
