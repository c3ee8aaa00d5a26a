/** Supervises the ramdisk thread: starts and ends it with the API, and restarts it on the same port. */
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../observe/log';
import type { Counted } from '../../observe/metrics';
import { ConfigFault } from '../settings/fault';
import type { FromThread, ThreadStart, ToThread } from './ramdisk-messages';

const program = join(__dirname, `../../bin/ramdisk-thread${extname(__filename)}`);

const startAgainAfterMs = 1_000;
/** For running requests after the drain. */
const endWithinMs = 30_000;
/** After that, the last metrics are used. */
const countWithinMs = 500;

export type RamdiskListener = {
  readonly port: number;
  /** Current or last known metrics. */
  counted(): Promise<Counted>;
  /** Drains the thread; terminates it after a time limit. */
  end(): Promise<void>;
};

type Thread = { readonly worker: Worker; readonly started: Promise<number>; readonly ended: Promise<unknown> };

const logMessage = (worker: Worker, message: ToThread): void => worker.postMessage(message);

const startThread = (start: ThreadStart, log: Logger, onCounted: (counted: Counted) => void): Thread => {
  const worker = new Worker(program, { workerData: start });
  worker.on('error', (error) => log.error('the thread of ramdisks failed', { error }));
  const ended = new Promise((done) => worker.once('exit', done));
  const started = new Promise<number>((done, fail) => {
    worker.on('message', (message: FromThread) => {
      if (message.is === 'listening') done(message.port);
      else if (message.is === 'fault') fail(new ConfigFault(message.faults));
      else onCounted(message.counted);
    });
    void ended.then(() => fail(new Error('the thread of ramdisks ended before it listened')));
  });
  // Terminates a thread that could not listen, so that `ended` resolves.
  started.catch(() => worker.terminate());
  return { worker, started, ended };
};

/**
 * Resolves when the thread listens.
 * @throws ConfigFault if its address is unavailable or a file of its settings is invalid
 */
export const startRamdiskListener = async (
  { drainMs }: { readonly drainMs: number },
  log: Logger,
): Promise<RamdiskListener> => {
  const ending = new AbortController();
  let last: Counted = [];
  const begin = (start: ThreadStart) =>
    startThread(start, log, (counted) => {
      last = counted;
    });
  let thread = begin({});
  const port = await thread.started;
  const keep = async (): Promise<void> => {
    for (;;) {
      await thread.ended;
      if (ending.signal.aborted) return;
      log.error('the listener of ramdisks ended, it is started again', { port });
      await pause(startAgainAfterMs, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) return;
      thread = begin({ port });
      thread.started.then(
        () => log.info('listening for ramdisks', { port }),
        (error) => log.error('the listener of ramdisks did not start', { error }),
      );
    }
  };
  void keep();
  return {
    port,
    async counted() {
      const answered = once(thread.worker, 'message', { signal: AbortSignal.timeout(countWithinMs) });
      logMessage(thread.worker, { is: 'count' });
      await Promise.race([answered, thread.ended]).catch(() => {});
      return last;
    },
    async end() {
      ending.abort();
      logMessage(thread.worker, { is: 'end' });
      const late = setTimeout(() => void thread.worker.terminate(), drainMs + endWithinMs);
      await thread.ended;
      clearTimeout(late);
    },
  };
};
