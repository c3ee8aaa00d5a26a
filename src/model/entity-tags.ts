/** Entity tags of RFC 9110. */

/**
 * Whether a header such as If-None-Match names this tag: `*` names each, and a weak tag counts as the strong one (13.1.2).
 * @param tag a strong one
 */
export const namesTag = (header: string, tag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);
