/** Streams for pages that are open: says that something has happened, and the page fetches its part again. */
import type { Request, Response } from 'express';
import { createEventReader } from '../../model/event-streams';
import { ApiRefusal } from './api';
import type { PageContext } from './context';

// The first of several events is said at once, those that follow soon are one more change on the screen.
const gatherMs = 500;

/** Passes on that a stream of the API has said something, as often as a page can follow. */
const passOn = async (upstream: globalThis.Response, response: Response, signal: AbortSignal): Promise<void> => {
  const { body } = upstream;
  if (!body) return;
  let resting: NodeJS.Timeout | undefined;
  let due = false;
  let place: string | undefined;
  const say = () => {
    due = false;
    resting = setTimeout(rest, gatherMs);
    // With its place the browser goes on there when it connects again.
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

/** Follows a stream of the API for one page; where that or the session ends, so does this, and the browser connects again by itself. */
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
    // The event of that place is deleted, or of a node that the caller has lost: the page begins anew.
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
