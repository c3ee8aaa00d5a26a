/** Part of a page that is reloaded on events; without scripts it stays as sent. */
import type { ComponentChildren } from 'preact';
import { addressWith } from '../server/api';
import type { PageQuery } from '../server/context';

type LiveProps = {
  readonly id: string;
  /** Event stream; undefined if no events can follow. */
  readonly events: string | undefined;
  /** Address of the page that contains it. */
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
