/** The log's interface; each room receives an implementation. */

type Write = (message: string, facts?: Readonly<Record<string, unknown>>) => void;

export type Log = { readonly info: Write; readonly warn: Write };

/** `error` is for faults that an operator must look at. */
export type ErrorLog = Log & { readonly error: Write };
