/** Reads the text of a policy file, YAML or JSON, into rules with their places, and finds YAML's own traps. */

import { isAlias, isCollection, isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLError } from 'yaml';
import { raise } from '../model/errors';
import { emptyRule } from './language/parse';
import type { Origin } from './merge';
import type { PolicyOptions } from './types';

/** A file as a policy is made from it. */
export type PolicySource = Required<Pick<PolicyOptions, 'overrides' | 'origins' | 'traps'>>;

/** Characters of a file; the sample with every rule has forty thousand. */
const longest = 2_000_000;
/** Characters of a line: more than the longest rule, and few enough for a parser that looks back along it. */
const longestLine = 70_000;
const mostRules = 10_000;

const refuse = (file: string, ...reasons: readonly string[]): never =>
  raise('PolicyInvalid', { reason: reasons.map((reason) => `${file}${reason}`).join('\n') });

// A bare "!" is a tag of nothing, which the reference reads as the empty text, and so do we in compat mode.
const isBareTag = ({ code, message }: YAMLError): boolean =>
  code === 'TAG_RESOLVE_FAILED' && /Unresolved tag: !(?:\s|$)/.test(message);

/** Levels of nesting. A policy file has two or three; a parser that calls itself bears only so many thousands. */
const deepest = 100;
const opening = new Set('[{');
const closing = new Set(']}');
/** What opens levels at the beginning of a line: indentation, and the marks of lists and keys. */
const marks = new Set(' \t-?:');

/** Whether a text may nest deeper than `deepest`, counted without understanding it: texts in quotes count as well. */
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

const parsed = (text: string, file: string, lines: LineCounter) => {
  if (text.length > longest) refuse(file, `: it is longer than ${longest} characters`);
  if (text.split('\n').some((line) => line.length > longestLine))
    refuse(file, `: a line of it is longer than ${longestLine} characters`);
  if (nestsDeep(text)) refuse(file, `: it nests deeper than ${deepest} levels`);
  const document = parseDocument(text, { version: '1.1', uniqueKeys: false, lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings].filter((one) => !isBareTag(one));
  const tell = ({ pos, message }: YAMLError) => `:${lines.linePos(pos[0]).line}: ${message.trimEnd().slice(0, 200)}`;
  if (faults.length > 0) refuse(file, ...faults.slice(0, 20).map(tell));
  return document;
};

type Entry = { readonly name: string; readonly value: unknown; readonly line: number; readonly trap?: string };

const told = ({ text, fix }: { text: string; fix: string }): string => `${text}; ${fix}`;

/** Why a value that is read is hardly meant; the parser of rules finds the rest. */
const trapOf = (node: unknown, value: unknown): string | undefined => {
  const quoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
  const empty = value === '' || (Array.isArray(value) && value.length === 0);
  if (empty && !quoted) return told(emptyRule);
  if (isScalar(node) && node.tag === '!') return `a "!" without quotes is a tag; write it in quotes`;
  return undefined;
};

const textOfTag = (node: unknown, value: unknown): unknown =>
  isScalar(node) && node.tag === '!' && value === null ? '' : value;

/** The file as a map of names to rules. Raises PolicyInvalid with file and line for what is no such map. */
export const readPolicy = (text: string, file: string): PolicySource => {
  const lines = new LineCounter();
  const document = parsed(text, file, lines);
  const { contents } = document;
  if (contents === null) return { overrides: {}, origins: {}, traps: [] };
  if (!isMap(contents)) return refuse(file, ': a policy file is a map of rule names to rules');

  if (contents.items.length > mostRules) refuse(file, `: it holds more than ${mostRules} rules`);
  const lineOf = (node: unknown): number => {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    return range ? lines.linePos(range[0]!).line : 1;
  };
  const entryOf = ({ key, value: node }: Pair): Entry => {
    const line = lineOf(key);
    if (!isScalar(key) || typeof key.value !== 'string') return refuse(file, `:${line}: the name of a rule is a text`);
    const value = textOfTag(node, plainOf(node));
    return { name: key.value, value, line, trap: trapOf(node, value) };
  };
  // Anchors may be used, but not to grow a text without end.
  const plainOf = (node: unknown): unknown => {
    if (!isAlias(node) && !isCollection(node) && !isScalar(node)) return null;
    try {
      return node.toJS(document, { maxAliasCount: 100 });
    } catch {
      return refuse(file, `:${lineOf(node)}: its anchors and aliases cannot be resolved, or are too many`);
    }
  };
  return collect(contents.items.map(entryOf), file);
};

const collect = (entries: readonly Entry[], file: string): PolicySource => {
  const overrides: Record<string, unknown> = Object.create(null);
  const origins: Record<string, Origin> = Object.create(null);
  const traps: string[] = [];
  for (const { name, value, line, trap } of entries) {
    const before = origins[name];
    const say = (text: string) => traps.push(`${file}:${line}: rule "${name}": ${text}`);
    if (before) say(`is given twice, first in line ${before.line}, and only the last would count; drop one`);
    if (trap) say(trap);
    overrides[name] = value;
    origins[name] = { file, line };
  }
  return { overrides, origins, traps };
};

/**
 * Which of a folder's files are read as policy, in their order, and which are passed over for their ending. Hidden files are
 * neither: editors leave some.
 */
export const policyFilesAmong = (names: readonly string[]): { taken: string[]; passed: string[] } => {
  const seen = names.filter((name) => !name.startsWith('.')).sort();
  const isTaken = (name: string) => /.\.(?:yaml|yml|json)$/.test(name);
  return { taken: seen.filter(isTaken), passed: seen.filter((name) => !isTaken(name)) };
};

/** Several files as one: where two name the same rule, the later one counts. */
export const joinSources = (sources: readonly PolicySource[]): PolicySource => ({
  overrides: Object.assign(Object.create(null), ...sources.map(({ overrides }) => overrides)),
  origins: Object.assign(Object.create(null), ...sources.map(({ origins }) => origins)),
  traps: sources.flatMap(({ traps }) => traps),
});
