/** What takes a program's log lines; each room is given one. */

type Write = (message: string, facts?: Readonly<Record<string, unknown>>) => void;

export type Log = { readonly info: Write; readonly warn: Write };

/** A log that also takes what an operator must look at. */
export type ErrorLog = Log & { readonly error: Write };
