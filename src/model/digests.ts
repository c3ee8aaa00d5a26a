/** Digests of texts. Not for workflows: their sandbox has no node:crypto. */
import { hash } from 'node:crypto';
import { isDocument } from './document';

/** SHA-256 in hexadecimal. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex');

/** The order of keys does not matter, the order of lists does. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    isDocument(part) ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))) : part,
  );
