/** Bounded deletion of old history. */
import type { Inventory } from '../inventory';
import type { Forgotten, RunPlace } from '../inventory/retention';
import type { Log } from '../model/log';

/** Positions for the next pass, so that rows which have to stay do not use up every pass. */
export type HistoryPlaces = { events?: number; runs?: RunPlace };

export type RetentionDeps = {
  readonly inventory: Inventory;
  readonly log: Log;
  /** Whole months kept beside the current one; all if unset or 0. */
  readonly historyMonths?: number;
  readonly historyPlaces?: HistoryPlaces;
};

// A batch is a short transaction. One pass a minute deletes 70 million events a day.
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

/** Events first, because a run stays while an event names it. A later pass repeats what fails. */
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
