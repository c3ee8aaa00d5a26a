/** URLs in a BMC's texts, without the parts that may be secret: accounts and queries. */

/** `https://me:pw@host/x.bin?token=1` becomes `https://host/x.bin`. It also works for a URL that was cut off. */
export const plainUrls = (text: string): string =>
  text.replace(/(\w+:\/\/)(?:[^\s/@]*@)?([^\s?#]*)(?:[?#]\S*)?/g, '$1$2');

/** The same for all texts in the facts of an error. */
export const plainFacts = (facts: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? plainUrls(value) : value]),
  );
