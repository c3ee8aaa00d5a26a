/** Documents that people write for a command: JSON or YAML in a file. */
import { LineCounter, parseDocument, YAMLParseError } from 'yaml';
import type { CliDeps } from './deps';
import { stop } from './faults';
import { plainText } from './tables';

/** A file as it is read: what it means, and where in its text that stands. */
export type ReadDocument = {
  readonly value: unknown;
  /** The parser's tree. */
  readonly root: unknown;
  /** @param offset of a node of the tree */
  readonly lineAt: (offset: number) => number;
};

/** What helps beside what the parser says. */
const advice: readonly (readonly [says: RegExp, does: string])[] = [
  [/^Tabs are not allowed/, 'indent with spaces.'],
  [/^Map keys must be unique/, 'a key stands there once.'],
  [/^Alias resolution is disabled/, 'write the value out where it is used; aliases are not read.'],
];

/** The parser's sentence without the text of the file, which it repeats. */
const sentenceOf = (file: string, thrown: Error): string => {
  const [said = ''] = thrown.message.split('\n');
  const says = said.replace(/ at line \d+, column \d+:?$/, '');
  const line = thrown instanceof YAMLParseError ? thrown.linePos?.[0].line : undefined;
  const does = advice.find(([pattern]) => pattern.test(says))?.[1];
  const where = line === undefined ? file : `${file}, line ${line}`;
  return plainText(`${where}: ${says}${does === undefined ? '.' : `: ${does}`}`);
};

/** Reads a file. Throws CliFault (usage) where there is none, or it is neither JSON nor YAML; aliases are not read. */
export const readDocument = (deps: Pick<CliDeps, 'readFile'>, file: string): ReadDocument => {
  const text = deps.readFile(file) ?? stop('usage', `There is no file ${file}.`);
  const lines = new LineCounter();
  const parsed = parseDocument(text, { uniqueKeys: true, lineCounter: lines });
  const [fault] = parsed.errors;
  if (fault) return stop('usage', sentenceOf(file, fault));
  try {
    const value: unknown = parsed.toJS({ maxAliasCount: 0 });
    return { value, root: parsed.contents, lineAt: (offset) => lines.linePos(offset).line };
  } catch (thrown) {
    if (thrown instanceof ReferenceError) return stop('usage', sentenceOf(file, thrown));
    throw thrown;
  }
};

/** The value in a file. Throws as readDocument does. */
export const documentIn = (deps: Pick<CliDeps, 'readFile'>, file: string): unknown => readDocument(deps, file).value;

/** The list that a document is, or has under a key; undefined where it has none. */
export const listIn = (document: unknown, key: string): unknown[] | undefined => {
  const list = Array.isArray(document) ? document : (document as Record<string, unknown> | null)?.[key];
  return Array.isArray(list) ? list : undefined;
};
