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
 * Computes a field that is not simply a column, or that older versions see differently. The values of a row in a list come as JSON:
 * times are texts there.
 */
export type Extra = ((row: RepresentedRow, shown: Shown, minor: number) => unknown) & {
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
  const uuidPart: LinePart = { column: 'uuid', as: 'printed', empty: '' };
  const line: readonly LinePart[] = [
    ...[{ text: '[{"href":"' }, { base: true }, { text: `/v1/${collection}/` }, uuidPart],
    ...[{ text: `${below}","rel":"self"},{"href":"` }, { base: true }, { text: `/${collection}/` }, uuidPart],
    { text: `${below}","rel":"bookmark"}]` },
  ] as const;
  return Object.assign(({ uuid }: RepresentedRow, { base }: Shown) => links(base, `${collection}/${uuid}${below}`), {
    line: () => line,
  });
};
