/** Ledger of an act with several commands, kept in its intent and written before each command. So no attempt sends one twice. */
import { isDeepStrictEqual } from 'node:util';
import { TemperError } from '../../../model/errors';
import type { ActContext, Intent } from '../../contract';
import { aged, dated, type LedgerEntry, type Pages, type RestartEntry } from './ledger-times';
export type Ledger = {
  /** The first plan is kept: a later attempt must not make another after half of the work. */
  plan<Plan>(make: () => Promise<Plan>): Promise<Plan>;
  job(key: string): LedgerEntry | undefined;
  putJob(key: string, entry: LedgerEntry): Promise<void>;
  dropJob(key: string): Promise<void>;
  /** True if no other command was sent later, so anything new at the BMC comes from this one. */
  isLatest(key: string): boolean;
  restart(key: string): RestartEntry | undefined;
  putRestart(key: string, entry: RestartEntry): Promise<void>;
};

const without = <T>(all: Readonly<Record<string, T>>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([each]) => each !== key));

const pagesOf = (intent: Intent | undefined, desired: Pages['desired']): Pages =>
  intent && isDeepStrictEqual(intent.detail.desired, desired) ? dated(intent) : { desired, jobs: {}, restarts: {} };

/**
 * Temporal's retries have higher attempt numbers and never send a failed command again. A lower number means that an operator started
 * the act again.
 */
const rethrow = ({ jobs }: Pages, attempt: number): void => {
  for (const { verdict } of Object.values(jobs))
    if (verdict && attempt > verdict.attempt) throw new TemperError(verdict.code, verdict.facts);
};

/** `desired` has no secrets. A ledger with another one is ignored. */
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
