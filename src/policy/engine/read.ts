/** Reads a policy file (YAML or JSON) into rules with their lines, and detects traps of YAML. */

import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { isDocument } from '../../model/document';
import { raise } from '../../model/errors';
import { emptyRule } from '../language/parse';
import type { Origin, PolicyOptions } from '../types';
export type PolicySource = Required<Pick<PolicyOptions, 'overrides' | 'origins' | 'traps'>>;

/** Limit of a file's characters. The sample with every rule has forty thousand. */
const longestFile = 2_000_000;
/** Characters of a line. The parser scans back along the line, which makes long lines slow. */
const longestLine = 70_000;
const mostRules = 10_000;

const refuseFile = (file: string, ...reasons: readonly string[]): never =>
  raise('PolicyInvalid', { reason: reasons.map((reason) => `${file}${reason}`).join('\n') });

/** Levels of nesting. Policy files have two or three, and the recursive parser bears only some thousands. */
const deepest = 100;
const opening = new Set('[{');
const closing = new Set(']}');
/** Indentation, and the markers of lists and keys at the start of a line. */
const marks = new Set(' \t-?:');

/** Upper estimate without parsing: brackets in quoted texts count too. */
const nestsDeep = (text: string): boolean => {
  let depth = 0;
  let leading = 0;
  let starts = true;
  for (const letter of text) {
    if (opening.has(letter)) depth += 1;
    else if (closing.has(letter)) depth = Math.max(0, depth - 1);
    leading = letter === '\n' ? 0 : starts && marks.has(letter) ? leading + 1 : leading;
    starts = letter === '\n' || (starts && marks.has(letter));
    if (depth > deepest || leading > 2 * deepest) return true;
  }
  return false;
};

const parsedYaml = (text: string, file: string, lines: LineCounter) => {
  if (text.length > longestFile) refuseFile(file, `: it is longer than ${longestFile} characters`);
  if (text.split('\n').some((line) => line.length > longestLine))
    refuseFile(file, `: a line of it is longer than ${longestLine} characters`);
  if (nestsDeep(text)) refuseFile(file, `: it nests deeper than ${deepest} levels`);
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false, lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings];
  const faultText = ({ pos, message }: YAMLError) => `:${lines.linePos(pos[0]).line}: ${message.slice(0, 200)}`;
  if (faults.length > 0) refuseFile(file, ...faults.slice(0, 20).map(faultText));
  return document;
};

type FileEntry = {
  readonly name: string;
  readonly value: unknown;
  readonly line: number;
  readonly trap?: string;
  /** Comes from a merge key; a direct entry of the same name wins. */
  readonly merged?: true;
  /** The name is a number, true, null or a date, which oslo.policy never finds. */
  readonly stray?: true;
};

const faultText = ({ text, fix }: { text: string; fix: string }): string => `${text}; ${fix}`;

/** Reason why a value is probably a mistake; the rule parser finds the others. */
const trapOf = (node: unknown, value: unknown): string | undefined => {
  const quoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
  const empty = value === '' || (Array.isArray(value) && value.length === 0);
  if (empty && !quoted) return faultText(emptyRule);
  if (isScalar(node) && node.tag === '!') return `a "!" without quotes is a tag; write it in quotes`;
  return undefined;
};

// YAML reads a bare "!" as an empty tag, which oslo.policy and compat mode take for the empty text.
const textOfTag = (node: unknown, value: unknown): unknown =>
  isScalar(node) && node.tag === '!' && value === null ? '' : value;

/** YAML drops a bare "!" in a list as empty, so a rule meant to refuse all callers would refuse none. */
const bareTagIn = (node: unknown): unknown => {
  let found: unknown;
  if (isSeq(node))
    visit(node, {
      Scalar: (_, item) => {
        if (item.tag === '!' && (item.value === '' || item.value === null)) found = item;
      },
    });
  return found;
};

/** One map, or several of which the first wins. Undefined for anything else. */
const mergedMaps = (value: unknown): Readonly<Record<string, unknown>>[] | undefined => {
  const maps = Array.isArray(value) ? value : [value];
  return maps.every(isDocument) ? maps : undefined;
};

// The parser reads a plain << as a symbol and a quoted one as a text, as PyYAML does.
const isMergeKey = (key: unknown): boolean => typeof key === 'symbol' && key.description === '<<';

