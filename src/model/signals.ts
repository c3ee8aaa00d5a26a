/**
 * Ends of waiting that hold however long it lasts. Node keeps neither a timeout that only `AbortSignal.any` refers to nor what ties the
 * body of a fetch to its signal: once the garbage collector has run, such a wait has no end (seen with Node 20.20 and undici 6.29).
 */

/** The end of a signal or of a time, whichever comes first; the timer keeps the controller, and with it that end. */
const limited = (signal: AbortSignal, ms: number): { readonly within: AbortSignal; readonly timer: NodeJS.Timeout } => {
  const limit = new AbortController();
  const end = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(end, ms).unref();
  return { within: AbortSignal.any([signal, limit.signal]), timer };
};

/** Aborts with a signal, or after a time: with a `TimeoutError`, as `AbortSignal.timeout` does. @param ms milliseconds */
export const endingWithin = (signal: AbortSignal, ms: number): AbortSignal => limited(signal, ms).within;

/** Does work under a signal that aborts as that of `endingWithin`. Nothing is left of it when the work has ended: work comes by the thousand. */
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

/** An answer whose body ends with a signal, where the fetch that it came from may have lost it. */
export const cutOffBy = (reply: Response, signal: AbortSignal): Response =>
  // RFC 9110 gives these statuses no body, and a Response of them takes none.
  reply.body ? new Response(reply.body.pipeThrough(new TransformStream(), { signal }), reply) : reply;
