/** Pictures in pages: diagrams become part of the page, and a screenshot is shown in the page's own colors. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from './highlight';

const darkOf = (path: string): string => path.replace(/-light\.png$/, '-dark.png');

// A PNG has width and height as two 32-bit numbers behind its signature and the name of its first chunk.
const sizeOf = (file: string): string => {
  if (!file.endsWith('.png')) return '';
  const head = readFileSync(file).subarray(16, 24);
  return ` width="${head.readUInt32BE(0)}" height="${head.readUInt32BE(4)}"`;
};

/**
 * @param path in the repository
 * @param addressOf the address of a file, seen from the page
 */
export const pictureHtml = (
  root: string,
  path: string,
  alt: string,
  addressOf: (path: string) => string | undefined,
): string => {
  const file = join(root, path);
  if (/^docs\/diagrams\/.+\.svg$/.test(path) && existsSync(file))
    return `<span class="diagram" tabindex="0" role="group" aria-label="Diagram">${readFileSync(file, 'utf8').trim()}</span>`;
  const image = (one: string, kind: string): string =>
    `<img src="${escapeHtml(addressOf(one) ?? one)}" alt="${escapeHtml(alt)}"${kind}${existsSync(join(root, one)) ? sizeOf(join(root, one)) : ''}>`;
  const dark = darkOf(path);
  if (dark === path || !existsSync(join(root, dark))) return image(path, '');
  return image(path, ' class="in-light"') + image(dark, ' class="in-dark"');
};
