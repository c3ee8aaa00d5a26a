/** What the representations of resources have in common: the row, what is known of its viewer, and links. */

import type { LinePart } from '../../inventory/lines';

export type RepresentedRow = Readonly<Record<string, unknown>>;

export type Link = { readonly href: string; readonly rel: string };

/** What a representation needs to know besides the row. */
export type Shown = {
  /** What links begin with. */
  readonly base: string;
  /** Whether the viewer gets the field's stand-in for this row. Absent: everything is shown. */
  readonly hides?: (rule: string, row: RepresentedRow) => boolean;
};

/**
 * Computes a field that is not simply a column, or that older versions see differently. `text` makes its JSON, where that is
 * less work than the value.
 */
export type Extra = ((row: RepresentedRow, shown: Shown, minor: number) => unknown) & {
  readonly text?: (row: RepresentedRow, shown: Shown) => string;
  /**
   * The same as the store can write it; undefined where it cannot. `everything`: nothing is hidden from the viewer.
   */
  readonly line?: (asked: { readonly minor: number; readonly everything: boolean }) => readonly LinePart[] | undefined;
};

/** `self` and `bookmark` of one path below the version, such as `nodes/<uuid>`. */
export const links = (base: string, path: string): Link[] => [
  { href: `${base}/v1/${path}`, rel: 'self' },
  { href: `${base}/${path}`, rel: 'bookmark' },
];

/** The same as a field: of the path that the row's UUID makes of `collection` and `below`. */
export const linksTo = (collection: string, below = ''): Extra => {
  let [from, texts]: [string | undefined, readonly [string, string, string]] = [undefined, ['', '', '']];
  const inside = (text: string): string => JSON.stringify(text).slice(1, -1);
  const uuidPart: LinePart = { column: 'uuid', as: 'printed', empty: '' };
  const line: readonly LinePart[] = [
    ...[{ text: '[{"href":"' }, { base: true }, { text: `/v1/${collection}/` }, uuidPart],
    ...[{ text: `${below}","rel":"self"},{"href":"` }, { base: true }, { text: `/${collection}/` }, uuidPart],
    { text: `${below}","rel":"bookmark"}]` },
  ] as const;
  return Object.assign(({ uuid }: RepresentedRow, { base }: Shown) => links(base, `${collection}/${uuid}${below}`), {
    line: () => line,
    text: ({ uuid }: RepresentedRow, { base }: Shown): string => {
      if (from !== base) {
        const [self, bookmark] = [inside(`${base}/v1/${collection}/`), inside(`${base}/${collection}/`)];
        texts = [`[{"href":"${self}`, `${below}","rel":"self"},{"href":"${bookmark}`, `${below}","rel":"bookmark"}]`];
        from = base;
      }
      return texts[0] + uuid + texts[1] + uuid + texts[2];
    },
  });
};
