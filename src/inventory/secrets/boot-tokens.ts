/** Secrets of a boot: the URL's, and tokens that only its holder can derive. */
import { createHmac, randomBytes } from 'node:crypto';
import { sha256Of } from '../../model/digests';

/** Hexadecimal SHA-256, for comparisons. */
export const hashOf = (token: string): string => sha256Of(token);

/** Base64url of 32 bytes. */
export const newUrlToken = (): string => randomBytes(32).toString('base64url');

const derived = (urlToken: string, purpose: string): string =>
  createHmac('sha256', urlToken).update(`temper boot 1 ${purpose}`).digest('base64url');

/** The ramdisk's token. The boot service puts it into the image; PostgreSQL has its hash. */
export const agentTokenOf = (urlToken: string): string => derived(urlToken, 'agent');

/** The token of an inspection, which is sent before the ramdisk has identified its node. */
export const inspectionTokenOf = (urlToken: string): string => derived(urlToken, 'inspection');
