/** Follows a server-sent event stream across lost connections, until the server reports its end. */
import { eventsOf } from '../../model/event-streams';
import { pause } from '../../model/passes';
import type { Context } from '../context';
import { CliFault } from '../faults';
import { plainText } from '../tables';

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

type Following = {
  readonly onEvent: (data: string) => void | Promise<void>;
  /** A connection was lost, or the server is briefly unavailable. @param says cause, and that a retry follows */
  readonly onCut: (says: string) => void;
  /** Ends the stream before the command does. */
  readonly until?: AbortSignal;
};

/** Reason of a retry. Rethrows a refusal and an intended abort. */
const cutOf = (thrown: unknown, signal: AbortSignal): string => {
  signal.throwIfAborted();
  if (!(thrown instanceof CliFault))
    return `The stream was cut off (${plainText((thrown as Error).message)}). Trying again.`;
  if (thrown.exit !== 'unreachable') throw thrown;
  return `${plainText(thrown.message)} Trying again.`;
};

/** Throws CliFault if the server refuses, and the reason of an aborted signal. */
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
    // The server closes the stream after its last event. The next response shows if more can come.
    if (connected === 'ended' && place !== before) continue;
    await pause(pauseMs, signal);
    signal.throwIfAborted();
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
};
