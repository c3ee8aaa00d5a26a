/** Types of an exchange with Keystone. */

export type Reply = { readonly status: number; readonly body: unknown; readonly subjectToken: string | null };
export type KeystoneHeaders = Record<string, string>;

/** A GET with the service user's token. */
export type AskAsService = (path: string, headers: KeystoneHeaders) => Promise<Reply>;

/** Keystone is unavailable; the client catches it. */
export class Down extends Error {}

export const orDown = async <T>(work: () => Promise<T>): Promise<T | { is: 'down'; reason: string }> => {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof Down) return { is: 'down', reason: thrown.message };
    throw thrown;
  }
};
