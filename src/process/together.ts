/** One look for all that ask at the same time. */

/** What is found out at once for all that ask meanwhile, and shortly afterwards. */
export const together = <Found>(find: () => Promise<Found>, keptMs: number): (() => Promise<Found>) => {
  let finding: Promise<Found> | undefined;
  const forget = (): void => {
    finding = undefined;
  };
  return () => {
    finding ??= find().finally(() => (keptMs > 0 ? setTimeout(forget, keptMs).unref() : forget()));
    return finding;
  };
};
