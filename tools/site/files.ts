/** Pages for what a document links to and is no document itself: a file is shown as it is, a folder as the list of what it holds. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { escapeHtml, highlighted } from './highlight';
import type { Rendered } from './types';

const bare = (title: string, html: string): Rendered => ({
  title,
  html: `<h1>${escapeHtml(title)}</h1>\n${html}`,
  headings: [],
  passages: [],
  anchors: new Set(),
  links: [],
});

export const renderFile = (root: string, path: string): Rendered => {
  const text = readFileSync(join(root, path), 'utf8');
  return bare(path, `<pre tabindex="0"><code>${highlighted(text, extname(path).slice(1))}</code></pre>`);
};

/** @param addressOf the address of a file of the folder; undefined where the site does not show it */
export const renderFolder = (root: string, path: string, addressOf: (path: string) => string | undefined): Rendered => {
  const items = readdirSync(join(root, path))
    .sort()
    .map((name) => [name, addressOf(`${path}${name}`)] as const)
    .map(
      ([name, address]) => `<li>${address ? `<a href="${address}">${escapeHtml(name)}</a>` : escapeHtml(name)}</li>`,
    );
  return bare(path, `<ul>${items.join('')}</ul>`);
};
