/** Shares one call among concurrent callers. */

/** Shares the result among concurrent callers, and for `keptMs` afterwards. */
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
