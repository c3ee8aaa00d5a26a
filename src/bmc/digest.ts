/** Digests that stand for a text where the text itself may not be kept: a URL may carry a token or an account. */
import { createHash } from 'node:crypto';

/** Sixteen hexadecimal digits. */
export const shortDigest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
