/** The digest by which texts are compared, named and looked up. Not for workflows: their sandbox has no node:crypto. */
import { createHash } from 'node:crypto';

/** SHA-256 of a text as UTF-8, in hexadecimal. */
export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
