/** Commands as docs/boot.md has them, with a lab's own values. */
import { blocksOf, consoleOf, partOf, readDocument } from '../../support/documents';

const page = 'docs/boot.md';

/** Puts a lab's values in place of the page's. Throws where the page has one of them nowhere. */
const replaced = (text: string, values: Readonly<Record<string, string>>): string =>
  Object.entries(values).reduce((all, [shown, own]) => {
    if (!all.includes(shown)) throw new Error(`${page} has no ${shown}`);
    return all.replaceAll(shown, own);
  }, text);

/**
 * The arguments of the command that begins so, without its first word. Values of options are replaced by `values`, and options in
 * `without` are left out, for what they need is missing in a lab.
 * Throws where the page has no such command, or the command no such option.
 */
export const documented = (
  begins: string,
  values: Readonly<Record<string, string>>,
  without: readonly string[] = [],
): string[] => {
  const lines = readDocument(page)
    .split('\n')
    .map((text) => text.trim());
  const line = lines.find((text) => text.startsWith(begins));
  if (line === undefined) throw new Error(`${page} has no command ${begins}`);
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const missing = [...Object.keys(values), ...without].filter((option) => !words.includes(option));
  if (missing.length > 0) throw new Error(`${begins} in ${page} has no ${missing.join(' and no ')}`);
  return words
    .slice(1)
    .map((word, at, all) => values[all[at - 1] ?? ''] ?? word)
    .filter((word) => !without.includes(word));
};

/** What is typed under a heading, in its order, with a lab's own values. */
export const typedUnder = (heading: string, values: Readonly<Record<string, string>>): string[] =>
  replaced(
    consoleOf(partOf(readDocument(page), heading))
      .map(({ command }) => `${command}\0`)
      .join(''),
    values,
  )
    .split('\0')
    .slice(0, -1);

/** The JSON document under a heading, with a lab's own values. */
export const documentUnder = (heading: string, values: Readonly<Record<string, string>>): string => {
  const [json] = blocksOf(partOf(readDocument(page), heading), 'json');
  if (json === undefined) throw new Error(`${page} has no JSON under ${heading}`);
  return replaced(json, values);
};
