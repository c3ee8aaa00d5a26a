/** One command of long work: its sending, effect and need for a restart. */
import { isTemperError, type TemperError } from '../../../model/errors';
import type { Client, Sent } from '../transport/client';
import type { Ledger } from './job-ledger';

type Effect = { readonly shows: boolean; readonly seen: string };

export type Job = {
  /** Key in the ledger, like `update bios`. */
  readonly key: string;
  readonly limitMs: number;
  /** State as JSON without secrets, to recognise the effect. */
  readonly before: () => Promise<unknown>;
  readonly send: () => Promise<Sent>;
  /** `endedWell`: the task reported success. */
  readonly effect: (before: unknown, endedWell: boolean) => Promise<Effect>;
  /** True if the effect is there already, so nothing is sent. */
  readonly unneeded?: () => Promise<boolean>;
  /** `if it waits`: if its task waits for a restart or ends without effect. */
  readonly restart: 'surely' | 'if it waits' | 'never';
  /** Wait of a task before the host is restarted for it. */
  readonly waitMs?: number;
  /** The BMC may restart meanwhile, so odd answers are ignored. */
  readonly away?: true;
  readonly after?: () => Promise<void>;
};

export type JobContext = { readonly client: Client; readonly ledger: Ledger };

const passing: readonly string[] = ['BmcUnreachable', 'BmcServerError', 'BmcBusy'];
const passingWhileAway: readonly string[] = [...passing, 'BmcAuthFailed', 'BmcRejected', 'BmcUnsupported'];

/** Returns an error that a later look may mend. */
export const tryRead = async <T>(client: Client, away: boolean, look: () => Promise<T>): Promise<T | TemperError> => {
  try {
    return await look();
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (isTemperError(error) && (away ? passingWhileAway : passing).includes(error.code)) return error;
    throw error;
  }
};
