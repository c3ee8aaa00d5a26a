/** What an exchange with Keystone gives, and how it is asked as our own service user. */

export type Reply = { readonly status: number; readonly body: unknown; readonly subjectToken: string | null };
export type KeystoneHeaders = Record<string, string>;

/** A GET with the service user's token. */
export type AskAsService = (path: string, headers: KeystoneHeaders) => Promise<Reply>;

/** Why Keystone could not be asked; caught by its client. */
export class Down extends Error {}
