/** The files of a policy: what they hold now, and whether that has changed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinSources, type PolicySource, policyFilesAmong, readPolicy } from '../policy';

/** Where a policy is written: a file, then folders in their order; the later one counts. */
export type PolicyPlaces = { readonly file?: string; readonly folders?: readonly string[] };

export class UnreadablePolicy extends Error {}

const reading = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new UnreadablePolicy(`${path} could not be read (${code})`);
  }
};

const inFolder = (folder: string): { files: string[]; passed: string[] } => {
  const entries = reading(folder, () => readdirSync(folder, { withFileTypes: true }));
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const { taken, passed } = policyFilesAmong(names);
  return { files: taken.map((name) => join(folder, name)), passed: passed.map((name) => join(folder, name)) };
};

export type Texts = {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Files of the folders that are no policy files by their name. */
  readonly passed: readonly string[];
};

/** Everything that is written there. @throws UnreadablePolicy: what has disappeared is a fault, not an empty policy */
export const readTexts = ({ file, folders = [] }: PolicyPlaces): Texts => {
  const found = folders.map(inFolder);
  const paths = [...(file ? [file] : []), ...found.flatMap(({ files }) => files)];
  return {
    files: paths.map((path) => ({ path, text: reading(path, () => readFileSync(path, 'utf8')) })),
    passed: found.flatMap(({ passed }) => passed),
  };
};

/** The texts as one policy. Raises PolicyInvalid. */
export const sourceOf = ({ files }: Texts): PolicySource =>
  joinSources(files.map(({ path, text }) => readPolicy(text, path)));
