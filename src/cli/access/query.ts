/** Command options as a query string, without undefined ones. */
export const queryText = (given: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString();
