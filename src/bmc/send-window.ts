/** For how long after its announcement a command may still leave this process: a later attempt must not meet it on its way. */
import type { buildConnector } from 'undici';
import { TemperError } from '../model/errors';
import type { Timing } from '../model/runs/runs';

export type SendWindow = {
  /** Called before an intent is written, so that the time that writing takes is counted. */
  open(): void;
  /** Nothing is announced any more: what is sent now is no command of an intent. */
  drop(): void;
  isOpen(): boolean;
};

/**
 * Of the settle time, which counts from the moment the store wrote the intent. The rest is for the command to take effect, so
 * that the look of the attempt after it, which may send once more when that time is over, sees it.
 */
const share = 0.75;

/** @param now milliseconds of a clock that is never set; the process's own when absent */
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

/** What a command amounts to that was not sent because its window had closed. `facts`: node, and bmc or agent. */
export const lateError = ({ bmc, agent, ...facts }: Readonly<Record<string, unknown>>): TemperError =>
  new TemperError('CommandLate', { ...facts, to: bmc ?? agent });

/** The last look before the wire: a connection that was made too late is closed before the first byte of the request. */
export const whileOpen =
  (connect: buildConnector.connector, mayStillSend: () => boolean, late: () => Error): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...made) => {
      const [, socket] = made;
      if (socket === null || mayStillSend()) return callback(...made);
      socket.destroy();
      callback(late(), null);
    });
