/** The index of the search, made when the site is built: a script, because a page that was opened from a folder may fetch nothing. */
import MiniSearch from 'minisearch';
import type { Page } from './types';

const excerptOf = (text: string): string => {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  return plain.length > 160 ? `${plain.slice(0, 157)}...` : plain;
};

/** What the index holds; the script that reads it is given the same. */
const options = { fields: ['title', 'heading', 'text'], storeFields: ['title', 'heading', 'url', 'excerpt'] };

/** assets/search-index.js */
export const renderIndex = (pages: readonly Page[]): string => {
  const index = new MiniSearch(options);
  const passages = pages.flatMap(({ title, out, passages: inside }) =>
    inside.map(({ id, heading, text }) => ({
      title,
      heading: heading === title ? '' : heading,
      text,
      url: id === '' ? out : `${out}#${id}`,
      excerpt: excerptOf(text),
    })),
  );
  index.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return `self.temperIndex = ${JSON.stringify({ options, index })};\n`;
};
