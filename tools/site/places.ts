/** Where things of the repository are in the site. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { extname, join, posix } from 'node:path';

/** Folders whose documents are pages, linked or not. */
const folders = ['docs', 'docs/decisions', 'reports'];
const pictures = ['.png', '.svg'];

export const documentsIn = (root: string): string[] => [
  'README.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}/${name}`),
  ),
];

export const isPicture = (path: string): boolean => pictures.includes(extname(path));

/** @returns what is shown for a path: a file, or a folder with `/` behind it; undefined where there is neither */
export const sourceOf = (root: string, path: string): string | undefined => {
  const given = path.replace(/\/$/, '');
  if (given.startsWith('..') || !existsSync(join(root, given))) return undefined;
  if (!statSync(join(root, given)).isDirectory()) return given;
  return existsSync(join(root, given, 'README.md')) ? posix.join(given, 'README.md') : `${given}/`;
};

/** The path in the site. A file that is no document keeps its ending in the name of its page. */
export const outOf = (source: string): string => {
  if (source === 'README.md') return 'index.html';
  if (isPicture(source)) return source;
  if (source.endsWith('/')) return `${source}index.html`;
  // Some servers and archives leave out what begins with a dot.
  return `${source
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '')
    .replaceAll(/(?<=^|\/)\./g, '')}.html`;
};

/** The address of a path in the site, seen from another one. */
export const relativeTo = (from: string, to: string): string => posix.relative(posix.dirname(from), to);
