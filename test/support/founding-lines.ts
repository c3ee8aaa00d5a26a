/** The policy lines of the documents on owners, lessees and multi-tenancy, and the table of what each gives to whom. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PolicyOptions, readPolicy } from '../../src/policy';

const folder = join(__dirname, '../policy/data');
export const readText = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** One file for each document, and for each part of the guide; the lines of a part that are comments there have files of their own. */
export const foundingFiles = [
  'owner-document.yaml',
  'owner-document-lists.yaml',
  'lessee-document.yaml',
  'guide-helpers.yaml',
  'guide-defaults.yaml',
  'guide-exposing.yaml',
  'guide-metalsmith.yaml',
] as const;
export type FoundingFile = (typeof foundingFiles)[number];

export type Line = { readonly file: FoundingFile; readonly rule: string; readonly text: string };
export const linesOf = (file: FoundingFile): Line[] =>
  Object.entries(readPolicy(readText(file), file).overrides ?? {}).map(([rule, text]) => ({
    file,
    rule,
    text: String(text),
  }));

/** Set closed with one line, or with the whole file in which it stands. */
export const optionsWith = ({ file, rule, text }: Line, whole: boolean): PolicyOptions => ({
  set: 'closed',
  ...(whole ? readPolicy(readText(file), file) : { overrides: { [rule]: text } }),
});

/** Helpers are asked by other rules only. */
export const isAsked = ({ rule }: Line): boolean => rule.includes(':');
export const textOf = ({ rule, text }: Line): string => `${JSON.stringify(rule)}: ${JSON.stringify(text)}`;
