/** SSE texts of events. All streams of one caller share the decision and the text. */
import type { SeenEvent } from '../../../inventory/event-pages';
import type { Caller } from '../../../model/access/callers';
import type { Policy } from '../../../policy';

export type EventView = { readonly seq: number; readonly kind: string };

export type EventTexts = {
  /** Undefined for an event that the caller may not see. */
  of(event: SeenEvent): string | undefined;
  /** Replaces the caller after a new authentication. */
  setCaller(who: Caller): void;
};

export type ViewFor = (policy: Policy, who: Caller, event: SeenEvent) => EventView | undefined;

// Kept while a stream holds the event. Visibility depends only on the key: policy hash and caller.
const written = new WeakMap<SeenEvent, Map<string, string | null>>();

export const sseText = (view: EventView): string =>
  `id: ${view.seq}\nevent: ${view.kind}\ndata: ${JSON.stringify(view)}\n\n`;

const textsOf = (event: SeenEvent): Map<string, string | null> => {
  const known = written.get(event);
  if (known) return known;
  const made = new Map<string, string | null>();
  written.set(event, made);
  return made;
};

/** @param view the same function for all streams; depends on its arguments only */
export const createEventTexts = (policyNow: () => Policy, first: Caller, view: ViewFor): EventTexts => {
  let [who, said] = [first, JSON.stringify(first)];
  let [hash, key] = ['', ''];
  const keyFor = (policy: Policy): string => {
    if (policy.hash !== hash) [hash, key] = [policy.hash, `${policy.hash} ${said}`];
    return key;
  };
  return {
    of(event) {
      const policy = policyNow();
      const texts = textsOf(event);
      const known = texts.get(keyFor(policy));
      if (known !== undefined) return known ?? undefined;
      const seen = view(policy, who, event);
      const text = seen && sseText(seen);
      texts.set(key, text ?? null);
      return text;
    },
    setCaller(now) {
      if (now === who) return;
      who = now;
      const says = JSON.stringify(now);
      if (says !== said) [said, hash] = [says, ''];
    },
  };
};
