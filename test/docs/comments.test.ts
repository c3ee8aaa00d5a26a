/** Comments of src and texts of errors are plain sentences: short, with a subject, and with the names of products. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '../../src/model/errors';

const root = join(__dirname, '../../src');
const mostWords = 25;
const headless = /^(?:What|Who|Whom|Whose|Whether|Where|How|Why)\b/;
const riddles =
  /\b(?:anew|once more|so long|by itself|of its own|stands? (?:for|behind)|the original|the engine|the store|Postgres(?!QL)|is asked|is told|are asked|harmless to repeat)\b/g;

type Comment = { readonly line: number; readonly text: string };

/** Texts and expressions are passed over; comments of one line that follow each other are one. */
const commentsIn = (source: string): Comment[] => {
  const pieces = source.matchAll(
    /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[=(,:]\s?)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n\s*)+(?=\S)|\/\/[^\n]*/g,
  );
  return [...pieces]
    .filter(([piece]) => /^\/[/*]/.test(piece))
    .map(({ 0: piece, index }) => ({
      line: source.slice(0, index).split('\n').length,
      text: piece
        .replaceAll(/\/\*\*?|\*\/|^\s*\/\/|^\s*\*(?!\/)/gm, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }))
    .filter(({ text }) => !/^(?:biome-ignore|@ts-)/.test(text));
};

/** A tag begins a sentence, and so does what follows a colon or semicolon with a capital letter. */
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?;:])\s+(?=[A-Z@`])|\s(?=@(?:param|returns|throws)\b)/);

const faultsOf = (text: string): string[] => [
  ...(headless.test(text) ? [`begins with "${text.split(' ')[0]}"`] : []),
  ...sentencesOf(text)
    .filter((sentence) => sentence.split(' ').length > mostWords)
    .map((sentence) => `${sentence.split(' ').length} words: ${sentence.slice(0, 60)}`),
  ...(text.match(riddles) ?? []).map((word) => `"${word}"`),
];

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));

test('comments are short sentences that name products and begin with a subject or a verb', () => {
  expect(sources.length).toBeGreaterThan(500);
  const faults = sources.flatMap((path) =>
    commentsIn(readFileSync(join(root, path), 'utf8')).flatMap(({ line, text }) =>
      faultsOf(text).map((fault) => `${path}:${line}: ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test('texts of errors are, too, and say "if" for a condition', () => {
  const faults = Object.entries(errors).flatMap(([code, { says }]) =>
    [...faultsOf(says), ...(says.match(/\bwhere\b/gi) ?? [])].map((fault) => `${code}: ${fault}`),
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
