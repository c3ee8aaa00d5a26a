/** A tenant's word on one of its nodes: what it answered, what it lets happen in general, and whether it has to be asked. */
import { beginsIn, openingFor, type Window } from './windows';

export type TenantAnswer =
  | { readonly answer: 'now' }
  /** Epoch milliseconds. */
  | { readonly answer: 'at'; readonly at: number }
  /** Null: the window was deleted since. */
  | { readonly answer: 'in'; readonly window: Window | null }
  | { readonly answer: 'refuse'; readonly reason: string | null };

export type ConsentFacts = {
  /** The newest. */
  readonly answer?: TenantAnswer;
  /** The tenant's windows: an answer that stands for all its nodes. */
  readonly windows: readonly Window[];
  /** Whether a disruption budget of the tenant speaks of this node: it says then by counting. */
  readonly budgeted: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long the work takes in 95 of 100 cases, as far as that is known: it must end before a window closes. */
  readonly needsMs: number;
  /** Whether the tenant's silence was passed over, as a rule admits. Its answers count all the same. */
  readonly forced?: boolean;
};

export type Consent =
  | { readonly is: 'given' }
  /** By none of the tenant's words: its silence was passed over. */
  | { readonly is: 'forced' }
  /** Until then, epoch milliseconds. */
  | { readonly is: 'waits'; readonly until: number; readonly reason: string }
  | { readonly is: 'asks' }
  | { readonly is: 'refused'; readonly reason: string | null };

const from = (begins: number, now: number, reason: string): Consent =>
  begins <= now ? { is: 'given' } : { is: 'waits', until: begins, reason };

/** Why a node waits for a window that opens later. */
const windowSays = (windows: readonly Window[], now: number, needsMs: number): string =>
  windows.some((window) => (openingFor(window, now, 0)?.opens ?? Infinity) <= now)
    ? `A window of its project is open, but not long enough: such work ends within ${Math.ceil(needsMs / 60_000)} min in 95 of 100 cases. It is begun in the next one.`
    : 'It is begun when a window of its project opens.';

/** An answer for the node counts before one for all nodes; a window that is too short for the work is no answer. */
export const consentOf = ({ answer, windows, budgeted, now, needsMs, forced }: ConsentFacts): Consent => {
  if (answer?.answer === 'refuse') return { is: 'refused', reason: answer.reason };
  if (answer?.answer === 'now') return { is: 'given' };
  if (answer?.answer === 'at') return from(answer.at, now, 'Its project has named this time.');
  if (forced && !answer) return { is: 'forced' };
  const named = answer?.answer === 'in' && answer.window ? [answer.window] : windows;
  const begins = beginsIn(named, now, needsMs);
  if (begins !== undefined) return from(begins, now, windowSays(named, now, needsMs));
  return budgeted && named.length === 0 ? { is: 'given' } : { is: 'asks' };
};

/** What a rollout says of tenants' consent. */
export type ConsentTerms = {
  /** How long a tenant has for its answer; without one the node is passed over. */
  readonly grace_ms: number;
  /** With `rule` it is begun all the same where rule temper:rollout:without_consent admits by then, for this reason. */
  readonly force: 'never' | 'rule';
  readonly reason?: string;
};

const defaultTerms: ConsentTerms = { grace_ms: 24 * 3_600_000, force: 'never' };

/** The terms of a rollout's spec; those it leaves out are the defaults. */
export const termsOf = (spec: Readonly<Record<string, unknown>>): ConsentTerms => ({
  ...defaultTerms,
  ...(spec.consent as Partial<ConsentTerms> | undefined),
});

/** The project that is asked for a node: the one that uses it. */
export const tenantOf = ({ owner, lessee }: { readonly owner: string | null; readonly lessee: string | null }) =>
  lessee ?? owner;

/**
 * Whether a rollout on a tenant's node is that tenant's own wish: one of its project that was asked for in that project. That others
 * name the project says nothing of what it wants.
 */
export const asksItself = (
  tenant: string,
  of: { readonly project: string | null; readonly requester: { readonly project_id: string | null } },
): boolean => of.project === tenant && of.requester.project_id === tenant;
