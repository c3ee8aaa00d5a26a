/** Deletes what is older than the installation keeps it, a bounded part in each pass. */
import type { Inventory } from '../inventory';
import type { Forgotten, RunPlace } from '../inventory/retention';
import type { Log } from '../model/log';

/** Where passes go on that could not look at everything: rows that have to stay must not be all that is ever looked at. */
export type HistoryPlaces = { events?: number; runs?: RunPlace };

export type RetentionDeps = {
  readonly inventory: Inventory;
  readonly log: Log;
  /** Whole months of events and ended runs that are kept beside the present one; all when unset or 0. */
  readonly historyMonths?: number;
  /** Kept from pass to pass; each begins with the oldest where it is absent. */
  readonly historyPlaces?: HistoryPlaces;
};

// A batch is one short transaction. A pass a minute of so many deletes 70 million events a day.
const rowsInBatch = 5_000;
const batchesInPass = 10;

const inBatches = async <Place>(
  batch: (past?: Place) => Promise<Forgotten<Place>>,
  from: Place | undefined,
  beat: () => void,
): Promise<Forgotten<Place>> => {
  let forgotten = 0;
  let next = from;
  for (let count = 0; count < batchesInPass; count++) {
    beat();
    const done = await batch(next);
    forgotten += done.forgotten;
    next = done.next;
    if (next === undefined) return { forgotten };
  }
  return { forgotten, next };
};

/** Events first: a run stays for as long as an event names it. What does not succeed now is left to a later pass. */
export const forgetHistory = async (
  { inventory: { retention }, log, historyMonths: months = 0, historyPlaces: places = {} }: RetentionDeps,
  beat: () => void = () => {},
): Promise<void> => {
  if (months === 0) return;
  try {
    const events = await inBatches<number>((past) => retention.events(months, rowsInBatch, past), places.events, beat);
    places.events = events.next;
    const runs = await inBatches<RunPlace>((past) => retention.runs(months, rowsInBatch, past), places.runs, beat);
    places.runs = runs.next;
    const gone = { events: events.forgotten, runs: runs.forgotten };
    if (gone.events + gone.runs > 0) log.info('history deleted by age', { ...gone, kept_months: months });
  } catch (thrown) {
    log.warn('history could not be deleted by age', { reason: String(thrown) });
  }
};
