/** A short fingerprint of a text, for telling rule sets apart. */

const offset = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/** FNV-1a of 64 bits over the text's UTF-8 bytes, as 16 hex digits (RFC 9923). It is no protection against forgery. */
export const fnv1a64 = (text: string): string => {
  let hash = offset;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime);
  return hash.toString(16).padStart(16, '0');
};
