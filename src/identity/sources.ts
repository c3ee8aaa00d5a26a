/** Identity files, read at start and after changes. A broken version never replaces a good one. */
import { readFile, stat } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { isTemperError, raise } from '../model/errors';
import { fileReason } from '../model/file-faults';

/** Without `stamp` the text is read once. */
export type Source = {
  readonly name: string;
  load(): Promise<string>;
  stamp?(): Promise<string>;
};

export const fileSource = (path: string): Source => ({
  name: path,
  load: () => readFile(path, 'utf8'),
  stamp: async () => {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs}/${size}/${ino}`;
  },
});

type Watching = {
  /** Interval of stamp checks; default 2000 ms. */
  readonly checkMs?: number;
  /** Called for an invalid changed file; the old content stays. */
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

/**
 * Rereads the source if its stamp changes.
 * @throws IdentityFileInvalid if the first read fails
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
    seen = stamp; // Reports a broken version once, not at each request.
    await read().then((fresh) => {
      current = fresh;
    }, onFault);
    return current.value;
  };
};

/** Throws IdentityFileInvalid. */
export const refuseIdentityFile = (file: string, reason: string, cause?: unknown): never =>
  raise('IdentityFileInvalid', { file, reason }, { cause });

const unreadable = (thrown: unknown): string => `it could not be read${fileReason(thrown)}.`;

/**
 * Faults contain line and entry, never the text, because it has secrets.
 * @throws IdentityFileInvalid
 */
export const parseYaml = <T>(shape: z.ZodType<T>, text: string, file: string): T => {
  const lines = new LineCounter();
  // Warnings would print parts of the text to standard error.
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

/** Bounds aliases, because nested ones expand exponentially. */
const meaningOf = (document: ReturnType<typeof parseDocument>, file: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return refuseIdentityFile(file, 'its aliases cannot be resolved; write out their values.');
  }
};

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
