/** How the command ends: its exit statuses, and the faults that lead to them. */

export const exits = {
  /** Done. */
  ok: 0,
  /** Refused or failed: by the API, by the run that was watched, by a check. */
  refused: 1,
  /** The command line or the settings are wrong; no request was sent. */
  usage: 2,
  /** The API or the identity service did not answer, or answered what is no answer. */
  unreachable: 3,
} as const;

export type ExitName = Exclude<keyof typeof exits, 'ok'>;

/** A fault in plain words; the text never holds a secret. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  constructor(
    readonly exit: ExitName,
    message: string,
    /** HTTP status, where a server refused. */
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

/** Throws a fault; typed `never`, so that it can end an expression. */
export const stop = (exit: ExitName, message: string, status: number | null = null): never => {
  throw new CliFault(exit, message, status);
};
