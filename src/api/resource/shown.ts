/** Shared parts of representations: the row, the viewer and links. */

import type { LinePart } from '../../inventory/lines';

export type RepresentedRow = Readonly<Record<string, unknown>>;

export type Link = { readonly href: string; readonly rel: string };

/** Context of a representation beside the row. */
export type Shown = {
  /** Prefix of links. */
  readonly base: string;
  /** True if the viewer gets the field's replacement for this row. Absent: nothing is hidden. */
  readonly hides?: (rule: string, row: RepresentedRow) => boolean;
};

/** Computes a field that is no plain column, or that differs in older versions. List rows come as JSON, with times as texts. */
export type Extra = ((row: RepresentedRow, shown: Shown, minor: number) => unknown) & {
  /** The field as PostgreSQL can write it; undefined if it cannot. `everything`: nothing is hidden from the viewer. */
  readonly line?: (asked: { readonly minor: number; readonly everything: boolean }) => readonly LinePart[] | undefined;
};

/** `self` and `bookmark` of a path below the version, such as `nodes/<uuid>`. */
export const links = (base: string, path: string): Link[] => [
  { href: `${base}/v1/${path}`, rel: 'self' },
  { href: `${base}/${path}`, rel: 'bookmark' },
];

/** Links as a field, for the path `collection`/UUID`below`. */
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
