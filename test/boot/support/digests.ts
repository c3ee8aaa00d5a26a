/** What files of the boot service are named by. */
import { createHash } from 'node:crypto';

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
