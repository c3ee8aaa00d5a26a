/** Deletes what is older than the installation keeps it, a bounded part in each pass. */
import type { Inventory } from '../inventory';
import type { Log } from '../model/log';

export type RetentionDeps = {
  readonly inventory: Inventory;
  readonly log: Log;
  /** Whole months of events and ended runs that are kept beside the present one; all when unset or 0. */
  readonly historyMonths?: number;
};

// A batch is one short transaction. A pass a minute of so many deletes 70 million events a day.
const rowsInBatch = 5_000;
const batchesInPass = 10;

const inBatches = async <Place>(
  batch: (past?: Place) => Promise<{ readonly forgotten: number; readonly next?: Place }>,
  beat: () => void,
): Promise<number> => {
  let forgotten = 0;
  let past: Place | undefined;
  for (let count = 0; count < batchesInPass; count++) {
    beat();
    const done = await batch(past);
    forgotten += done.forgotten;
    if (done.next === undefined) break;
    past = done.next;
  }
  return forgotten;
};

/** Events first: a run stays for as long as an event names it. What does not succeed now is left to a later pass. */
export const forgetHistory = async (
  { inventory: { retention }, log, historyMonths: months = 0 }: RetentionDeps,
  beat: () => void = () => {},
): Promise<void> => {
  if (months === 0) return;
  try {
    const events = await inBatches<number>((past) => retention.events(months, rowsInBatch, past), beat);
    const runs = await inBatches<{ at: string; id: string }>((past) => retention.runs(months, rowsInBatch, past), beat);
    if (events + runs > 0) log.info('history deleted by age', { events, runs, kept_months: months });
  } catch (thrown) {
    log.warn('history could not be deleted by age', { reason: String(thrown) });
  }
};
