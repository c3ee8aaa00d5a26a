/** Shares one result among concurrent callers. */

/** Shared also for `keptMs` afterwards. */
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
