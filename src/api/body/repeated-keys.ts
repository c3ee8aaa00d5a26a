/** Finds duplicate keys in JSON objects, which are ambiguous. */

// Strings and structure; numbers and literals are skipped.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

const unquoted = (quoted: string): string => (quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1));

/**
 * The first duplicate, or undefined.
 * @param text valid JSON; other text could take long
 */
export const repeatedKey = (text: string): string | undefined => {
  const open: (Set<string> | null)[] = []; // keys of the open objects; null for a list
  let last = '';
  for (const [mark] of text.matchAll(token)) {
    if (mark === '{') open.push(new Set());
    else if (mark === '[') open.push(null);
    else if (mark === '}' || mark === ']') open.pop();
    else if (mark !== ':') last = mark;
    else {
      const [keys, key] = [open.at(-1)!, unquoted(last)];
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
};
