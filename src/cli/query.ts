/** Options of a command as the query of a request; those that are not given are left out. */
export const queryText = (given: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString();
