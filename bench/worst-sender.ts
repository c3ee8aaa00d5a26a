/** A caller that sends one request over and over, so many at once: a process of its own, so that its cost is not the API's. */
import { Agent, request } from 'node:http';
import { answerParent } from './child';

export type Burst = {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `%id%` becomes another text in each request, `%mac%` another address. */
  readonly body: string | null;
  readonly at_once: number;
  /** Another request is sent until then. */
  readonly for_ms: number;
};

/** How many requests there were, by the status of their answers; 0 where none came. */
export type Sent = { readonly requests: number; readonly statuses: Readonly<Record<string, number>> };

const longestMs = 120_000;
const agent = new Agent({ keepAlive: true });
let made = 0;

const numbered = (body: string, id: number): string => {
  const hex = id.toString(16).padStart(6, '0');
  return body.replaceAll('%id%', String(id)).replaceAll('%mac%', `52:54:0f:${hex.match(/../g)!.join(':')}`);
};

const send = ({ port, method, path, headers, body }: Burst): Promise<number> =>
  new Promise((done) => {
    const bytes = body === null ? undefined : Buffer.from(numbered(body, ++made));
    const asked = request(
      { port, method, path, agent, host: '127.0.0.1', headers: { ...headers, 'Content-Length': bytes?.length ?? 0 } },
      (reply) => {
        const status = reply.statusCode ?? 0;
        reply.on('error', () => done(status)).on('close', () => done(status));
        // A stream does not end; what is measured is its beginning.
        if (reply.headers['content-type']?.startsWith('text/event-stream')) reply.destroy();
        else reply.resume();
      },
    );
    asked.setTimeout(longestMs, () => asked.destroy()).on('error', () => done(0));
    asked.end(bytes);
  });

const burst = async (what: Burst): Promise<Sent> => {
  const until = performance.now() + what.for_ms;
  const statuses: Record<string, number> = {};
  let requests = 0;
  const lane = async () => {
    do {
      const status = await send(what);
      statuses[status] = (statuses[status] ?? 0) + 1;
      requests += 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: what.at_once }, lane));
  return { requests, statuses };
};

answerParent(burst);
