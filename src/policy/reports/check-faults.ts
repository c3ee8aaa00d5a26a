/** Probable mistakes in single checks. */

import { type Check, type Fault, printCheck } from '../language/check';
import { brokenPart, type Template } from '../language/template';
import { hasSpace } from '../language/tokens';
import type { Vocabulary } from '../rules/vocabulary';

export const fault = (text: string, fix: string): Fault => ({ text, fix });

const keyFaults = (source: string, match: Template, { targets, isKey }: Vocabulary): Fault[] =>
  match.keys
    .filter((key) => !isKey(key))
    .map((key) =>
      fault(
        `${source}: no target has a key "${key}", so this is always false`,
        `use one of ${targets.join(', ')}, or a credential of the caller`,
      ),
    );

const lettersOf = (match: Template): string => match.parts.map((part) => ('text' in part ? part.text : '')).join('');

const matchFaults = (source: string, match: Template, words: Vocabulary | undefined): Fault[] => {
  const broken = brokenPart(match);
  const faults =
    broken === undefined ? [] : [fault(`${source} has ${broken}`, 'use %(key)s for a value of the target')];
  if (/^['"]|['"]$/.test(match.source))
    faults.push(fault(`the quotes right of the colon in ${source} are taken as letters`, 'remove them'));
  if (/[\s(),&|]/.test(lettersOf(match)))
    faults.push(
      fault(
        `${source} holds operators, parentheses or commas as letters`,
        'put spaces around "and", "or" and "not", and separate checks by them',
      ),
    );
  if (match.source === '') faults.push(fault(`${source} has nothing right of the colon`, 'write what it must equal'));
  return words ? [...faults, ...keyFaults(source, match, words)] : faults;
};

/** Words left of a colon that have a meaning in another case. */
const lookAlikes: Readonly<Record<string, string>> = {
  rule: 'rule',
  role: 'role',
  http: 'http',
  https: 'https',
  true: 'True',
  false: 'False',
  none: 'None',
};

const spellingFaults = (source: string, path: readonly string[]): Fault[] => {
  const written = path.join('.');
  if (hasSpace(written)) return [fault(`${source} holds white space left of its colon`, 'make it a separate check')];
  const word = written.toLowerCase();
  const meant = Object.hasOwn(lookAlikes, word) ? lookAlikes[word] : undefined;
  return meant === undefined
    ? []
    : [fault(`${source}: "${written}" is taken for a credential`, `capitals count; write ${meant}:`)];
};

const wordFaults = (source: string, path: readonly string[], match: Template, words: Vocabulary): Fault[] => {
  const [head = ''] = path;
  const holds = path.length === 1 && Object.hasOwn(words.credentials, head) ? words.credentials[head] : undefined;
  if (!holds) {
    const known = Object.keys(words.credentials).join(', ');
    return [
      fault(`${source}: no caller has a credential called "${path.join('.')}"`, `use rule:, role:, or one of ${known}`),
    ];
  }
  if (holds === 'boolean' && match.constant !== undefined && !['True', 'False'].includes(match.constant))
    return [fault(`${source} never matches`, `write ${head}:True or ${head}:False`)];
  return [];
};

const pathFaults = (
  source: string,
  path: readonly string[],
  match: Template,
  words: Vocabulary | undefined,
): Fault[] => {
  const spelled = spellingFaults(source, path);
  return spelled.length > 0 || !words ? spelled : wordFaults(source, path, match, words);
};

/** Faults of one check without its parts. Without a vocabulary, every word is valid. */
export const checkFaults = (check: Check, words: Vocabulary | undefined): Fault[] => {
  if (check.is === 'role') return matchFaults(printCheck(check), check.match, words);
  if (check.is !== 'compare') return [];
  const source = printCheck(check);
  const { kind, match } = check;
  if (kind.is === 'invalid')
    return [
      fault(
        `"${kind.source}" in ${source} cannot stand left of a colon`,
        'use rule:, role:, a credential or a literal',
      ),
    ];
  const right = matchFaults(source, match, words);
  if (kind.is === 'literal' && match.keys.length === 0)
    right.push(fault(`${source} compares two constants`, 'write "@" or "!", or compare with %(key)s'));
  return kind.is === 'path' ? [...right, ...pathFaults(source, kind.path, match, words)] : right;
};
