/** Digests of texts that may not be kept, such as URLs with tokens. */
import { sha256Of } from '../model/digests';

/** Sixteen hexadecimal digits. */
export const shortDigest = (text: string): string => sha256Of(text).slice(0, 16);
