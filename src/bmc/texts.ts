/** Texts of a BMC or a ramdisk as they may be stored and shown: one line, of a sane length, without what no database takes. */

const longest = 255;

/** Control characters and halves of surrogate pairs become blanks; undefined where nothing is left. */
export const tidyText = (text: string | undefined, most = longest): string | undefined => {
  const tidy = text
    ?.slice(0, most)
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return tidy === '' ? undefined : tidy;
};
