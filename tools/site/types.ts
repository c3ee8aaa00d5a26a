/** What the site is made of: pages, what they link to, and what is wrong with them. */

export type Heading = { readonly level: number; readonly id: string; readonly text: string };

/** A piece of a page that the search finds on its own: the text under a heading, or one row of a table. */
export type Passage = { readonly id: string; readonly heading: string; readonly text: string };

/** A link as it was written, with the line of its source. */
export type Link = { readonly line: number; readonly href: string; readonly path: string; readonly anchor: string };

export type Rendered = {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly passages: readonly Passage[];
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly Link[];
};

export type Page = Rendered & {
  /** Path in the repository. */
  readonly source: string;
  /** Path in the site. */
  readonly out: string;
};

/** @returns the address of what a link means, seen from the page; undefined where there is no such thing */
export type Resolve = (path: string) => string | undefined;

export type Fault = { readonly file: string; readonly line: number; readonly text: string };
