/** Processor time, of which other work on the machine takes none: what a test may bound. */

/** Milliseconds of this process while it does the work. */
export const costOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};
