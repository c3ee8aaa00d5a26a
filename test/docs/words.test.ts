/** Documents, comments and texts name who acts: caller, tenant, operator, worker, BMC, ramdisk. Words that hide the actor are counted. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { piecesOf, sourceFiles, textIn } from '../support/source-pieces';

const root = join(__dirname, '../..');
const hiding =
  /\b(?:somebody|someone|nobody|whoever|whomever|anybody|anyone|everybody|everyone|hears?|heard|told|tells?|telling|tales?|said twice|without anybody)\b/gi;

/** Path, then the words that may stand there, and why. */
const allowed: Readonly<Record<string, { readonly words: readonly string[]; readonly why: string }>> = {
  'src/bmc/ipmi/indicator.ts': { words: ['told'], why: 'the text of a lamp that was never reported' },
};

const files = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Comments and texts of a source, without its code: names in code are another matter. */
const proseOf = (source: string): string =>
  piecesOf(source)
    .filter(({ is }) => is !== 'code')
    .map(({ is, text }) => (is === 'literal' ? textIn(text) : text))
    .join('\n');

const found = (path: string, text: string): string[] =>
  (text.match(hiding) ?? [])
    .filter((word) => !allowed[path]?.words.includes(word.toLowerCase()))
    .map((word) => `${path}: ${word}`);

const documents = [
  ...[
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'GOVERNANCE.md',
    'CODE_OF_CONDUCT.md',
  ],
  ...files('docs', '.md'),
  ...files('reports', '.md'),
];

test('documents name who acts', () => {
  expect(documents.length).toBeGreaterThan(45);
  expect(documents.flatMap((path) => found(path, read(path)))).toEqual([]);
});

test('comments and texts of src name who acts', () => {
  const sources = sourceFiles();
  expect(sources.length).toBeGreaterThan(400);
  expect(sources.flatMap(({ path, source }) => found(join('src', path), proseOf(source)))).toEqual([]);
});

test('every exception is still needed', () => {
  const needless = Object.entries(allowed).flatMap(([path, { words }]) =>
    words
      .filter((word) => !new RegExp(`\\b${word}\\b`, 'i').test(read(path)))
      .map((word) => `${relative('', path)}: ${word}`),
  );
  expect(needless).toEqual([]);
});

test.each([
  ['a comment', '/** Tells nobody. */', 2],
  ['a comment of one line', 'const a = 1; // whoever', 1],
  ['a text', "raise('x', { reason: 'nobody serves the node' })", 1],
  ['names in code', 'const told = tell(nobody); import x from "./telling"', 0],
  ['a statement', 'sql`with told as (insert into events select 1) select 1 from told`', 0],
  ['an address', "'https://example.org/told and more'", 1],
])('%s is read as it should be', (_, source, count) => {
  expect(proseOf(source).match(hiding)?.length ?? 0).toBe(count);
});
