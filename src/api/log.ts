/** What the API writes its log with. */

export type Log = Record<'info' | 'warn' | 'error', (says: string, facts?: Readonly<Record<string, unknown>>) => void>;
