/** The guides stay short: the words of all of them together, and of each sentence. Pages of the reference are looked up, not read. */
import { contents, readNavigation } from '../../tools/site/navigation';
import { readDocument } from '../support/documents';

const mostTogether = 30_000;
const mostInSentence = 30;

/** It sums up the reports. */
const summary = 'docs/results.md';

const guides = readNavigation(readDocument(contents))
  .filter(({ title }) => title !== 'Reference')
  .flatMap(({ entries }) => entries.map(({ source }) => source))
  .filter((source) => /^docs\/[\w-]+\.md$/.test(source) && source !== summary);

const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** Sentences of paragraphs and lists, without code, tables, headings and pictures. A colon ends one, and code counts as a word. */
const sentencesOfPage = (page: string): string[] =>
  page
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/^(?: *\||#|!\[| *<).*$/gm, '')
    .split(/\n(?=\s*\n| *(?:[-*]|\d+\.) )/)
    .map((piece) => piece.replace(/^\s*(?:[-*]|\d+\.) /, ''))
    .map((piece) => piece.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\]\([^)]*\)/g, ']'))
    .flatMap((piece) => piece.split(/[.!?:]+[)*"]*(?:\s|$)/))
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '');

test('the guides have at most 30,000 words together', () => {
  expect(guides.length).toBeGreaterThan(15);
  const words = guides.map((path) => countWords(readDocument(path))).reduce((sum, count) => sum + count, 0);
  expect(words).toBeGreaterThan(10_000);
  expect(words).toBeLessThanOrEqual(mostTogether);
});

test.each([...guides, 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])('a sentence of %s is short', (path) => {
  const sentences = sentencesOfPage(readDocument(path));
  expect(sentences.length).toBeGreaterThan(0);
  expect(sentences.filter((sentence) => countWords(sentence) > mostInSentence)).toEqual([]);
});

test.each([
  ['two sentences', 'One two.\nThree four.', ['One two', 'Three four']],
  ['lines of one sentence', 'One two\nthree.', ['One two three']],
  ['items of lists', '- One two\n- **Three**: four\n1. Five', ['One two', '**Three**', 'four', 'Five']],
  ['code and links', 'Use `a b c` of [the page](x.md#y).', ['Use code of [the page]']],
  ['what is no sentence', '# A heading\n\n| a | b |\n| --- | --- |\n\n```sh\none two\n```\n![A picture](x.png)\n', []],
])('%s', (_, page, sentences) => {
  expect(sentencesOfPage(page)).toEqual(sentences);
});
