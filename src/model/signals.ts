/**
 * Abort signals that survive garbage collection. Node drops a timeout that only `AbortSignal.any` refers to, and the link of a fetch
 * body to its signal. Such a wait never ends (seen with Node 20.20 and undici 6.29).
 */

/** The timer references the controller and so keeps it alive. */
const limited = (signal: AbortSignal, ms: number): { readonly within: AbortSignal; readonly timer: NodeJS.Timeout } => {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(end, ms).unref();
  return { within: AbortSignal.any([signal, limit.signal]), timer };
};

/** After a time it aborts with a `TimeoutError`, as `AbortSignal.timeout` does. @param ms milliseconds */
export const endingWithin = (signal: AbortSignal, ms: number): AbortSignal => limited(signal, ms).within;

/** Clears the timer afterwards: there may be thousands at a time. */
export const doneWithin = async <T>(
  signal: AbortSignal,
  ms: number,
  work: (within: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { within, timer } = limited(signal, ms);
  try {
    return await work(within);
  } finally {
    clearTimeout(timer);
  }
};

/** The body aborts with the signal, even if the fetch has lost it. */
export const cutOffBy = (reply: Response, signal: AbortSignal): Response =>
  // RFC 9110 gives some statuses no body, and a Response with one accepts none.
  reply.body ? new Response(reply.body.pipeThrough(new TransformStream(), { signal }), reply) : reply;
