/** One command of long work: its sending, its effect, and its need for a restart. */
import { isTemperError, type TemperError } from '../../../model/errors';
import type { Client, Sent } from '../transport/client';
import type { Ledger } from './job-ledger';

type Effect = { readonly shows: boolean; readonly seen: string };

export type Job = {
  /** Key in the ledger and text for operators: `update bios`. */
  readonly key: string;
  /** Time limit of the BMC. */
  readonly limitMs: number;
  /** State before the command, as JSON without secrets, to recognise the effect. */
  readonly before: () => Promise<unknown>;
  readonly send: () => Promise<Sent>;
  /** `endedWell`: the task reported success. */
  readonly effect: (before: unknown, endedWell: boolean) => Promise<Effect>;
  /** True if it is done already and nothing must be sent. */
  readonly unneeded?: () => Promise<boolean>;
  /** `if it waits`: restart if its task waits for one or ends without effect. */
  readonly restart: 'surely' | 'if it waits' | 'never';
  /** Time that a task must wait before the host is restarted for it. */
  readonly waitMs?: number;
  /** The BMC may restart meanwhile, so odd answers are ignored. */
  readonly away?: true;
  /** Runs before the job counts as done. */
  readonly after?: () => Promise<void>;
};

export type JobContext = { readonly client: Client; readonly ledger: Ledger };

const passing: readonly string[] = ['BmcUnreachable', 'BmcServerError', 'BmcBusy'];
const passingWhileAway: readonly string[] = [...passing, 'BmcAuthFailed', 'BmcRejected', 'BmcUnsupported'];

/** One look while waiting. Returns an error that a later look may mend. */
export const tryRead = async <T>(client: Client, away: boolean, look: () => Promise<T>): Promise<T | TemperError> => {
  try {
    return await look();
  } catch (error) {
    client.context.signal.throwIfAborted();
    if (isTemperError(error) && (away ? passingWhileAway : passing).includes(error.code)) return error;
    throw error;
  }
};
