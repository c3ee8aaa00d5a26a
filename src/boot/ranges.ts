/** Range header of a request, by RFC 9110 section 14. */

/** Both ends are inclusive. `all`: no header, or one that the server may ignore. */
export type Span =
  | { readonly is: 'all' }
  | { readonly is: 'part'; readonly from: number; readonly to: number }
  | { readonly is: 'none' };

const all: Span = { is: 'all' };

/**
 * Unknown units, malformed sets and multiple ranges count as no header (RFC 14.2). `none`: the range starts beyond
 * the end, status 416.
 */
export const spanOf = (header: string | undefined, size: number): Span => {
  const [, first, last] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return all;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { is: 'none' } : { is: 'part', from: size - length, to: size - 1 };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return all;
  if (from >= size) return { is: 'none' };
  return { is: 'part', from, to: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
};
