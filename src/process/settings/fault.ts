/** Configuration faults: printed to standard error, with their own exit status. */

/** EX_CONFIG of sysexits.h. Supervisors can exclude it, because a restart without a change fails too. */
export const configStatus = 78;

export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';
  /** @param faults one text each: the setting, the fault, the remedy; never a secret */
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

export const printFaults = (process_name: string, { faults }: ConfigFault): void => {
  const lines = faults.map((fault) => `  ${fault.replaceAll('\n', '\n    ')}\n`);
  process.stderr.write(`temper ${process_name} cannot start; these settings need a look:\n${lines.join('')}`);
};

/**
 * Waits for all, so that the operator gets all faults at once.
 * @throws ConfigFault with all faults; any other error takes precedence
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
