/** Exit statuses, and the faults that cause them. */

export const exits = {
  ok: 0,
  /** By the API, the watched run or a check. */
  refused: 1,
  /** No request was sent. */
  usage: 2,
  /** No answer, or an invalid one, from the API or Keystone. */
  unreachable: 3,
} as const;

export type ExitName = Exclude<keyof typeof exits, 'ok'>;

/** The text never holds a secret. */
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

/** The type `never` permits use in an expression. */
export const stop = (exit: ExitName, message: string, status: number | null = null): never => {
  throw new CliFault(exit, message, status);
};
