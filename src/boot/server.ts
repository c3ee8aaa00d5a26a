/** The listener of the boot service: contents of boots, and network boot requests without a token. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderAddress, senderKey, type Trusts } from '../model/access/senders';
import { boundedLines } from '../model/bounded-lines';
import { createTurnstile } from '../model/turnstile';
import { type ContentDeps, createContents, type Part } from './contents';
import { discoveryContent, discoveryPart } from './discovery';
import { createGuesses } from './guesses';
import { createImageContents, type ImageContentDeps } from './image-contents';
import { createNetwork, type NetworkDeps } from './network';
import { answer, answerEmpty, answerReason, type Content } from './send';

export type BootDeps = ContentDeps &
  NetworkDeps &
  ImageContentDeps & {
    /** Time limit of a client to read one piece of 64 KiB, in milliseconds. */
    readonly pieceMs: number;
    /** Concurrent requests per URL; further ones are answered 503. */
    readonly readersAtOnce?: number;
    /** True for the address of a proxy in front. Its X-Forwarded-For is trusted. */
    readonly trusts: Trusts;
    /** Look-ups of invalid tokens per sender and minute. */
    readonly guesses?: number;
  };

const defaultReaders = 16;

/** Token and last segment of a content's path; undefined for any other path. */
const partIn = (url: string | undefined): { readonly token: string; readonly part: Part | 'image' } | undefined => {
  const [, token, part] =
    /^\/boot\/([A-Za-z0-9_-]{43})\/(ramdisk\.iso|kernel|initrd|files\.img|image)$/.exec(url ?? '') ?? [];
  return token === undefined ? undefined : { token, part: part as Part | 'image' };
};

/** The target of a URL: its token, and the key by which its readers are counted. */
type Wanted = {
  readonly key: string;
  readonly token?: string;
  find(): Promise<Awaited<ReturnType<ReturnType<typeof createImageContents>>> | Content>;
};

/** @returns the listener of the boot service. Only contents, reasons and scripts have a response body */
export const bootListener = (deps: BootDeps): RequestListener => {
  const { log, pieceMs, readersAtOnce = defaultReaders } = deps;
  const find = createContents(deps);
  const findImage = createImageContents(deps);
  const network = createNetwork(deps);
  const readers = createTurnstile(readersAtOnce);
  const guesses = createGuesses(deps.guesses);
  const warn = boundedLines((message, facts) => log.warn(message, facts));
  // A proxy that sends no X-Forwarded-For counts as one sender.
  const senderOf = (request: IncomingMessage): string =>
    senderKey(senderAddress(request, deps.trusts) || peerAddress(request.socket.remoteAddress));
  const findAt = (url: string | undefined, sender: string): Wanted | undefined => {
    const discovered = discoveryPart(url);
    // All such machines share one URL, so the reader limit applies per sender.
    if (discovered) return { key: `discovery ${sender}`, find: () => discoveryContent(deps, discovered) };
    const wanted = partIn(url);
    if (!wanted) return undefined;
    const { token, part } = wanted;
    return { key: token, token, find: () => (part === 'image' ? findImage(token) : find(token, part)) };
  };
  const inTurn = async (key: string, response: ServerResponse, work: () => Promise<void>): Promise<void> => {
    if (!readers.enter(key)) return answerEmpty(response, 503, { 'retry-after': '1' });
    try {
      await work();
    } finally {
      readers.leave(key);
    }
  };
  const send = async ({ token, find: look }: Wanted, sender: string, response: ServerResponse): Promise<void> => {
    const isGuess = token !== undefined && guesses.isOne(sender, token);
    const content = isGuess ? undefined : await look();
    if (token !== undefined && !isGuess) guesses.note(sender, token, content !== undefined);
    if (!content) return answerEmpty(response, 404, { connection: 'close' });
    if ('reason' in content) return answerReason(response, content.status, content.reason);
    await answer(response, content, pieceMs);
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerEmpty(response, 405, { allow: 'GET, HEAD' });
    const sender = senderOf(request);
    const answering = network(request);
    // A machine sends one request after the other.
    if (answering) return inTurn(`network ${sender}`, response, () => answering(response));
    const wanted = findAt(request.url, sender);
    if (wanted === undefined) return answerEmpty(response, 404, { connection: 'close' });
    return inTurn(wanted.key, response, () => send(wanted, sender, response));
  };
  return (request, response) => {
    request.resume(); // request bodies are ignored
    serve(request, response).catch((error: NodeJS.ErrnoException) => {
      // Disconnects are normal: BMCs disconnect after they have read what they need.
      if (response.destroyed || error.code === 'ERR_STREAM_PREMATURE_CLOSE') return response.destroy();
      warn({ sender: senderOf(request) }, 'boot image not sent', { reason: error.message });
      if (response.headersSent) return response.destroy();
      return answerEmpty(response, 503, { 'retry-after': '5' });
    });
  };
};
