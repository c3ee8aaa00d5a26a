/** Colors code when the site is built: a page gets spans with classes, and no script. */
import hljs from 'highlight.js';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign]!);

/** @param language a name or the ending of a file; code in another one is left as it is */
export const highlighted = (code: string, language: string): string =>
  hljs.getLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);
