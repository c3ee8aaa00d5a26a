/** Texts of BMCs and ramdisks, made fit for PostgreSQL and display. */

const longest = 255;

/** One bounded line. Control characters and lone surrogates become blanks. */
export const tidyText = (text: string | undefined, most = longest): string | undefined => {
  const tidy = text
    ?.slice(0, most)
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return tidy === '' ? undefined : tidy;
};
