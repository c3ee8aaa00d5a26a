/** Writes an answer that goes on: server-sent events, as fast as the client reads them. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Where a stream writes to. */
export type Sink = {
  /** Resolves when the client has room for more; rejects when it is gone or does not read for a minute. */
  write(text: string): Promise<void>;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
};

/** The rest of an answer; it ends when this resolves. */
export type Stream = (sink: Sink) => Promise<void>;

// A client that reads nothing for so long has gone, whatever its connection says.
const drainWithinMs = 60_000;

/** Proxies must neither keep nor collect what is meant for now. */
export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

const sinkOf = (response: ServerResponse): Sink => {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('the client is gone'));
  if (response.destroyed) leave();
  else response.once('close', leave);
  return {
    signal: gone.signal,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (gone.signal.aborted) return reject(gone.signal.reason);
        if (response.write(text)) return resolve();
        const settle = (then: () => void) => () => {
          clearTimeout(timer);
          response.off('drain', drained);
          gone.signal.removeEventListener('abort', lost);
          then();
        };
        const drained = settle(resolve);
        const lost = settle(() => reject(gone.signal.reason));
        const timer = setTimeout(
          settle(() => reject(new Error('the client does not read'))),
          drainWithinMs,
        );
        response.once('drain', drained);
        gone.signal.addEventListener('abort', lost, { once: true });
      }),
  };
};

const unread = async (): Promise<void> => {};

/**
 * Sends the head and runs the stream. What the stream throws ends the answer: its status has been sent already.
 * @returns what was thrown, unless it was only the client leaving
 */
export const writeStream = async (
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, stream }: { status: number; headers: string[]; stream: Stream },
): Promise<unknown> => {
  const sink = sinkOf(response);
  response.writeHead(status, headers);
  response.flushHeaders();
  try {
    // HEAD has no body, but the stream has to give up what it holds.
    await stream(request.method === 'HEAD' ? { ...sink, signal: AbortSignal.abort(), write: unread } : sink);
    return undefined;
  } catch (thrown) {
    return sink.signal.aborted || request.method === 'HEAD' ? undefined : thrown;
  } finally {
    response.end();
  }
};
