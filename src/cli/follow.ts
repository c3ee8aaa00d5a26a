/** Reads a stream of server-sent events through lost connections, until the server says that nothing more can come. */
import { eventsOf } from '../model/event-streams';
import { pause } from '../model/passes';
import type { Context } from './context';
import { CliFault } from './faults';
import { plainText } from './tables';

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

type Following = {
  /** Gets the data of each event, once. */
  readonly onEvent: (data: string) => void | Promise<void>;
  /** A connection was cut off, or the server is away for a moment. @param says which of them, and that it is tried again */
  readonly onCut: (says: string) => void;
  /** Ends it before the command does. */
  readonly until?: AbortSignal;
};

/** Why a connection ended that may be tried again. Throws a refusal, and the reason of an end that was wanted. */
const cutOf = (thrown: unknown, signal: AbortSignal): string => {
  signal.throwIfAborted();
  if (!(thrown instanceof CliFault))
    return `The stream was cut off (${plainText((thrown as Error).message)}). Trying again.`;
  if (thrown.exit !== 'unreachable') throw thrown;
  return `${plainText(thrown.message)} Trying again.`;
};

/** Throws CliFault where the server refuses, and the reason of the signal that ends it. */
export const follow = async ({ api, deps }: Context, path: string, following: Following): Promise<void> => {
  const { onEvent, onCut, until } = following;
  const signal = until ? AbortSignal.any([deps.signal, until]) : deps.signal;
  let place: string | undefined;
  const connect = async (): Promise<'over' | 'ended'> => {
    const headers = { accept: 'text/event-stream', ...(place !== undefined && { 'last-event-id': place }) };
    const reply = await api.open(path, headers, until);
    if (reply.status === 204) return 'over';
    if (!reply.ok || !reply.body) return api.refusal(reply);
    for await (const { id, data } of eventsOf(reply.body as unknown as AsyncIterable<Uint8Array>)) {
      place = id ?? place;
      await onEvent(data);
    }
    return 'ended';
  };
  for (let pauseMs = firstPauseMs; ; ) {
    const before = place;
    const connected = await connect().catch((thrown) => onCut(cutOf(thrown, signal)));
    if (connected === 'over') return;
    if (place !== before) pauseMs = firstPauseMs;
    // After its last event the server ends the stream; the next answer says whether more can come.
    if (connected === 'ended' && place !== before) continue;
    await pause(pauseMs, signal);
    signal.throwIfAborted();
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
};
