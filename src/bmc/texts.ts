/** Texts of BMCs and ramdisks, made fit for PostgreSQL and display: one line, bounded, no control characters. */

const longest = 255;

/** Replaces control characters and lone surrogates with blanks; undefined if nothing is left. */
export const tidyText = (text: string | undefined, most = longest): string | undefined => {
  const tidy = text
    ?.slice(0, most)
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return tidy === '' ? undefined : tidy;
};
