/** Names of places in a page, by the rules of the forges that show the same files. */

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-');

/** Gives each text a name of its own: the second `limits` of a page is `limits-1`. */
export const anchorsOfPage = (): { readonly given: Set<string>; readonly name: (text: string) => string } => {
  const given = new Set<string>();
  const name = (text: string): string => {
    const slug = slugOf(text) || 'part';
    let free = slug;
    for (let number = 1; given.has(free); number += 1) free = `${slug}-${number}`;
    given.add(free);
    return free;
  };
  return { given, name };
};
