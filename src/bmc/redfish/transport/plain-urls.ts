/** URLs without accounts and queries, which may be secret. */

/** `https://me:pw@host/x.bin?token=1` becomes `https://host/x.bin`, even if it was cut off. */
export const plainUrls = (text: string): string =>
  text.replace(/(\w+:\/\/)(?:[^\s/@]*@)?([^\s?#]*)(?:[?#]\S*)?/g, '$1$2');

export const plainFacts = (facts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? plainUrls(value) : value]),
  );
