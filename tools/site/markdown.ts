/** Markdown to a page: anchors on headings and rows, colored code, links that are remembered, and passages for the search. */
import { posix } from 'node:path';
import MarkdownIt from 'markdown-it';
import { anchorsOfPage } from './anchors';
import { escapeHtml, highlighted } from './highlight';
import { pictureHtml } from './pictures';
import type { Heading, Link, Passage, Rendered, Resolve } from './types';

const outside = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

const parser = new MarkdownIt({
  html: true,
  highlight: (code, language) => highlighted(code, language),
});

// Pictures are HTML by now, and no words.
const textOf = (token: Token): string =>
  (token.children ?? [])
    .filter(({ type }) => type !== 'html_inline')
    .map(({ type, content }) => (/break$/.test(type) ? ' ' : content))
    .join('');

/** A link of a document: its path from the root of the repository, and its anchor. */
export const linkOf = (source: string, href: string, line: number): Link | undefined => {
  if (outside.test(href)) return undefined;
  const [path = '', anchor = ''] = href.split('#');
  const from = posix.dirname(source);
  return { line, href, anchor, path: path === '' ? source : posix.normalize(posix.join(from, decodeURI(path))) };
};

type Token = MarkdownIt.Token;

type Reading = {
  readonly root: string;
  readonly source: string;
  readonly resolve: Resolve;
  readonly links: Link[];
};

/** The address that a page writes for a link; one that leads nowhere stays as it is, and is reported later. */
const addressOf = (reading: Reading, href: string, line: number): string => {
  const link = linkOf(reading.source, href, line);
  if (!link) return href;
  reading.links.push(link);
  if (href.startsWith('#')) return href;
  const address = reading.resolve(link.path) ?? href;
  return link.anchor === '' ? address : `${address}#${link.anchor}`;
};

const linkInHtml = (reading: Reading, html: string, line: number): string =>
  html.replaceAll(
    /\b(href|src|srcset)="([^"]+)"/g,
    (_, name: string, href: string) => `${name}="${escapeHtml(addressOf(reading, href, line))}"`,
  );

const renderPicture = (reading: Reading, token: Token, line: number): void => {
  const link = linkOf(reading.source, String(token.attrGet('src') ?? ''), line);
  if (!link) return;
  reading.links.push(link);
  token.type = 'html_inline';
  token.content = pictureHtml(reading.root, link.path, textOf(token) || token.content, reading.resolve);
};

const rewriteInline = (reading: Reading, token: Token): void => {
  let line = (token.map?.[0] ?? 0) + 1;
  for (const child of token.children ?? []) {
    if (/break$/.test(child.type)) line += 1;
    if (child.type === 'link_open')
      child.attrSet('href', addressOf(reading, String(child.attrGet('href') ?? ''), line));
    if (child.type === 'image') renderPicture(reading, child, line);
    else if (child.type === 'html_inline') child.content = linkInHtml(reading, child.content, line);
  }
};

const rewriteLinks = (reading: Reading, tokens: readonly Token[]): void => {
  for (const token of tokens) {
    if (token.type === 'inline') rewriteInline(reading, token);
    if (token.type === 'html_block') token.content = linkInHtml(reading, token.content, (token.map?.[0] ?? 0) + 1);
  }
};

/** The name of a row whose first cell is one word of code, such as a setting or an error. */
const nameOfRow = (tokens: readonly Token[], at: number): string => {
  const [cell, inline] = [tokens[at + 1], tokens[at + 2]];
  const [only, ...more] = inline?.children ?? [];
  return cell?.type === 'td_open' && only?.type === 'code_inline' && more.length === 0 ? only.content : '';
};

const textOfRow = (tokens: readonly Token[], at: number): string => {
  const end = tokens.findIndex((token, index) => index > at && token.type === 'tr_close');
  return tokens
    .slice(at, end)
    .filter(({ type }) => type === 'inline')
    .slice(1)
    .map(textOf)
    .join(' · ');
};

type Part = { id: string; heading: string; text: string };

/** Gives headings and rows their anchors, and takes the text apart for the search. */
const takeApart = (tokens: readonly Token[]) => {
  const anchors = anchorsOfPage();
  const headings: Heading[] = [];
  const rows: Passage[] = [];
  const parts: Part[] = [{ id: '', heading: '', text: '' }];
  let inRow = false;
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const text = textOf(tokens[at + 1]!);
      const id = anchors.name(text);
      token.attrSet('id', id);
      headings.push({ level: Number(token.tag.slice(1)), id, text });
      parts.push({ id, heading: text, text: '' });
    } else if (token.type === 'tr_open' && nameOfRow(tokens, at)) {
      const heading = nameOfRow(tokens, at);
      const id = anchors.name(heading);
      token.attrSet('id', id);
      rows.push({ id, heading, text: textOfRow(tokens, at) });
      inRow = true;
    } else if (token.type === 'tr_close') inRow = false;
    else if (!inRow && tokens[at - 1]?.type !== 'heading_open' && /^(?:inline|fence)$/.test(token.type))
      parts.at(-1)!.text += ` ${token.children ? textOf(token) : token.content}`;
  });
  return { anchors, headings, passages: [...parts.filter(({ text }) => text !== ''), ...rows] };
};

parser.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
parser.renderer.rules.table_close = () => '</table></div>\n';
parser.renderer.rules.th_open = (tokens, index, options, _, self) => {
  tokens[index]!.attrSet('scope', 'col');
  return self.renderToken(tokens, index, options);
};
parser.renderer.rules.heading_close = (tokens, index) => {
  const open = tokens[index - 2]!;
  const { tag } = open;
  return tag === 'h1'
    ? '</h1>\n'
    : ` <a class="anchor" href="#${open.attrGet('id')}" aria-label="Link to: ${escapeHtml(textOf(tokens[index - 1]!))}">#</a></${tag}>\n`;
};
parser.renderer.rules.fence = (tokens, index) => {
  const { info, content } = tokens[index]!;
  return `<pre tabindex="0"><code>${highlighted(content, info.trim())}</code></pre>\n`;
};

/** @param source path in the repository, from which links are read */
export const renderMarkdown = (root: string, source: string, text: string, resolve: Resolve): Rendered => {
  const tokens = parser.parse(text, {});
  const reading: Reading = { root, source, resolve, links: [] };
  rewriteLinks(reading, tokens);
  const { anchors, headings, passages } = takeApart(tokens);
  return {
    title: headings.find(({ level }) => level === 1)?.text ?? source,
    html: parser.renderer.render(tokens, parser.options, {}),
    headings: headings.filter(({ level }) => level > 1 && level < 4),
    passages,
    anchors: anchors.given,
    links: reading.links,
  };
};
