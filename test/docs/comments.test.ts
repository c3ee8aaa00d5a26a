/** Comments of src and texts of errors are plain sentences: short, with a subject, and with the names of products. */
import { errors } from '../../src/model/errors';
import { piecesOf, sourceFiles, textIn } from '../support/source-pieces';

const mostWords = 25;
const headless = /^(?:What|Who|Whom|Whose|Whether|Where|How|Why)\b/;
const riddles =
  /\b(?:anew|once more|so long|by itself|of its own|stands? (?:for|behind)|the original|the engine|the store|Postgres(?!QL)|is asked|is told|are asked|harmless to repeat)\b/g;

/** Directives of tools are no comments. */
const commentsIn = (source: string) =>
  piecesOf(source)
    .filter(({ is, text }) => is === 'comment' && !/^\/[/*]+ *(?:biome-ignore|@ts-)/.test(text))
    .map(({ text, line }) => ({
      line,
      text: text
        .replaceAll(/\/\*\*?|\*\/|^\s*\/\/|^\s*\*(?!\/)/gm, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }));

/** A tag begins a sentence, and so does what follows a colon or semicolon with a capital letter. */
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?;:])\s+(?=[A-Z@`])|\s(?=@(?:param|returns|throws)\b)/);

const longIn = (text: string): string[] =>
  sentencesOf(text)
    .filter((sentence) => sentence.split(' ').length > mostWords)
    .map((sentence) => `${sentence.split(' ').length} words: ${sentence.slice(0, 60)}`);

const faultsOf = (text: string): string[] => [
  ...(headless.test(text) ? [`begins with "${text.split(' ')[0]}"`] : []),
  ...longIn(text),
  ...(text.match(riddles) ?? []).map((word) => `"${word}"`),
];

test('comments are short sentences that name products and begin with a subject or a verb', () => {
  const sources = sourceFiles();
  expect(sources.length).toBeGreaterThan(500);
  const faults = sources.flatMap(({ path, source }) =>
    commentsIn(source).flatMap(({ line, text }) => faultsOf(text).map((fault) => `${path}:${line}: ${fault}`)),
  );
  expect(faults).toEqual([]);
});

test('texts of errors are, too, and say "if" for a condition', () => {
  const faults = Object.entries(errors).flatMap(([code, { says }]) =>
    [...faultsOf(says), ...(says.match(/\bwhere\b/gi) ?? [])].map((fault) => `${code}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

/** Keywords, fragments of SQL, patterns and code are no text. */
const isText = (text: string): boolean => !/[=|{}]|<\w|^insert into|^jsonb_|^and as assert|^function __/.test(text);
const textRiddles =
  /\b(?:anew|once more|so long|by itself|of its own|stands? (?:for|behind)|the original|the engine|the store|Postgres(?!QL))\b/g;

test('texts of src are short sentences that name products', () => {
  const faults = sourceFiles().flatMap(({ path, source }) =>
    piecesOf(source)
      .filter(({ is }) => is === 'literal')
      .map(({ text, line }) => ({ line, text: textIn(text).replaceAll(/\s+/g, ' ').trim() }))
      .filter(({ text }) => isText(text))
      .flatMap(({ line, text }) =>
        [...longIn(text), ...(text.match(textRiddles) ?? [])].map((fault) => `${path}:${line}: ${fault}`),
      ),
  );
  expect(faults).toEqual([]);
});

test.each([
  ['/** What it does. */', ['begins with "What"']],
  ['// The engine: the engine is asked anew.', ['"the engine"', '"is asked"', '"anew"']],
  ["const a = '// the store'; const b = /the store/;", []],
  [
    `// ${'word '.repeat(13)}\n// ${'word '.repeat(13)}\nconst a = 1;`,
    ['26 words: word word word word word word word word word word word word '],
  ],
  ['/** Short. @param a the first value */', []],
])('%s', (source, faults) => {
  expect(commentsIn(source).flatMap(({ text }) => faultsOf(text))).toEqual(faults);
});
