/** Addresses in what a BMC says, without what may be secret in them: accounts, and queries that carry tokens. */

/** `https://me:pw@host/x.bin?token=1` becomes `https://host/x.bin`; a text that was cut in the middle of one is no different. */
export const plainUrls = (text: string): string =>
  text.replace(/(\w+:\/\/)(?:[^\s/@]*@)?([^\s?#]*)(?:[?#]\S*)?/g, '$1$2');

/** The same for every text among the facts of an error. */
export const plainFacts = (facts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? plainUrls(value) : value]),
  );
