/** Tokens of a check string as in oslo.policy: parentheses count only at the ends of a piece. */

export type Token =
  | { readonly is: '(' | ')' | 'and' | 'or' | 'not' }
  /** A piece in quotes at both ends, which no rule of the grammar accepts. */
  | { readonly is: 'string'; readonly source: string }
  | { readonly is: 'check'; readonly source: string };

/** White space that Python splits on. It differs from JavaScript's class in U+001C-1F, U+0085 and U+FEFF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the reference splits on U+001C to U+001F too
const space = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

const words = new Set(['and', 'or', 'not']);

const isQuoted = (piece: string): boolean =>
  piece.length > 1 &&
  ((piece.startsWith("'") && piece.endsWith("'")) || (piece.startsWith('"') && piece.endsWith('"')));

const bodyToken = (piece: string, body: string): Token => {
  const word = body.toLowerCase();
  if (words.has(word)) return { is: word as 'and' | 'or' | 'not' };
  return isQuoted(piece) ? { is: 'string', source: piece } : { is: 'check', source: body };
};

// A regular expression for the end would try every parenthesis, which is slow on a hostile text.
const pieceTokens = (piece: string): Token[] => {
  let from = 0;
  while (piece[from] === '(') from += 1;
  let to = piece.length;
  while (to > from && piece[to - 1] === ')') to -= 1;
  const body = piece.slice(from, to);
  return [
    ...Array.from({ length: from }, () => ({ is: '(' }) as const),
    ...(body ? [bodyToken(piece, body)] : []),
    ...Array.from({ length: piece.length - to }, () => ({ is: ')' }) as const),
  ];
};

export const tokenize = (text: string): Token[] =>
  text
    .split(space)
    .filter((piece) => piece !== '')
    .flatMap(pieceTokens);

export const hasSpace = (text: string): boolean => space.test(text);
