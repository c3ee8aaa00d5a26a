/** What one command of long work is: how it is sent, how its effect is recognised, and what it needs of the host. */
import { isTemperError, type TemperError } from '../../../model/errors';
import type { Client, Sent } from '../transport/client';
import type { Ledger } from './job-ledger';

type Effect = { readonly shows: boolean; readonly seen: string };

export type Job = {
  /** Names it in the ledger and for operators: `update bios`. */
  readonly key: string;
  /** How long the BMC may take. */
  readonly limitMs: number;
  /** What is true before, as JSON without secrets: the effect is recognised by it. */
  readonly before: () => Promise<unknown>;
  readonly send: () => Promise<Sent>;
  /** `endedWell`: the BMC says so of its task. */
  readonly effect: (before: unknown, endedWell: boolean) => Promise<Effect>;
  /** It is done already, so that nothing is sent. */
  readonly unneeded?: () => Promise<boolean>;
  /** Whether it needs a start of the host: surely, if its task waits for one or ends without effect, or never. */
  readonly restart: 'surely' | 'if it waits' | 'never';
  /** How long a task may say that it waits before that is believed. */
  readonly waitMs?: number;
  /** The BMC may go away by itself meanwhile: answers that make no sense are then looked over. */
  readonly away?: true;
  /** Comes before it counts as done. */
  readonly after?: () => Promise<void>;
};

export type JobContext = { readonly client: Client; readonly ledger: Ledger };

const passing: readonly string[] = ['BmcUnreachable', 'BmcServerError', 'BmcBusy'];
const passingWhileAway: readonly string[] = [...passing, 'BmcAuthFailed', 'BmcRejected', 'BmcUnsupported'];

/** One look while waiting; a failure that a later look may mend is a result like any other. */
export const tryRead = async <T>(client: Client, away: boolean, look: () => Promise<T>): Promise<T | TemperError> => {
  try {
    return await look();
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (isTemperError(error) && (away ? passingWhileAway : passing).includes(error.code)) return error;
    throw error;
  }
};
