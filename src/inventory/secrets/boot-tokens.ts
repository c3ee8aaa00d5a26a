/** The secrets of one boot: that of its URL, and what is derived from it, so that none but the URL's holder knows them. */
import { createHmac, randomBytes } from 'node:crypto';
import { sha256Of } from '../../model/digests';

/** What a token is compared by: SHA-256, hexadecimal. */
export const hashOf = (token: string): string => sha256Of(token);

/** A new secret of a URL: base64url of 32 bytes. */
export const newUrlToken = (): string => randomBytes(32).toString('base64url');

const derived = (urlToken: string, purpose: string): string =>
  createHmac('sha256', urlToken).update(`temper boot 1 ${purpose}`).digest('base64url');

/** The token of the ramdisk that boots from this URL. The boot service puts it into the image; it is stored as a hash. */
export const agentTokenOf = (urlToken: string): string => derived(urlToken, 'agent');

/** What an inspection by this ramdisk bears: it is sent before the ramdisk knows its node. */
export const inspectionTokenOf = (urlToken: string): string => derived(urlToken, 'inspection');
