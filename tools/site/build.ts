/** Builds the site: reads the pages, checks them, and writes them with their assets. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderPage } from './layout';
import { brokenLinks } from './links';
import { contents, type Group, neighboursOf, readNavigation } from './navigation';
import { outOf, relativeTo, sourceOf } from './places';
import { readPages } from './read';
import { renderIndex } from './search';
import type { Fault, Page } from './types';

/** Pages of this group are looked up in, so the rows of their tables can be filtered. */
const lookedUp = 'Reference';
const rowsWorthAFilter = 15;

const fonts = ['inter-latin-wght-normal.woff2', 'inter-latin-ext-wght-normal.woff2'];

/** Files that are copied: path in the site, and where it comes from. */
const assetsOf = (root: string): [string, string][] => [
  ...['site.css', 'theme.js', 'search.js', 'site.js'].map((name): [string, string] => [
    `assets/${name}`,
    join(root, 'tools/site/assets', name),
  ]),
  ['assets/icon.svg', join(root, 'src/console/assets/icon.svg')],
  ['assets/minisearch.js', join(dirname(require.resolve('minisearch')), '../umd/index.js')],
  ...fonts.map((name): [string, string] => [
    `assets/${name}`,
    require.resolve(`@fontsource-variable/inter/files/${name}`),
  ]),
  // Of what is taken from packages.
  ['assets/minisearch.LICENSE.txt', join(dirname(require.resolve('minisearch')), '../../LICENSE.txt')],
  ['assets/inter.LICENSE.txt', require.resolve('@fontsource-variable/inter/LICENSE')],
  ['docs/openapi.json', join(root, 'docs/openapi.json')],
];

const withoutPlace = (pages: readonly Page[], groups: readonly Group[]): Fault[] => {
  const placed = new Set([contents, ...groups.flatMap(({ entries }) => entries.map(({ source }) => source))]);
  return pages
    .map(({ source }) => source)
    .filter((source) => /^(?:docs|reports)\/[^/]+\.md$/.test(source) && !placed.has(source))
    .map((source) => ({
      file: contents,
      line: 1,
      text: `${source} has no row in this table; add one, or no reader finds it.`,
    }));
};

const hasRows = ({ html }: Page): boolean => html.split('<tr').length > rowsWorthAFilter;

/** A folder of something else must not be emptied. */
const emptied = (out: string): void => {
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, 'assets/site.css')))
    throw new Error(`${out} holds something else than a site; name an empty folder with --out.`);
  rmSync(out, { recursive: true, force: true });
};

const writeSite = (
  root: string,
  out: string,
  pages: readonly Page[],
  groups: readonly Group[],
  pictures: Iterable<string>,
): void => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const looked = new Set(
    groups.filter(({ title }) => title === lookedUp).flatMap(({ entries }) => entries.map(({ source }) => source)),
  );
  const put = (path: string): string => {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    return join(out, path);
  };
  for (const page of pages) {
    const to = (path: string): string => relativeTo(page.out, path);
    const frame = { groups, version, to, outOf, filtered: looked.has(page.source) && hasRows(page) };
    writeFileSync(put(page.out), renderPage(page, { ...frame, ...neighboursOf(page, pages, groups) }));
  }
  for (const [path, file] of assetsOf(root)) copyFileSync(file, put(path));
  for (const path of pictures) copyFileSync(join(root, path), put(path));
  writeFileSync(put('assets/search-index.js'), renderIndex(pages));
};

/** @returns what is wrong; where anything is, nothing was written */
export const buildSite = (root: string, out: string): Fault[] => {
  const { pages, pictures } = readPages(root);
  const groups = readNavigation(readFileSync(join(root, contents), 'utf8'));
  const faults = [...brokenLinks(pages, (path) => sourceOf(root, path) !== undefined), ...withoutPlace(pages, groups)];
  if (faults.length > 0) return faults;
  emptied(out);
  writeSite(root, out, pages, groups, pictures);
  return [];
};
