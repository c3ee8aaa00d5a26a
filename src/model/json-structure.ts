/** The structure of a JSON text, counted from its bytes before it is parsed, because the cost of parsing depends on it. */

export type StructureLimits = {
  /** Nesting of lists and objects. */
  readonly depth: number;
  /** Values, including lists and objects. */
  readonly values: number;
};

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d];

/** The index after the closing quote of the text that begins at `from`, or the end of the bytes. */
const afterText = (bytes: Uint8Array, from: number): number => {
  for (let end = bytes.indexOf(quote, from + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return bytes.length;
};

/** Counts of a JSON text. */
type Structure = {
  /** The exceeded limit; counting stops there. */
  readonly fault?: keyof StructureLimits;
  /** Keys of all objects, with duplicates. */
  readonly keys: number;
};

/**
 * Counts the structure of a text. An empty list or object counts as two values. Invalid JSON is counted too. The time is linear in the
 * bytes for every input.
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

/** The limit that a text exceeds, counted as in `structureOf`; undefined if none. */
export const structureFault = (bytes: Uint8Array, limits: StructureLimits): keyof StructureLimits | undefined =>
  structureOf(bytes, limits).fault;
