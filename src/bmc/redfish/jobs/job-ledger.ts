/**
 * What an act that sends several commands has sent so far: kept in its intent, written before each command leaves, so that
 * an attempt that goes on after a crash knows what may be under way and never sends it again.
 */
import { isDeepStrictEqual } from 'node:util';
import { TemperError } from '../../../model/errors';
import type { ActContext, Intent } from '../../contract';
import { aged, dated, type LedgerEntry, type Pages, type RestartEntry } from './ledger-times';
export type Ledger = {
  /** Made once and kept: a later attempt must not plan anew with half of the work done. */
  plan<Plan>(make: () => Promise<Plan>): Promise<Plan>;
  job(key: string): LedgerEntry | undefined;
  putJob(key: string, entry: LedgerEntry): Promise<void>;
  dropJob(key: string): Promise<void>;
  /** Whether no other command was sent after this one, so that whatever is new at the BMC is its doing. */
  isLatest(key: string): boolean;
  restart(key: string): RestartEntry | undefined;
  putRestart(key: string, entry: RestartEntry): Promise<void>;
};

const without = <T>(all: Readonly<Record<string, T>>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([each]) => each !== key));

const pagesOf = (intent: Intent | undefined, desired: Pages['desired']): Pages =>
  intent && isDeepStrictEqual(intent.detail.desired, desired) ? dated(intent) : { desired, jobs: {}, restarts: {} };

/**
 * A command that ended badly is never sent again by the engine's own retries, which count on from the attempt of that end.
 * An attempt that does not is a new beginning that a person asked for.
 */
const rethrow = ({ jobs }: Pages, attempt: number): void => {
  for (const { verdict } of Object.values(jobs))
    if (verdict && attempt > verdict.attempt) throw new TemperError(verdict.code, verdict.facts);
};

/** Opens the ledger of this act. `desired` is JSON without secrets: a ledger for something else is not read. */
export const openLedger = async (
  { intents, attempt }: Pick<ActContext, 'intents' | 'attempt'>,
  desired: Pages['desired'],
): Promise<Ledger> => {
  let pages = pagesOf(await intents.last(), desired);
  rethrow(pages, attempt);
  const write = async (change: Partial<Pages>): Promise<void> => {
    pages = { ...pages, ...change };
    await intents.record(aged(pages));
  };
  return {
    async plan<Plan>(make: () => Promise<Plan>) {
      if (pages.plan === undefined) await write({ plan: await make() });
      return pages.plan as Plan;
    },
    job: (key) => pages.jobs[key],
    putJob: (key, entry) => write({ jobs: { ...pages.jobs, [key]: entry } }),
    dropJob: (key) => write({ jobs: without(pages.jobs, key), restarts: without(pages.restarts, key) }),
    isLatest: (key) => Object.values(pages.jobs).every(({ sent }) => sent <= (pages.jobs[key]?.sent ?? 0)),
    restart: (key) => pages.restarts[key],
    putRestart: (key, entry) => write({ restarts: { ...pages.restarts, [key]: entry } }),
  };
};
