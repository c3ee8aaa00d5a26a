/** A part of a page that is fetched again when something has happened; without a script it stays as it was sent. */
import type { ComponentChildren } from 'preact';
import { addressWith } from '../server/api';
import type { PageQuery } from '../server/context';

type LiveProps = {
  readonly id: string;
  /** Address of the stream that says when something has happened; undefined where nothing will. */
  readonly events: string | undefined;
  /** Address of the page whose part it is. */
  readonly path: string;
  readonly query?: PageQuery;
  readonly children?: ComponentChildren;
};

export const Live = ({ id, events, path, query = {}, children }: LiveProps) => (
  <div {...(events !== undefined && { 'hx-ext': 'sse', 'sse-connect': events })}>
    <div
      id={id}
      hx-get={addressWith(path, query)}
      hx-select={`#${id}`}
      hx-trigger="sse:change"
      hx-swap="outerHTML"
      hx-sync="this:replace"
    >
      {children}
    </div>
  </div>
);
