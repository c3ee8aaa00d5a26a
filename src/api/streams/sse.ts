/** Writes server-sent events at the client's reading speed. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Sink = {
  /** Resolves when the client has room; rejects if it is gone or reads nothing for a minute. */
  write(text: string): Promise<void>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/** Resolves at the end of the answer. */
export type Stream = (sink: Sink) => Promise<void>;

// A client that reads nothing for this time counts as gone.
const drainWithinMs = 60_000;

/** Prevents proxies from caching and buffering. */
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
 * An error ends the answer, because the status is already sent.
 * @returns the error, unless the client left
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
    // HEAD has no body, but the stream must release its resources.
    await stream(request.method === 'HEAD' ? { ...sink, signal: AbortSignal.abort(), write: unread } : sink);
    return undefined;
  } catch (thrown) {
    return sink.signal.aborted || request.method === 'HEAD' ? undefined : thrown;
  } finally {
    response.end();
  }
};
