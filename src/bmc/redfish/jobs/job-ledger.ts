/**
 * What an act that sends several commands has sent so far: kept in its intent, written before each command leaves, so that
 * whoever goes on after a crash knows what may be under way and never sends it again.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, type Facts, TemperError } from '../../../model/errors';
import type { ActContext, Intent } from '../../contract';
import { aged, dated } from './ledger-times';

/** Where a command's progress can be read; both are kept, because BMCs mix them up. */
export type TaskRefs = { readonly monitor?: string; readonly task?: string };

/** How a command ended that did not end well, and in which attempt. */
type Verdict = { readonly code: ErrorCode; readonly facts: Facts; readonly attempt: number };

/** One command. Times are milliseconds of this process's monotonic clock; the store keeps their age (ledger-times.ts). */
export type Entry = TaskRefs & {
  readonly is: 'sent' | 'accepted' | 'done' | 'ended';
  /** What was true before, to recognise the effect by. */
  readonly before: unknown;
  readonly sent: number;
  /** Tasks that the BMC had before: a new one is ours when no answer named it. Null: it lists none. */
  readonly tasks: readonly string[] | null;
  /** When the BMC was first seen to have finished with it, or to have lost its task. */
  readonly over?: number;
  /** It said that it ended well; it may have forgotten that by now. */
  readonly well?: true;
  /** The BMC answered that it was done at once. */
  readonly final?: true;
  readonly verdict?: Verdict;
};

/** A restart of the host that belongs to the work: how far it is, and the intent of the power command under way. */
export type RestartEntry = {
  readonly is: 'off' | 'on' | 'done';
  /** `sent` on this process's monotonic clock; `sent_at` is for people. */
  readonly power?: { readonly sent: number; readonly sent_at: string; readonly detail: Intent['detail'] };
};

export type Pages = {
  readonly desired: Readonly<Record<string, unknown>>;
  readonly plan?: unknown;
  readonly jobs: Readonly<Record<string, Entry>>;
  readonly restarts: Readonly<Record<string, RestartEntry>>;
};

export type Ledger = {
  /** Made once and kept: a later attempt must not plan anew with half of the work done. */
  plan<Plan>(make: () => Promise<Plan>): Promise<Plan>;
  job(key: string): Entry | undefined;
  putJob(key: string, entry: Entry): Promise<void>;
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
