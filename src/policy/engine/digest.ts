/** A short fingerprint of a text, to distinguish rule sets. */

/** The function's offset and prime, in halves of 32 bits; the prime is 2^40 + 0x1b3. */
const offset = { high: 0xcbf29ce4, low: 0x84222325 };
const primeLow = 0x1b3;
const half = 2 ** 32;

const hex = (value: number): string => value.toString(16).padStart(8, '0');

/** FNV-1a of 64 bits over the text's UTF-8 bytes, as 16 hex digits (RFC 9923). It is no protection against forgery. */
export const fnv1a64 = (text: string): string => {
  let { high, low } = offset;
  for (const byte of new TextEncoder().encode(text)) {
    const mixed = (low ^ byte) >>> 0;
    const product = mixed * primeLow; // below 2^41, so exact
    high = (high * primeLow + Math.floor(product / half) + ((mixed << 8) >>> 0)) % half;
    low = product % half;
  }
  return hex(high) + hex(low);
};
