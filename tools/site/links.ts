/** Links that lead nowhere: to no file, or to no heading of a page. */
import type { Fault, Page } from './types';

/** @param isThere whether the repository has what a link names */
export const brokenLinks = (pages: readonly Page[], isThere: (path: string) => boolean): Fault[] => {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  return pages.flatMap(({ source, links }) =>
    links.flatMap(({ line, href, path, anchor }): Fault[] => {
      if (!isThere(path)) return [{ file: source, line, text: `${href} leads to no file; correct the path.` }];
      const target = bySource.get(path);
      if (anchor === '' || target?.anchors.has(anchor)) return [];
      return [{ file: source, line, text: `${href} leads to no heading of ${path}; correct what follows "#".` }];
    }),
  );
};
