/** Source files as pieces: comments, literals and the code between them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Piece = { readonly is: 'comment' | 'literal' | 'code'; readonly text: string; readonly line: number };

const src = join(__dirname, '../../src');

/** Strings, templates, regular expressions after an operator, and comments; line comments that follow each other are one. */
const pieces =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[=(,:]\s?)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n\s*)+(?=\S)|\/\/[^\n]*/g;

export const piecesOf = (source: string): Piece[] => {
  const found: Piece[] = [];
  let [at, line] = [0, 1];
  const add = (is: Piece['is'], to: number) => {
    const text = source.slice(at, to);
    if (text !== '') found.push({ is, text, line });
    line += text.split('\n').length - 1;
    at = to;
  };
  for (const { 0: piece, index } of source.matchAll(pieces)) {
    add('code', index);
    add(/^\/[/*]/.test(piece) ? 'comment' : 'literal', index + piece.length);
  }
  add('code', source.length);
  return found;
};

/** TypeScript files of src, by their paths in it. */
export const sourceFiles = (): { readonly path: string; readonly source: string }[] =>
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((path) => ({ path, source: readFileSync(join(src, path), 'utf8') }));

/** The text of a literal that people read: it has a space, and is no statement of SQL. Expressions are left out. */
export const textIn = (literal: string): string => {
  const text = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '');
  const isStatement = /\b(?:select|insert into|update|delete from|with)\b[\s\S]*\b(?:from|into|set|as)\b/.test(text);
  return text.includes(' ') && !isStatement ? text : '';
};
