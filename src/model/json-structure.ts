/** How a JSON text is built, read from its bytes before it is parsed: the cost of parsing follows from that. */

export type StructureLimits = {
  /** Lists and objects within one another. */
  readonly depth: number;
  /** Values, lists and objects counted too. */
  readonly values: number;
};

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
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

/**
 * Which limit the structure of a text goes beyond; undefined where none. An empty list or object counts twice. Bytes that are
 * no JSON are counted all the same, and it takes time in proportion to their number whatever they are.
 * @param bytes UTF-8
 */
export const structureFault = (bytes: Uint8Array, limits: StructureLimits): keyof StructureLimits | undefined => {
  let depth = 0;
  let values = 1;
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
      if (depth > limits.depth) return 'depth';
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    else continue;
    if (values > limits.values) return 'values';
  }
  return undefined;
};