const strayName = 'its name is no text, so that nothing asks for it; write the name in quotes';
const mergedFault = 'it comes by a merge key, whose map may say more than its reader sees; write it out';

/** Throws PolicyInvalid with file and line if the text is no map of names to rules. */
export const readPolicy = (text: string, file: string): PolicySource => {
  const lines = new LineCounter();
  const document = parsedYaml(text, file, lines);
  const { contents } = document;
  const isEmpty = isScalar(contents) ? contents.value === null && contents.tag === undefined : contents === null;
  if (isEmpty) return { overrides: {}, origins: {}, traps: [] };
  if (!isMap(contents)) return refuseFile(file, ': a policy file is a map of rule names to rules');

  if (contents.items.length > mostRules) refuseFile(file, `: it holds more than ${mostRules} rules`);
  const lineOf = (node: unknown): number => {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    return range ? lines.linePos(range[0]!).line : 1;
  };
  const entriesOf = ({ key, value: node }: Pair): FileEntry[] => {
    const line = lineOf(key);
    const bare = bareTagIn(node);
    if (bare)
      refuseFile(file, `:${lineOf(bare)}: a "!" without quotes in a list is a tag of nothing; write it in quotes`);
    const value = textOfTag(node, plainOf(node));
    if (isScalar(key) && isMergeKey(key.value)) {
      const maps = mergedMaps(value) ?? refuseFile(file, `:${line}: a merge key takes a map, or a list of maps`);
      // Of several maps the first wins; a direct entry of the file wins over all.
      const rules = Object.entries(Object.assign({}, ...maps.toReversed()) as Record<string, unknown>);
      return rules.map(([name, of]) => ({ name, value: of, line, trap: mergedFault, merged: true }));
    }
    if (!isScalar(key)) return refuseFile(file, `:${line}: the name of a rule is a text`);
    if (typeof key.value !== 'string') return [{ name: String(key.value), value, line, stray: true }];
    return [{ name: key.value, value, line, trap: trapOf(node, value) }];
  };
  // The limit prevents aliases that expand without bound.
  const plainOf = (node: unknown): unknown => {
    if (!isAlias(node) && !isCollection(node) && !isScalar(node)) return null;
    try {
      return node.toJS(document, { maxAliasCount: 100 });
    } catch {
      return refuseFile(file, `:${lineOf(node)}: its anchors and aliases cannot be resolved, or are too many`);
    }
  };
  const entries = contents.items.flatMap(entriesOf);
  return collect([...entries.filter((one) => one.merged), ...entries.filter((one) => !one.merged)], file);
};

const collect = (entries: readonly FileEntry[], file: string): PolicySource => {
  const overrides: Record<string, unknown> = Object.create(null);
  const origins: Record<string, Origin> = Object.create(null);
  const traps: string[] = [];
  const byMerge = new Set<string>();
  for (const { name, value, line, trap, merged: comes, stray } of entries) {
    const before = byMerge.has(name) ? undefined : origins[name];
    const say = (text: string) => traps.push(`${file}:${line}: rule "${name}": ${text}`);
    if (comes) byMerge.add(name);
    else byMerge.delete(name);
    if (stray) {
      say(strayName);
      continue;
    }
    if (before) say(`is given twice, first in line ${before.line}, and only the last would count; drop one`);
    if (trap) say(trap);
    overrides[name] = value;
    origins[name] = { file, line };
  }
  return { overrides, origins, traps };
};

/** Splits a folder's files into policy files, in order, and others. Hidden files are in neither list, because editors leave some. */
export const policyFilesAmong = (names: readonly string[]): { taken: string[]; passed: string[] } => {
  const seen = names.filter((name) => !name.startsWith('.')).sort();
  const isTaken = (name: string) => /.\.(?:yaml|yml|json)$/.test(name);
  return { taken: seen.filter(isTaken), passed: seen.filter((name) => !isTaken(name)) };
};

/** If two files define the same rule, the later one wins. */
export const joinSources = (sources: readonly PolicySource[]): PolicySource => ({
  overrides: Object.assign(Object.create(null), ...sources.map(({ overrides }) => overrides)),
  origins: Object.assign(Object.create(null), ...sources.map(({ origins }) => origins)),
  traps: sources.flatMap(({ traps }) => traps),
});
