/** Part of a page that is reloaded on events; without scripts it stays as sent. */
import type { ComponentChildren } from 'preact';
import { addressWith, type PageQuery } from '../server/api';

type LiveProps = {
  readonly id: string;
  /** Event stream; undefined if no events can follow. */
  readonly events: string | undefined;
  /** Address of the page that contains it. */
  readonly path: string;
  readonly query?: PageQuery;
  /** Is fetched once when the page is there. */
  readonly atOnce?: boolean;
  readonly children?: ComponentChildren;
};

/** Only what it contains is swapped: a new part would subscribe to the stream again. */
export const Live = ({ id, events, path, query = {}, atOnce, children }: LiveProps) => (
  <div {...(events !== undefined && { 'hx-ext': 'sse,morph', 'sse-connect': events })}>
    <div
      id={id}
      class="part"
      hx-get={addressWith(path, query)}
      hx-select={`#${id} > *`}
      hx-trigger={atOnce ? 'load, sse:change' : 'sse:change'}
      hx-swap="morph:innerHTML"
      hx-sync="this:replace"
    >
      {children}
    </div>
  </div>
);
