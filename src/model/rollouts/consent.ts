/** A tenant's consent to work on its nodes, from its answers, windows and budgets. */
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
  /** The tenant's windows. Each consents for all its nodes. */
  readonly windows: readonly Window[];
  /** A disruption budget of the tenant covers this node: counting replaces an answer. */
  readonly budgeted: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Duration in 95 of 100 cases, if known. The work must end before a window closes. */
  readonly needsMs: number;
  /** A rule allowed work without an answer. An answer still counts. */
  readonly forced?: boolean;
};

export type Consent =
  | { readonly is: 'given' }
  /** Allowed by a rule, without the tenant's consent. */
  | { readonly is: 'forced' }
  /** Epoch milliseconds. */
  | { readonly is: 'waits'; readonly until: number; readonly reason: string }
  | { readonly is: 'asks' }
  | { readonly is: 'refused'; readonly reason: string | null };

const from = (begins: number, now: number, reason: string): Consent =>
  begins <= now ? { is: 'given' } : { is: 'waits', until: begins, reason };

const windowSays = (windows: readonly Window[], now: number, needsMs: number): string =>
  windows.some((window) => (openingFor(window, now, 0)?.opens ?? Infinity) <= now)
    ? `A window of its project is open, but not long enough: such work ends within ${Math.ceil(needsMs / 60_000)} min in 95 of 100 cases. It is begun in the next one.`
    : 'It is begun when a window of its project opens.';

/** An answer has precedence over windows. A window too short for the work does not count. */
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

export type ConsentTerms = {
  /** Time for an answer; without one the node is skipped. */
  readonly grace_ms: number;
  /** `rule`: work begins after that time for this reason, if the rule temper:rollout:without_consent allows it. */
  readonly force: 'never' | 'rule';
  readonly reason?: string;
};

const defaultTerms: ConsentTerms = { grace_ms: 24 * 3_600_000, force: 'never' };

export const termsOf = (spec: Readonly<Record<string, unknown>>): ConsentTerms => ({
  ...defaultTerms,
  ...(spec.consent as Partial<ConsentTerms> | undefined),
});

/** The lessee, otherwise the owner. */
export const tenantOf = ({ owner, lessee }: { readonly owner: string | null; readonly lessee: string | null }) =>
  lessee ?? owner;

/**
 * True if the tenant requested the rollout: for its project, by a caller in it. Another caller may name the project, which proves no
 * consent.
 */
export const asksItself = (
  tenant: string,
  of: { readonly project: string | null; readonly requester: { readonly project_id: string | null } },
): boolean => of.project === tenant && of.requester.project_id === tenant;
