/** Maintenance windows: weekly hours by a zone's own clock, as instants; clocks that change included. */
import { LRUCache } from 'lru-cache';

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
const dayMs = 24 * 60 * minuteMs;

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

// Making a format costs far more than using one. The platform knows fewer than 500 zones; a store may hold other spellings of them.
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
};

/** What the clock of a zone shows at an instant, as if it were UTC, in epoch milliseconds. */
const clockAt = (zone: string, at: number): number => {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!);
};

const offsetAt = (zone: string, at: number): number => clockAt(zone, at) - Math.floor(at / 1_000) * 1_000;

/**
 * The instant at which a zone's clock shows this. Of two, the earlier; of none, because clocks go forward, as much later as
 * they go forward: RFC 5545 section 3.3.5 reads local times so.
 */
const instantOf = (zone: string, clock: number): number => {
  const [before, after] = [offsetAt(zone, clock - dayMs), offsetAt(zone, clock + dayMs)];
  const shown = [before, after].map((offset) => clock - offset).filter((at) => clockAt(zone, at) === clock);
  return shown.length > 0 ? Math.min(...shown) : clock - before;
};

/** The window's openings that begin on this day of the zone's calendar or on the seven after it, in order. */
const openingsFrom = ({ days, from, minutes, zone }: Window, midnight: number): Opening[] => {
  const [hour, minute] = from.split(':').map(Number) as [number, number];
  return Array.from({ length: 9 }, (_, number) => midnight + number * dayMs)
    .filter((day) => days.includes(windowDays[new Date(day).getUTCDay()]!))
    .map((day) => {
      const opens = instantOf(zone, day + (hour * 60 + minute) * minuteMs);
      return { opens, closes: opens + minutes * minuteMs };
    });
};

/**
 * The window's first opening in which something that lasts `needsMs` can be begun at `at` or later and ends before it
 * closes; undefined where the window is too short for it.
 * @param at epoch milliseconds
 */
export const openingFor = (window: Window, at: number, needsMs: number): Opening | undefined => {
  if (needsMs > window.minutes * minuteMs) return undefined;
  // One that began before today may still be open.
  const since = clockAt(window.zone, at - window.minutes * minuteMs);
  const midnight = Math.floor(since / dayMs) * dayMs;
  const weeks = [0, 1].flatMap((week) => openingsFrom(window, midnight + week * 7 * dayMs));
  return weeks.find(({ opens, closes }) => closes - Math.max(opens, at) >= needsMs);
};

/**
 * When something that lasts `needsMs` may begin: `at` itself where one of the windows is open long enough, else the next
 * opening of any; undefined where all are too short.
 */
export const beginsIn = (windows: readonly Window[], at: number, needsMs: number): number | undefined => {
  const begins = windows.flatMap((window) => openingFor(window, at, needsMs)?.opens ?? []);
  return begins.length === 0 ? undefined : Math.max(at, Math.min(...begins));
};
