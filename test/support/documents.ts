/** Hand-written documents as tests read them: their parts by heading, code blocks, and what a console shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

export type Typed = { readonly command: string; readonly shown: string };

export const readDocument = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The part under a heading, without those below further headings of its level. @throws Error when there is no such heading */
export const partOf = (document: string, heading: string): string => {
  const part = document.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (part === undefined) throw new Error(`there is no heading ${heading}`);
  return part;
};

export const headingsOf = (document: string): string[] =>
  [...document.matchAll(/^## (.+)$/gm)].map((match) => match[1]!);

/** Fenced blocks of one language. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, of, inner]) => (of === language ? [inner!] : []));

/** What is typed after `$ `, with its continued lines, and what is shown until the next. */
export const consoleOf = (text: string): Typed[] =>
  blocksOf(text, 'console').flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((entry) => {
        const [, command, shown] = /^((?:.*\\\n)*.*\n)([\s\S]*)$/.exec(entry)!;
        return { command: command!.trim(), shown: shown!.trim() };
      }),
  );

/** Whether something is what a document shows, where `...` stands for anything. */
export const asShown = (shown: string): RegExp =>
  new RegExp(
    `^${shown
      .split('...')
      .map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('[\\s\\S]*')}$`,
  );

/** A document of JSON as a page shows it: members left out may be there, and in a text `...` stands for anything. */
export const jsonAsShown = (shown: unknown): unknown => {
  if (typeof shown === 'string') return expect.stringMatching(asShown(shown));
  if (Array.isArray(shown)) return shown.map(jsonAsShown);
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, jsonAsShown(value)])),
  );
};

/** The files that a document links to, from its own folder. */
export const linksOf = (document: string): string[] =>
  [...document.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!);

/** Tables as rows of cells, without the line below the head. */
export const tableOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s-]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
