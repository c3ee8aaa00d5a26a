/** Reads a JSON text without parsing it: its structure, on which the cost of parsing depends, and numbers that parsing would change. */

export type StructureLimits = {
  readonly depth: number;
  /** Including lists and objects. */
  readonly values: number;
};

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d];

/** The index after the closing quote, or the end of the bytes. */
const afterText = (bytes: Uint8Array, from: number): number => {
  for (let end = bytes.indexOf(quote, from + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return bytes.length;
};

type Structure = {
  /** Counting stops at the exceeded limit. */
  readonly fault?: keyof StructureLimits;
  /** With duplicates. */
  readonly keys: number;
};

/**
 * An empty list or object counts as two values. It accepts invalid JSON, in linear time.
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

export const structureFault = (bytes: Uint8Array, limits: StructureLimits): keyof StructureLimits | undefined =>
  structureOf(bytes, limits).fault;

// The first alternative skips texts. A whole number has neither a point nor an exponent.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const wholeNumber = /^-?\d+$/;
// 2^53 has sixteen digits; most texts have no such run and need no scan.
const manyDigits = /\d{16}/;

/**
 * The first whole number beyond 2^53, which loses digits when parsed.
 * @param text valid JSON
 */
export const inexactInteger = (text: string): string | undefined => {
  if (!manyDigits.test(text)) return undefined;
  for (const [one] of text.matchAll(token)) if (wholeNumber.test(one) && !Number.isSafeInteger(Number(one))) return one;
  return undefined;
};
