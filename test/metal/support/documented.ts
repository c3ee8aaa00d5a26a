/** Commands as docs/boot.md has them, with a lab's own values. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const page = resolve(__dirname, '../../../docs/boot.md');

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
  const lines = readFileSync(page, 'utf8')
    .split('\n')
    .map((text) => text.trim());
  const line = lines.find((text) => text.startsWith(begins));
  if (line === undefined) throw new Error(`docs/boot.md has no command ${begins}`);
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const missing = [...Object.keys(values), ...without].filter((option) => !words.includes(option));
  if (missing.length > 0) throw new Error(`${begins} in docs/boot.md has no ${missing.join(' and no ')}`);
  return words
    .slice(1)
    .map((word, at, all) => values[all[at - 1] ?? ''] ?? word)
    .filter((word) => !without.includes(word));
};
