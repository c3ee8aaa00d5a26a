/** Limit on the time from a command's announcement to its sending, so that a later attempt does not meet a late command. */
import type { buildConnector } from 'undici';
import { TemperError } from '../model/errors';
import type { Timing } from '../model/runs/runs';

export type SendWindow = {
  /** Call before the intent is written, so that the write's time counts. */
  open(): void;
  /** Call when no intent covers the next requests. */
  drop(): void;
  isOpen(): boolean;
};

/**
 * Share of the settle time, which starts when PostgreSQL writes the intent. The command takes effect in the rest, before the next attempt
 * may send again.
 */
const share = 0.75;

/** @param now milliseconds of a monotonic clock; the process's own when absent */
export const createSendWindow = ({ settleMs }: Pick<Timing, 'settleMs'>, now = () => performance.now()): SendWindow => {
  let closesAt = Number.POSITIVE_INFINITY;
  return {
    open() {
      closesAt = now() + share * settleMs;
    },
    drop() {
      closesAt = Number.POSITIVE_INFINITY;
    },
    isOpen: () => now() < closesAt,
  };
};

/** Error of a command that was not sent. `facts`: node, and bmc or agent. */
export const lateError = ({ bmc, agent, ...facts }: Readonly<Record<string, unknown>>): TemperError =>
  new TemperError('CommandLate', { ...facts, to: bmc ?? agent });

/** Closes a connection that was made too late, before the first byte of the request. */
export const whileOpen =
  (connect: buildConnector.connector, mayStillSend: () => boolean, late: () => Error): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...made) => {
      const [, socket] = made;
      if (socket === null || mayStillSend()) return callback(...made);
      socket.destroy();
      callback(late(), null);
    });
