/** Finds a key that comes twice in one object of a JSON text: which of the two is meant cannot be known. */

// A text or a mark of structure; numbers and words are passed over.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

const keyOf = (quoted: string): string => (quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1));

/**
 * The first such key, or undefined.
 * @param text valid JSON: of any other the search could take long
 */
export const repeatedKey = (text: string): string | undefined => {
  const open: (Set<string> | null)[] = []; // keys of the objects that are open; null for a list
  let last = '';
  for (const [mark] of text.matchAll(token)) {
    if (mark === '{') open.push(new Set());
    else if (mark === '[') open.push(null);
    else if (mark === '}' || mark === ']') open.pop();
    else if (mark !== ':') last = mark;
    else {
      const [keys, key] = [open.at(-1)!, keyOf(last)];
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
};
