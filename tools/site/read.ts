/** Reads all pages: the documents, and by their links the other files that a reader is sent to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderApiPage } from './api';
import { renderFile, renderFolder } from './files';
import { renderMarkdown } from './markdown';
import { renderMatrixPage } from './matrix';
import { documentsIn, isPicture, outOf, relativeTo, sourceOf } from './places';
import type { Page, Rendered, Resolve } from './types';

const matrix = /^docs\/policy-matrix-(\w+)\.txt$/;

const render = (root: string, source: string, resolve: Resolve, isPage: (source: string) => boolean): Rendered => {
  const text = (): string => readFileSync(join(root, source), 'utf8');
  const set = matrix.exec(source)?.[1];
  if (set) return renderMatrixPage(`Who may do what: policy set ${set}`, text());
  if (source === 'docs/openapi.json') return renderApiPage(text());
  if (source.endsWith('/')) return renderFolder(root, source, (path) => (isPage(path) ? resolve(path) : undefined));
  return source.endsWith('.md') ? renderMarkdown(root, source, text(), resolve) : renderFile(root, source);
};

/** @returns the pages, and the pictures that they show */
export const readPages = (root: string): { readonly pages: Page[]; readonly pictures: ReadonlySet<string> } => {
  const documents = documentsIn(root);
  const sources = new Set(documents);
  const pictures = new Set<string>();
  const pages: Page[] = [];
  // A set that grows while it is walked: what a page links to is read after it.
  for (const source of sources) {
    const out = outOf(source);
    const resolve: Resolve = (path) => {
      const meant = sourceOf(root, path);
      if (meant === undefined) return undefined;
      (isPicture(meant) ? pictures : sources).add(meant);
      return relativeTo(out, outOf(meant));
    };
    pages.push({ source, out, ...render(root, source, resolve, (path) => documents.includes(path)) });
  }
  return { pages, pictures };
};
