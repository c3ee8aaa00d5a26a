/** Exit statuses, and the faults that cause them. */

export const exits = {
  ok: 0,
  /** The API, the watched run or a check refused or failed. */
  refused: 1,
  /** The command line or the settings are wrong; no request was sent. */
  usage: 2,
  /** No answer, or an invalid one, from the API or Keystone. */
  unreachable: 3,
} as const;

export type ExitName = Exclude<keyof typeof exits, 'ok'>;

/** A fault's text never holds a secret. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  constructor(
    readonly exit: ExitName,
    message: string,
    /** HTTP status, if a server refused. */
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

/** Throws. The type `never` permits use in an expression. */
export const stop = (exit: ExitName, message: string, status: number | null = null): never => {
  throw new CliFault(exit, message, status);
};
