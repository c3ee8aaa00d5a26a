/** Events as text of a stream: decided and written once for all streams of one caller, however many are open. */
import type { SeenEvent } from '../../inventory/event-pages';
import type { Caller } from '../../model/access/callers';
import type { Policy } from '../../policy';

/** An event as it is written. */
export type EventView = { readonly seq: number; readonly kind: string };

/** What one stream's caller reads. */
export type EventTexts = {
  /** Undefined for an event that the caller may not see. */
  of(event: SeenEvent): string | undefined;
  /** The caller as it was found to be since. */
  setCaller(who: Caller): void;
};

/** The event for a caller; undefined where it may not see it. */
export type ViewFor = (policy: Policy, who: Caller, event: SeenEvent) => EventView | undefined;

// Of each event while a stream keeps it. A key names rules and caller, on which alone it depends who sees what.
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

/** @param view has to be the same function for all streams, and depend on what it is given alone */
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
