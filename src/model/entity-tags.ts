/** Entity tags of RFC 9110. */

/**
 * `*` matches any tag, and a weak tag equals the strong one (13.1.2).
 * @param tag a strong one
 */
export const namesTag = (header: string, tag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);
