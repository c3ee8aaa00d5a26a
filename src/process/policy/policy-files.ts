/** Reads the files of a policy. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileReason } from '../../model/file-faults';
import { joinSources, type PolicySource, policyFilesAmong, readPolicy } from '../../policy';

/** A file, then folders in order; later ones override. */
export type PolicyPlaces = { readonly file?: string; readonly folders?: readonly string[] };

export class UnreadablePolicy extends Error {}

const reading = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (thrown) {
    throw new UnreadablePolicy(`${path} could not be read${fileReason(thrown)}`);
  }
};

const inFolder = (folder: string): { files: string[]; passed: string[] } => {
  const entries = reading(folder, () => readdirSync(folder, { withFileTypes: true }));
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const { taken, passed } = policyFilesAmong(names);
  return { files: taken.map((name) => join(folder, name)), passed: passed.map((name) => join(folder, name)) };
};

/** `modified_at` is ISO 8601, `uid` the file's owner. */
type PolicyText = {
  readonly path: string;
  readonly text: string;
  readonly modified_at: string;
  readonly uid: number;
};

const textAt = (path: string): PolicyText => {
  const text = readFileSync(path, 'utf8');
  const { mtime, uid } = statSync(path);
  return { path, text, modified_at: mtime.toISOString(), uid };
};

export type Texts = {
  readonly files: readonly PolicyText[];
  /** Files of the folders with other names. */
  readonly passed: readonly string[];
};

/** @throws UnreadablePolicy, also for a missing file: it is no empty policy */
export const readTexts = ({ file, folders = [] }: PolicyPlaces): Texts => {
  const found = folders.map(inFolder);
  const paths = [...(file ? [file] : []), ...found.flatMap(({ files }) => files)];
  return {
    files: paths.map((path) => reading(path, () => textAt(path))),
    passed: found.flatMap(({ passed }) => passed),
  };
};

/** Throws PolicyInvalid. */
export const sourceOf = ({ files }: Texts): PolicySource =>
  joinSources(files.map(({ path, text }) => readPolicy(text, path)));

/** Number of rules per file. Throws PolicyInvalid. */
export const rulesIn = ({ files }: Texts): ReadonlyMap<string, number> =>
  new Map(files.map(({ path, text }) => [path, Object.keys(readPolicy(text, path).overrides).length]));

const total = (rules: ReadonlyMap<string, number>): number => [...rules.values()].reduce((sum, one) => sum + one, 0);

/** Throws UnreadablePolicy if a file has lost all rules: an emptied or half-written file would restore the defaults. */
export const requireKept = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): void => {
  for (const [path, held] of before)
    if (held > 0 && now.get(path) === 0)
      throw new UnreadablePolicy(`${path} holds no rules, and held ${held} before; ${wayBack}`);
  if (total(before) > 0 && total(now) === 0)
    throw new UnreadablePolicy(`no file holds a rule any more, and there were ${total(before)}; ${wayBack}`);
};

const wayBack = 'to go back to the set’s own rules, take the file out of the settings and restart the process';
