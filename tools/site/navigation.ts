/** Which page follows which, and for whom it is: read from the table of docs/README.md, which is the only list of pages. */
import { dirname } from 'node:path';
import { linkOf } from './markdown';
import type { Page } from './types';

type Entry = { readonly source: string; readonly label: string };
export type Group = { readonly title: string; readonly entries: readonly Entry[] };

export const contents = 'docs/README.md';

const groupOf = /^\| \*\*(.+?)\*\* \|/;
const links = /\[([^\]]+)\]\(([^)]+)\)/g;

/** @param text of the table: a row in bold begins a group, and each link of the other rows is a page */
export const readNavigation = (text: string): Group[] => {
  const groups: { title: string; entries: Entry[] }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const title = groupOf.exec(line)?.[1];
    if (title) groups.push({ title, entries: [] });
    else if (line.startsWith('|'))
      for (const [, label, href] of line.split(' | ')[0]!.matchAll(links)) {
        const link = linkOf(contents, href!, index + 1);
        if (link) groups.at(-1)?.entries.push({ source: link.path, label: label! });
      }
  }
  return groups;
};

type Neighbours = { readonly shownAt: string; readonly previous?: Page; readonly next?: Page };

/** A page outside the table, such as a decision, stands in its folder and is shown at that folder's own page. */
export const neighboursOf = (page: Page, pages: readonly Page[], groups: readonly Group[]): Neighbours => {
  const listed = groups.flatMap(({ entries }) => entries.map(({ source }) => source));
  const isListed = listed.includes(page.source);
  const folder = dirname(page.source);
  const beside = pages
    .map(({ source }) => source)
    .filter((source) => !listed.includes(source) && dirname(source) === folder);
  const order = isListed ? listed : page.source.endsWith('.md') && page.source !== contents ? beside : [];
  const at = order.indexOf(page.source);
  const found = (index: number): Page | undefined => pages.find(({ source }) => source === order[index]);
  const shownAt = isListed ? page.source : `${folder}/README.md`;
  return at < 0 ? { shownAt } : { shownAt, previous: found(at - 1), next: found(at + 1) };
};
