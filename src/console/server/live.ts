/** Event streams for open pages: each change makes the page reload its part. */
import type { Request, Response } from 'express';
import { createEventReader } from '../../model/event-streams';
import { ApiRefusal } from './api';
import type { PageContext } from './context';

// The first event is sent at once; later ones within this time are merged.
const gatherMs = 500;

/** Forwards upstream events at a limited rate. */
const passOn = async (upstream: globalThis.Response, response: Response, signal: AbortSignal): Promise<void> => {
  const { body } = upstream;
  if (!body) return;
  let resting: NodeJS.Timeout | undefined;
  let due = false;
  let place: string | undefined;
  const say = () => {
    due = false;
    resting = setTimeout(rest, gatherMs);
    // After a reconnection, the browser resumes from this id.
    response.write(`${place === undefined ? '' : `id: ${place}\n`}event: change\ndata: now\n\n`);
  };
  const rest = () => {
    resting = undefined;
    if (due) say();
  };
  const read = createEventReader();
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      if (signal.aborted) break;
      const events = read(chunk);
      place = events.map(({ id }) => id).findLast((id) => id !== null && /^\d{1,20}$/.test(id)) ?? place;
      if (events.length === 0) response.write(': keep-alive\n\n');
      else if (resting) due = true;
      else say();
    }
    if (due) say();
  } finally {
    clearTimeout(resting);
  }
};

/** Relays an API stream. It ends with that stream or the session; the browser then reconnects. */
export const streamOf =
  (pathOf: (context: PageContext) => string) =>
  async (context: PageContext, request: Request, response: Response): Promise<void> => {
    const leaving = new AbortController();
    const stop = context.sessions.onceOver(context.session, () => leaving.abort());
    response.on('close', () => {
      stop();
      leaving.abort();
    });
    const place = request.header('last-event-id');
    const openAt = (at?: string) => {
      const headers = { accept: 'text/event-stream', ...(at !== undefined && { 'last-event-id': at }) };
      return context.api.open(pathOf(context), headers, leaving.signal);
    };
    let upstream = await openAt(place);
    // The event is deleted, or its node is no longer visible. The stream restarts from now, and the page reloads.
    const lost = place !== undefined && upstream.status === 400;
    if (lost) upstream = await openAt();
    if (upstream.status === 204) return void response.status(204).end();
    if (!upstream.ok) throw new ApiRefusal(upstream.status, 'The stream was refused.');
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.write(`retry: 2000\n\n${lost ? 'id:\nevent: change\ndata: now\n\n' : ''}`);
    request.socket.setTimeout(0);
    await passOn(upstream, response, leaving.signal).catch(() => undefined);
    response.end();
  };
