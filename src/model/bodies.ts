/** Reads bodies into one growing buffer. In a list of pieces, each piece of one byte would take about 150 bytes of memory. */

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  readonly code = 'ANSWER_TOO_LONG';
  constructor() {
    super('more came than can be read');
  }
}

const firstBytes = 4_096;
/** Limits the buffer for a sender that announces more than it sends. */
const trustedTimes = 8;

/** Takes the announced length early, so that a long body is copied few times. */
const grownSize = (size: number, before: number, { most, announced = 0 }: Room): number => {
  const wanted = announced >= size && announced <= trustedTimes * size ? announced : Math.max(size, 2 * before);
  return Math.min(most, wanted);
};

type Room = {
  /** Bytes. */
  readonly most: number;
  /** Bytes. */
  readonly announced?: number;
};

/** Throws AnswerTooLong after `most` bytes, and any error of the body. On AnswerTooLong it closes the body's source. */
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

/** Decodes UTF-8. Throws like bytesWithin. */
export const textWithin = async ({ body }: Pick<Response, 'body'>, most: number): Promise<string> =>
  body ? new TextDecoder().decode(await bytesWithin(body as unknown as AsyncIterable<Uint8Array>, most)) : '';

export type Incoming = { iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterableIterator<Uint8Array> };

/** Like bytesWithin, but keeps the connection open for an answer. */
export const requestBytes = (request: Incoming, most: number, announced?: number): Promise<Uint8Array> =>
  gathered(request.iterator({ destroyOnReturn: false }), { most, ...(announced && { announced }) });

/** Drops the rest of a refused request, because many senders read the answer only after they have sent everything. */
export const dropRest = async (request: Incoming): Promise<void> => {
  try {
    for await (const _ of request.iterator({ destroyOnReturn: false }));
  } catch {
    // The connection has ended.
  }
};

/** Bytes. V8 makes no longer text, so no page of a list is longer. */
export const longestApiAnswer = 512 * 1024 * 1024;
