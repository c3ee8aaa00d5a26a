/** Files that say who is who: read once at start, read again when they change, never replaced by a broken version. */
import { readFile, stat } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { isTemperError, raise } from '../model/errors';
import { fileReason } from '../model/file-faults';

/** Where a text comes from. `stamp` changes when the text may have changed; without it the text is read once. */
export type Source = {
  readonly name: string;
  load(): Promise<string>;
  stamp?(): Promise<string>;
};

/** A file as a source, with its modification time and size as the stamp. */
export const fileSource = (path: string): Source => ({
  name: path,
  load: () => readFile(path, 'utf8'),
  stamp: async () => {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs}/${size}/${ino}`;
  },
});

type Watching = {
  /** How long a stamp is trusted; 2000 ms. */
  readonly checkMs?: number;
  /** Called when a changed file cannot be used; what was read before stays in force. */
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

/**
 * The parsed text of a source, re-read when its stamp changes.
 * @throws IdentityFileInvalid when the first reading fails
 */
export const reloading = async <T>(
  source: Source,
  parse: (text: string, file: string) => T,
  { checkMs = 2_000, onFault = () => {}, now = Date.now }: Watching = {},
): Promise<() => Promise<T>> => {
  const read = async (): Promise<{ stamp: string; value: T }> => {
    try {
      const stamp = (await source.stamp?.()) ?? '';
      return { stamp, value: parse(await source.load(), source.name) };
    } catch (thrown) {
      if (isTemperError(thrown)) throw thrown;
      return refuseIdentityFile(source.name, unreadable(thrown), thrown);
    }
  };
  let current = await read();
  let checkedAt = now();
  let seen = current.stamp;
  return async () => {
    if (!source.stamp || now() - checkedAt < checkMs) return current.value;
    checkedAt = now();
    const stamp = await source.stamp().catch(() => 'gone');
    if (stamp === seen) return current.value;
    seen = stamp; // a broken version is reported once, not at every request
    await read().then((fresh) => {
      current = fresh;
    }, onFault);
    return current.value;
  };
};

/** Raises IdentityFileInvalid: which file, and what to do about it. */
export const refuseIdentityFile = (file: string, reason: string, cause?: unknown): never =>
  raise('IdentityFileInvalid', { file, reason }, { cause });

const unreadable = (thrown: unknown): string => `it could not be read${fileReason(thrown)}.`;

/**
 * A YAML (or JSON) text checked against a shape. Faults name line and entry, never the text around them: it holds secrets.
 * @throws IdentityFileInvalid
 */
export const parseYaml = <T>(shape: z.ZodType<T>, text: string, file: string): T => {
  const lines = new LineCounter();
  // Its warnings go to standard error, with a piece of the text.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const [broken] = document.errors;
  if (broken)
    return refuseIdentityFile(file, `line ${lines.linePos(broken.pos[0]).line} is not valid YAML (${broken.code}).`);
  const parsed = shape.safeParse(meaningOf(document, file));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => {
    const at = lineOf(document, path, lines);
    return `${at ? `line ${at}, ` : ''}${path.join('.') || 'the file'}: ${message}`;
  });
  return refuseIdentityFile(file, `${faults.join('; ')}.`);
};

/** What a text means. Resolving aliases is where one that means far more than it holds gives itself away. */
const meaningOf = (document: ReturnType<typeof parseDocument>, file: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return refuseIdentityFile(file, 'its aliases cannot be resolved; write out what they stand for.');
  }
};

/** The line of the deepest part of a path that exists. */
const lineOf = (
  document: ReturnType<typeof parseDocument>,
  path: readonly PropertyKey[],
  lines: LineCounter,
): number | undefined => {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true) as { range?: readonly number[] | null } | undefined;
    if (node?.range) return lines.linePos(node.range[0] as number).line;
  }
  return undefined;
};
