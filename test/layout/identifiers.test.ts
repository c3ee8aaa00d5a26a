/** Names in code use the words of the field. The words that hide the actor, or that stand for a term of another product, are listed here. */
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
