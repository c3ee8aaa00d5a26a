/** How a JSON text is built, read from its bytes before it is parsed: the cost of parsing follows from that. */

export type StructureLimits = {
  /** Lists and objects within one another. */
  readonly depth: number;
  /** Values, lists and objects counted too. */
  readonly values: number;
};

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d];

/** Where the text that begins at a quote ends: the index after its closing quote, or the end of the bytes. */
const afterText = (bytes: Uint8Array, from: number): number => {
  for (let end = bytes.indexOf(quote, from + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return bytes.length;
};

/** A JSON text as its bytes show it. */
type Structure = {
  /** The limit that it goes beyond, from where it was not read on. */
  readonly fault?: keyof StructureLimits;
  /** Keys of all its objects, those that come twice in one object counted twice. */
  readonly keys: number;
};

/**
 * What the bytes of a text say of its structure. An empty list or object counts as two values. Bytes that are no JSON are counted
 * all the same, and it takes time in proportion to their number whatever they are.
 * @param bytes UTF-8
 */
export const structureOf = (bytes: Uint8Array, limits: StructureLimits): Structure => {
  let depth = 0;
  let values = 1;
  let keys = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === quote) {
      at = afterText(bytes, at);
      continue;
    }
    at += 1;
    if (byte === comma) values += 1;
    else if (byte === openList || byte === openObject) {
      values += 1;
      depth += 1;
      if (depth > limits.depth) return { fault: 'depth', keys };
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    else {
      if (byte === colon) keys += 1;
      continue;
    }
    if (values > limits.values) return { fault: 'values', keys };
  }
  return { keys };
};

/** Which limit the structure of a text goes beyond, as `structureOf` counts; undefined where none. */
export const structureFault = (bytes: Uint8Array, limits: StructureLimits): keyof StructureLimits | undefined =>
  structureOf(bytes, limits).fault;
