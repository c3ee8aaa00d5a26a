/** Parses a rule's value (string or list) to a check tree, and reports probable mistakes. */

import type { Check, Fault } from './check';
import { parseKind } from './kinds';
import { parseTemplate, type Template } from './template';
import { type Token, tokenize } from './tokens';

export type Parsed = {
  readonly check: Check;
  /** Mistakes by which oslo.policy silently opens or closes the rule. */
  readonly faults: readonly Fault[];
  /** Forms refused in every mode. */
  readonly refused: readonly Fault[];
};

type Notes = { faults: Fault[]; refused: Fault[] };

const no: Check = { is: 'false' };

const withMatch = (source: string, notes: Notes, make: (match: Template) => Check): Check => {
  const match = parseTemplate(source);
  if (!('refused' in match)) return make(match);
  notes.refused.push({ text: `"${match.refused}" is not supported`, fix: 'use %(key)s, or %% for a percent sign' });
  return no;
};

const parseCheck = (source: string, notes: Notes): Check => {
  if (source === '@') return { is: 'true' };
  if (source === '!') return no;
  const colon = source.indexOf(':');
  if (colon < 0) {
    notes.faults.push({ text: `"${source}" has no colon and is always false`, fix: 'write kind:value, "@" or "!"' });
    return no;
  }
  const kind = source.slice(0, colon);
  const match = source.slice(colon + 1);
  if (kind === 'rule') return { is: 'rule', name: match };
  if (kind === 'role') return withMatch(match, notes, (template) => ({ is: 'role', match: template }));
  if (kind === 'http' || kind === 'https')
    return withMatch(match, notes, (template) => ({ is: 'http', scheme: kind, match: template }));
  if (/^[[{]/.test(kind))
    notes.refused.push({ text: `a list or object left of the colon ("${kind}")`, fix: 'compare single values' });
  return withMatch(match, notes, (template) => ({ is: 'compare', kind: parseKind(kind), match: template }));
};

class ParseFailure extends Error {}

/** Limit of a text's characters. A readable rule has hundreds. */
const longestCheck = 65_536;
/** Limit of the checks in all inner lists together. */
const mostItems = 10_000;

/** Nested parentheses and negations: far beyond readable rules, and well below the stack's limit. */
const maxNesting = 100;
const tooDeep = `it nests deeper than ${maxNesting}`;

/** The parser keeps groups as oslo.policy does, so that prints agree. */
class Reader {
  private at = 0;
  private depth = 0;
  constructor(
    private readonly tokens: readonly Token[],
    private readonly notes: Notes,
  ) {}

  whole(): Check {
    const check = this.either();
    const rest = this.tokens[this.at];
    if (rest) throw new ParseFailure(`"${tokenText(rest)}" stands where "and", "or" or the end was expected`);
    return check;
  }

  private take(is: Token['is']): boolean {
    const found = this.tokens[this.at]?.is === is;
    if (found) this.at += 1;
    return found;
  }

  private either(): Check {
    const any = [this.both(false)];
    while (this.take('or')) any.push(this.both(true));
    return any.length === 1 ? any[0]! : { is: 'or', any };
  }

  /** After an "or", a parenthesised "and" absorbs further operands; elsewhere it stays one operand. */
  private both(behindOr: boolean): Check {
    const all = [this.factor()];
    while (this.take('and')) all.push(this.factor());
    const [first, ...more] = all as [Check, ...Check[]];
    if (more.length === 0) return first;
    return { is: 'and', all: behindOr && first.is === 'and' ? [...first.all, ...more] : all };
  }

  private factor(): Check {
    this.depth += 1;
    if (this.depth > maxNesting) throw new ParseFailure(tooDeep);
    const check = this.operand();
    this.depth -= 1;
    return check;
  }

  private operand(): Check {
    if (this.take('not')) return { is: 'not', of: this.factor() };
    if (this.take('(')) {
      const inner = this.either();
      if (!this.take(')')) throw new ParseFailure('a "(" is not closed');
      return inner;
    }
    const token = this.tokens[this.at];
    if (token?.is !== 'check')
      throw new ParseFailure(
        token ? `"${tokenText(token)}" stands where a check was expected` : 'it ends where a check was expected',
      );
    this.at += 1;
    return parseCheck(token.source, this.notes);
  }
}

const tokenText = (token: Token): string => ('source' in token ? token.source : token.is);

const refuseLong = (notes: Notes, text: string): Check => {
  notes.refused.push({ text, fix: 'name parts of it as rules of their own' });
  return no;
};

const parseText = (text: string, notes: Notes): Check => {
  if (text === '') return { is: 'true' };
  if (text.length > longestCheck) return refuseLong(notes, `it is longer than ${longestCheck} characters`);
  try {
    return new Reader(tokenize(text), notes).whole();
  } catch (thrown) {
    if (!(thrown instanceof ParseFailure)) throw thrown;
    if (thrown.message === tooDeep)
      notes.refused.push({ text: tooDeep, fix: 'name parts of it as rules of their own' });
    notes.faults.push({
      text: `the text cannot be read (${thrown.message}), so the whole rule is always false`,
      fix: 'separate checks and operators by spaces and close every parenthesis; write "!" to refuse every caller',
    });
    return no;
  }
};

const quote = (value: unknown): string =>
  Array.isArray(value)
    ? 'a list within a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : String(value);

const parseInner = (inner: unknown, notes: Notes): Check => {
  const all = (Array.isArray(inner) ? inner : [inner]).map((item) => {
    if (typeof item === 'string' && item.length > longestCheck)
      return refuseLong(notes, `a check of it is longer than ${longestCheck} characters`);
    if (typeof item === 'string') return parseCheck(item, notes);
    // oslo.policy takes an unreadable value in an inner list for "never", and raises on one in the outer list.
    const kept = Array.isArray(inner) ? notes.faults : notes.refused;
    kept.push({ text: `a list holds ${quote(item)}`, fix: 'use lists of check strings only' });
    return no;
  });
  return all.length === 1 ? all[0]! : { is: 'and', all };
};

const isEmpty = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

const parseList = (list: readonly unknown[], notes: Notes): Check => {
  if (list.length === 0) return { is: 'true' };
  if (list.reduce<number>((sum, inner) => sum + (Array.isArray(inner) ? inner.length : 1), 0) > mostItems)
    return refuseLong(notes, `it holds more than ${mostItems} checks`);
  const any = list.filter((inner) => !isEmpty(inner)).map((inner) => parseInner(inner, notes));
  if (any.length < list.length)
    notes.faults.push({ text: 'a list holds an empty entry', fix: 'remove it, or write "!" to refuse every caller' });
  if (any.length === 0) return no;
  return any.length === 1 ? any[0]! : { is: 'or', any };
};

/** Falsy as in Python. A date or a YAML set is an object without keys, and still not falsy. */
const isFalsy = (value: unknown): boolean =>
  !value ||
  (typeof value === 'object' &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value)) &&
    Object.keys(value).length === 0);

/** An empty rule is probably left over by accident. */
export const emptyRule: Fault = {
  text: 'an empty rule lets every caller pass',
  fix: 'write "@" for every caller or "!" for none, in quotes',
};

/** Parses a check string, a list of lists, or any other value. Never throws. */
export const parseRule = (value: unknown): Parsed => {
  const notes: Notes = { faults: [], refused: [] };
  const parse = (): Check => {
    if (typeof value === 'string') return parseText(value, notes);
    if (Array.isArray(value)) return parseList(value, notes);
    if (isFalsy(value)) return { is: 'true' };
    notes.refused.push({ text: `${quote(value)} is not a rule`, fix: 'write a check string in quotes' });
    return no;
  };
  const check = parse();
  if (isFalsy(value) && value !== '') notes.faults.push(emptyRule);
  return { check, ...notes };
};
