/** The left side of a check: a literal, a path into the credentials, or an invalid text. */

import { floatText } from './text';

export type CheckKind =
  | {
      readonly is: 'literal';
      readonly source: string;
      readonly value: string | number | boolean | null;
      readonly text: string;
    }
  | { readonly is: 'path'; readonly source: string; readonly path: readonly string[] }
  /** A decision that reaches an invalid kind fails. */
  | { readonly is: 'invalid'; readonly source: string };

const constants: Readonly<Record<string, { value: boolean | null; text: string }>> = {
  None: { value: null, text: 'None' },
  True: { value: true, text: 'True' },
  False: { value: false, text: 'False' },
};

/** Keywords of Python, which cannot be names of credentials. */
const reserved = new Set(
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

const escapes: Readonly<Record<string, string>> = { '\\': '\\', "'": "'", '"': '"', n: '\n', t: '\t', r: '\r' };

/** Returns undefined if the text is not quoted. */
const unquote = (source: string): string | undefined => {
  const quote = source[0];
  if (source.length < 2 || (quote !== "'" && quote !== '"') || source.at(-1) !== quote) return undefined;
  let value = '';
  for (let at = 1; at < source.length - 1; at += 1) {
    const letter = source[at]!;
    if (letter === quote) return undefined;
    if (letter !== '\\') value += letter;
    else {
      const escaped = escapes[source[++at]!];
      if (escaped === undefined || at === source.length - 1) return undefined;
      value += escaped;
    }
  }
  return value;
};

const integerLiteral = /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?0)*|[1-9](?:_?\d)*)$/;
const fraction = /^(?:\d(?:_?\d)*)?(?:\.(?:\d(?:_?\d)*)?)?(?:[eE][+-]?\d(?:_?\d)*)?$/;

const isNumber = (text: string): boolean =>
  integerLiteral.test(text) || (/\d/.test(text) && /[.eE]/.test(text) && fraction.test(text));

const numberKind = (source: string): CheckKind | undefined => {
  const unsigned = source.replace(/^[+-]/, '');
  const isNegative = source.startsWith('-');
  const digits = unsigned.replace(/_/g, '');
  if (integerLiteral.test(unsigned)) {
    const value = isNegative ? -BigInt(digits) : BigInt(digits);
    return { is: 'literal', source, value: Number(value), text: value.toString() };
  }
  if (!isNumber(unsigned)) return undefined;
  const value = isNegative ? -Number(digits) : Number(digits);
  return { is: 'literal', source, value, text: floatText(value) };
};

// The first pattern is for speed: compiling a Unicode pattern takes milliseconds.
const isName = (text: string): boolean =>
  (/^[A-Za-z_]\w*$/.test(text) || /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text)) && !reserved.has(text);

/** An operand is a dotted name or a number. */
const isOperand = (text: string): boolean => isNumber(text) || text.split('.').every(isName);

/** An expression of names, numbers and operators counts as a (strange) path. */
const isExpression = (source: string): boolean =>
  source
    .trim()
    .replace(/^(?:not\s+)+/, '')
    .split(/\s*(?:\*\*|\/\/|<<|>>|<=|>=|==|!=|[-+*/@%&|^<>])\s*/)
    .every(isOperand);

export const parseKind = (source: string): CheckKind => {
  const constant = Object.hasOwn(constants, source) ? constants[source] : undefined;
  if (!constant && isName(source)) return { is: 'path', source, path: [source] };
  if (constant) return { is: 'literal', source, ...constant };
  const text = unquote(source);
  if (text !== undefined) return { is: 'literal', source, value: text, text };
  const number = numberKind(source);
  if (number) return number;
  return isExpression(source) ? { is: 'path', source, path: source.split('.') } : { is: 'invalid', source };
};
