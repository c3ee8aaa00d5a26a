/** A part of a page that is fetched again when something has happened; without a script it stays as it was sent. */
import type { ComponentChildren } from 'preact';
import type { PageQuery } from '../server/context';
import { addressWith } from './tables';

type LiveProps = {
  readonly id: string;
  /** Address of the stream that says when something has happened; undefined where nothing will. */
  readonly events: string | undefined;
  /** Address of the page whose part it is. */
  readonly path: string;
  readonly query?: PageQuery;
  /** Fetched again after so many seconds as well, where not all that changes it is an event that the caller may see. */
  readonly everyS?: number;
  readonly children?: ComponentChildren;
};

export const Live = ({ id, events, path, query = {}, everyS, children }: LiveProps) => (
  <div {...(events !== undefined && { 'hx-ext': 'sse', 'sse-connect': events })}>
    <div
      id={id}
      hx-get={addressWith(path, query, {})}
      hx-select={`#${id}`}
      hx-trigger={everyS === undefined ? 'sse:change' : `sse:change, every ${everyS}s`}
      hx-swap="outerHTML"
      hx-sync="this:replace"
    >
      {children}
    </div>
  </div>
);
