/**
 * Reads bodies of requests and answers into one buffer that grows. To keep the pieces would cost what their sender likes: a piece
 * of one byte takes some 150 bytes of memory in Node.
 */

/** A body went on beyond what is read of it. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  readonly code = 'ANSWER_TOO_LONG';
  constructor() {
    super('more came than can be read');
  }
}

const firstBytes = 4_096;
/** A sender that announces more than it sends makes a buffer of at most so many times what came. */
const trustedTimes = 8;

/** The size of the next buffer: the announced one as soon as a part of it has come, so that a long body is copied few times. */
const grownSize = (size: number, before: number, { most, announced = 0 }: Room): number => {
  const wanted = announced >= size && announced <= trustedTimes * size ? announced : Math.max(size, 2 * before);
  return Math.min(most, wanted);
};

type Room = {
  /** Bytes that are read. */
  readonly most: number;
  /** Bytes that the sender said it sends. */
  readonly announced?: number;
};

/**
 * All bytes of a body. Throws AnswerTooLong as soon as more than `most` have come, and what the body fails with. It leaves the
 * body before its end then, which ends what sends it.
 */
export const bytesWithin = (body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> =>
  gathered(body, { most });

const gathered = async (body: AsyncIterable<Uint8Array>, room: Room): Promise<Uint8Array> => {
  const { most } = room;
  let bytes = new Uint8Array(Math.min(firstBytes, most));
  let size = 0;
  for await (const part of body) {
    const from = size;
    size += part.length;
    if (size > most) throw new AnswerTooLong();
    if (size > bytes.length) {
      const grown = new Uint8Array(grownSize(size, bytes.length, room));
      grown.set(bytes.subarray(0, from));
      bytes = grown;
    }
    bytes.set(part, from);
  }
  return bytes.subarray(0, size);
};

/** The text of an answer, which is UTF-8. Throws as bytesWithin does. */
export const textWithin = async ({ body }: Pick<Response, 'body'>, most: number): Promise<string> =>
  body ? new TextDecoder().decode(await bytesWithin(body as unknown as AsyncIterable<Uint8Array>, most)) : '';

/** A readable stream of Node, such as a request. */
export type Incoming = { iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterableIterator<Uint8Array> };

/** As bytesWithin, and leaves the connection open: a request that is refused gets an answer. */
export const requestBytes = (request: Incoming, most: number, announced?: number): Promise<Uint8Array> =>
  gathered(request.iterator({ destroyOnReturn: false }), { most, ...(announced && { announced }) });

/** Reads the rest of a request that is refused, and drops it: a sender reads its answer after it has sent all. */
export const dropRest = async (request: Incoming): Promise<void> => {
  try {
    for await (const _ of request.iterator({ destroyOnReturn: false }));
  } catch {
    // Its connection has ended.
  }
};

/** What is read at most of the API's answers by its clients, bytes: V8 makes no longer text, so that no page of a list is longer. */
export const longestApiAnswer = 512 * 1024 * 1024;
