/** What an operator must mend before a process can start: written in plain words to standard error, with one exit status. */

/** EX_CONFIG of sysexits.h: starting again without a change will not help, and supervisors can be configured for it. */
export const configStatus = 78;

/** Faults of settings, or of the files and ports they name. */
export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';
  /** @param faults one text each: which setting, what is wrong, what to do; never a secret */
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** Writes the faults where an operator looks for them. */
export const printFaults = (process_name: string, { faults }: ConfigFault): void => {
  const lines = faults.map((fault) => `  ${fault.replaceAll('\n', '\n    ')}\n`);
  process.stderr.write(`temper ${process_name} cannot start; these settings need a look:\n${lines.join('')}`);
};

/**
 * Waits for all, so that an operator mends all faults at once.
 * @throws ConfigFault with the faults of all; any other error comes first
 */
export const together = async <All extends readonly unknown[]>(
  ...all: {
    readonly [Key in keyof All]: Promise<All[Key]>;
  }
): Promise<All> => {
  const settled = await Promise.allSettled(all);
  const thrown = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const other = thrown.find((error) => !(error instanceof ConfigFault));
  if (other) throw other;
  if (thrown.length > 0) throw new ConfigFault(thrown.flatMap((error: ConfigFault) => error.faults));
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as All;
};
