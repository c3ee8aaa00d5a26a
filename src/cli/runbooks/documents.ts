/** Reads user documents from files: JSON or YAML. */
import { LineCounter, parseDocument, YAMLParseError } from 'yaml';
import type { CliDeps } from '../deps';
import { stop } from '../faults';
import { plainText } from '../tables';

export type ReadDocument = {
  readonly value: unknown;
  /** Tree of the parser. */
  readonly root: unknown;
  /** @param offset of a node of the tree */
  readonly lineAt: (offset: number) => number;
};

/** Advice for messages of the parser. */
const advice: readonly (readonly [says: RegExp, does: string])[] = [
  [/^Tabs are not allowed/, 'indent with spaces.'],
  [/^Map keys must be unique/, 'a key stands there once.'],
  [/^Alias resolution is disabled/, 'write the value out where it is used; aliases are not read.'],
];

/** The parser's message without its quote of the file. */
const sentenceOf = (file: string, thrown: Error): string => {
  const [said = ''] = thrown.message.split('\n');
  const says = said.replace(/ at line \d+, column \d+:?$/, '');
  const line = thrown instanceof YAMLParseError ? thrown.linePos?.[0].line : undefined;
  const does = advice.find(([pattern]) => pattern.test(says))?.[1];
  const where = line === undefined ? file : `${file}, line ${line}`;
  return plainText(`${where}: ${says}${does === undefined ? '.' : `: ${does}`}`);
};

/** Throws CliFault (usage) if the file is missing, or is neither JSON nor YAML. Aliases are refused. */
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

/** Throws as readDocument. */
export const documentIn = (deps: Pick<CliDeps, 'readFile'>, file: string): unknown => readDocument(deps, file).value;

/** The list itself, or the one under a key; else undefined. */
export const listIn = (document: unknown, key: string): unknown[] | undefined => {
  const list = Array.isArray(document) ? document : (document as Record<string, unknown> | null)?.[key];
  return Array.isArray(list) ? list : undefined;
};
