/**
 * Names in code use the words of the field. The words that hide the actor, or that stand for a term of another product, are listed here.
 * A top-level name has few meanings in the whole tree.
 */
import { piecesOf, sourceFiles } from '../support/source-pieces';

/** A word, and the one that the field uses. */
const avoided: Readonly<Record<string, string>> = {
  ear: 'subscription',
  hear: 'receive',
  heard: 'received',
  hearer: 'subscriber',
  hands: 'deps',
  nobody: 'unowned',
  nobodys: 'unowned',
  patience: 'timeout',
  story: 'kind',
  tell: 'notify',
  tells: 'notifies',
  telling: 'notifying',
  tend: 'advance',
  tended: 'advanced',
  tending: 'advancing',
  thaw: 'unfreeze',
  thawed: 'unfrozen',
  told: 'notified',
};

/** Names with another meaning. */
const kept: Readonly<Record<string, string>> = {
  changedHands: 'a node changes hands',
  sameHands: 'a node changes hands',
};

/** Comments, texts and templates are prose or SQL. */
const codeOf = (source: string): string =>
  piecesOf(source)
    .filter(({ is }) => is === 'code')
    .map(({ text }) => text)
    .join(' ');

const wordsIn = (name: string): string[] => name.split(/(?=[A-Z])|_|\d+/).map((word) => word.toLowerCase());

const faultsIn = (source: string): string[] =>
  [...new Set(codeOf(source).match(/[A-Za-z_$][\w$]*/g) ?? [])]
    .filter((name) => !Object.hasOwn(kept, name))
    .flatMap((name) =>
      wordsIn(name)
        .filter((word) => Object.hasOwn(avoided, word))
        .map((word) => `${name}: say ${avoided[word]}`),
    );

const sources = sourceFiles();

test('names use the words of the field', () => {
  expect(sources.length).toBeGreaterThan(500);
  const faults = sources.flatMap(({ path, source }) => faultsIn(source).map((fault) => `${path}: ${fault}`));
  expect(faults).toEqual([]);
});

test('every exception is still needed', () => {
  const all = sources.map(({ source }) => source).join('\n');
  expect(Object.keys(kept).filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
});

test.each([
  ['const tellNode = 1', ['tellNode: say notify']],
  ['type BmcHands = { told: 1 }', ['BmcHands: say deps', 'told: say notified']],
  ["const a = 'tell'; // tell", []],
  ['const telltale = changedHands', []],
])('%s', (source, faults) => {
  expect(faultsIn(source)).toEqual(faults);
});

/** Files that may declare one name with different meanings. */
const mostMeanings = 3;

/** Names that mean the same in each of their files. */
const oneMeaning: Readonly<Record<string, string>> = {
  answerMs: 'the time for an answer',
  connectMs: 'the time for a connection',
  deepest: 'the limit on nesting',
  longestAnswer: 'the limit on bytes of an answer',
  longestReason: 'the limit on characters of a reason that is kept',
  longestText: 'the limit on characters of a text that is kept',
};

const declaration =
  /^ ?(?:export )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|type|interface) ([A-Za-z_$][\w$]*|\{[^}=]*\}(?= =)|\[[^\]=]*\](?= =))/gm;

/** Names that a module declares at its top level; of `{ a: b }`, it is b. */
const declaredIn = (source: string): string[] => [
  ...new Set(
    [...codeOf(source).matchAll(declaration)].flatMap(
      ([, names]) => names!.replaceAll(/\w+\s*:/g, '').match(/[A-Za-z_$][\w$]*/g) ?? [],
    ),
  ),
];

const filesOf = new Map<string, string[]>();
for (const { path, source } of sources)
  for (const name of declaredIn(source)) filesOf.set(name, [...(filesOf.get(name) ?? []), path]);

test('a top-level name has at most three meanings', () => {
  const wide = [...filesOf].filter(([name, paths]) => paths.length > mostMeanings && !Object.hasOwn(oneMeaning, name));
  expect(wide.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([]);
});

test('every name with one meaning in many files is still in many', () => {
  expect(Object.keys(oneMeaning).filter((name) => (filesOf.get(name)?.length ?? 0) <= mostMeanings)).toEqual([]);
});

test.each([
  ['const a = 1;\nexport const b = () => {\n  const inner = 2;\n};', ['a', 'b']],
  ['export type A = { b: 1 };\nexport type { B } from "x";\nfunction c() {}', ['A', 'c']],
  ['const { d, e: f } = g;\nconst [h] = i;', ['d', 'f', 'h']],
  ['// why\nconst j = `\nconst k = 1`;', ['j']],
])('%j declares %j', (source, names) => {
  expect(declaredIn(source)).toEqual(names);
});
