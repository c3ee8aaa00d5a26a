/** The right side of a check: text with `%(key)s` placeholders. */

export type TemplatePart = { readonly text: string } | { readonly key: string } | { readonly broken: string };

export type Template = {
  readonly source: string;
  readonly parts: readonly TemplatePart[];
  /** Target keys, in order. */
  readonly keys: readonly string[];
  /** The whole text, if it has no placeholder. */
  readonly constant?: string;
  /** The key, if the template is exactly one placeholder. */
  readonly only?: string;
};

/** The form works in oslo.policy, but is refused here in every mode. */
export type Refused = { readonly refused: string };

/** Conversions of Python, refused because their text depends on its number formatting. */
const otherConversions = /[#0\- +\d*.hlLdiouxXeEfFgGcra]/;

/** Index after the parenthesis that closes the one at `open`, or -1. */
const closing = (source: string, open: number): number => {
  let depth = 0;
  for (let at = open; at < source.length; at += 1) {
    if (source[at] === '(') depth += 1;
    else if (source[at] === ')' && --depth === 0) return at + 1;
  }
  return -1;
};

type TemplateRead = { part: TemplatePart; next: number } | Refused;

const readPercent = (source: string, at: number): TemplateRead => {
  const sign = source[at + 1];
  const end = source.length;
  if (sign === '%') return { part: { text: '%' }, next: at + 2 };
  if (sign === undefined) return { part: { broken: 'a lone % (write %% for a percent sign)' }, next: end };
  if (sign !== '(') {
    if (sign === 's' || otherConversions.test(sign)) return { refused: `%${sign} without a target key` };
    return { part: { broken: `%${sign} means nothing (write %% for a percent sign)` }, next: end };
  }
  const close = closing(source, at + 1);
  const conversion = close < 0 ? undefined : source[close];
  if (close < 0 || conversion === undefined) return { part: { broken: 'an unfinished %(key)s' }, next: end };
  const key = source.slice(at + 2, close - 1);
  if (conversion === 's') return { part: { key }, next: close + 1 };
  if (conversion === '%' || otherConversions.test(conversion)) return { refused: `%(${key})${conversion}` };
  return { part: { broken: `%(${key})${conversion}` }, next: end };
};

const joined = (parts: readonly TemplatePart[]): TemplatePart[] =>
  parts.reduce<TemplatePart[]>((done, part) => {
    const last = done.at(-1);
    if (last && 'text' in last && 'text' in part) done[done.length - 1] = { text: last.text + part.text };
    else done.push(part);
    return done;
  }, []);

/** Keeps broken parts, because they matter only when a decision reaches them. */
export const parseTemplate = (source: string): Template | Refused => {
  const parts: TemplatePart[] = [];
  for (let at = 0; at < source.length; ) {
    const percent = source.indexOf('%', at);
    if (percent !== at) {
      const end = percent < 0 ? source.length : percent;
      parts.push({ text: source.slice(at, end) });
      at = end;
      continue;
    }
    const read = readPercent(source, at);
    if ('refused' in read) return read;
    parts.push(read.part);
    at = read.next;
  }
  return finish(source, joined(parts));
};

const finish = (source: string, parts: TemplatePart[]): Template => {
  const keys = parts.flatMap((part) => ('key' in part ? [part.key] : []));
  const [first] = parts;
  if (!first) return { source, parts, keys, constant: '' };
  if (parts.length > 1) return { source, parts, keys };
  if ('text' in first) return { source, parts, keys, constant: first.text };
  if ('key' in first) return { source, parts, keys, only: first.key };
  return { source, parts, keys };
};

export const brokenPart = (template: Template): string | undefined => {
  for (const part of template.parts) if ('broken' in part) return part.broken;
  return undefined;
};
