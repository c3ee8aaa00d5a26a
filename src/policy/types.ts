/** Public types of policy: target, policy and its options. */

import type { Caller } from '../model/access/callers';
import type { Predicate } from '../model/predicates';
import type { Credentials } from './engine/credentials';
import type { Check, Fault } from './language/check';

/** Facts of the object, under flat keys such as 'node.owner', 'runbook.public', 'run.tenant'. */
export type Target = Readonly<Record<string, unknown>>;

/** A check string, or the list form (outer list "or", inner list "and"). */
type RuleText = string | readonly (string | readonly string[])[];

/** `strict` refuses traps at load and never matches null; `compat` decides as oslo.policy does. */
export type Mode = 'strict' | 'compat';

export type RuleSetName = 'temper' | 'ironic' | 'closed';

/** Request of an `http:` or `https:` check. */
export type RemoteQuestion = {
  readonly url: string;
  /** The rule being enforced. */
  readonly rule: string;
  readonly target: Target;
  readonly credentials: Readonly<Record<string, unknown>>;
};

export type PolicyOptions = {
  readonly set: RuleSetName;
  /** The parsed file. Each entry replaces the whole text of a rule, or defines a helper. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly origins?: Readonly<Record<string, Origin>>;
  /** Faults of the file: `strict` refuses them, `compat` warns. */
  readonly traps?: readonly string[];
  /** Default `strict`. */
  readonly mode?: Mode;
  /** Project whose service users act as system members. Null (the default) disables this. */
  readonly elevatedServiceProject?: string | null;
  /** False also admits callers of deprecated texts (set `ironic` only). Default true. */
  readonly newDefaults?: boolean;
  /** Returns the reply's body, or throws. Without it `http:` checks are false. */
  readonly remote?: (question: RemoteQuestion) => string;
};

export type Policy = {
  /** Stable over restarts: equal if set, mode, options and all texts are equal. */
  readonly hash: string;
  /**
   * Refuses unknown rules and rules that cannot be evaluated. An all-powerful caller passes all but the two that show
   * secrets, which are always evaluated.
   */
  allows(rule: string, who: Caller, target?: Target): boolean;
  /** Throws PolicyDenied {rule} unless `allows`. */
  require(rule: string, who: Caller, target?: Target): void;
  /**
   * Rows for which `allows` would be true. `columns` maps target keys to columns, e.g. {'node.owner': 'owner'}. Parts
   * that no predicate can express admit nothing (see `warnings`).
   */
  filter(rule: string, who: Caller, columns: Readonly<Record<string, string>>): Predicate;
  /** An all-powerful caller is explained without that power. */
  explain(rule: string, who: Caller, target?: Target): Explanation;
  /** One sentence on the rule's subject and callers; undefined if a file replaces its text. */
  says(rule: string): string | undefined;
  /** True also for an operator's baremetal:step:execute:<interface>.<step>. */
  has(rule: string): boolean;
  /** True if the file's text differs from the default. */
  isWritten(rule: string): boolean;
  /** Notes for operators, one sentence each. */
  readonly warnings: readonly string[];
};

export type Scope = 'system' | 'domain' | 'project';

export type Origin = { readonly file: string; readonly line: number };

/** A rule that Temper defines. */
export type RegisteredRule = {
  readonly name: string;
  readonly check: RuleText;
  /** Scopes of permitted callers; null for any. A file cannot change them. */
  readonly scopes: readonly Scope[] | null;
  /** Its former name and text. */
  readonly deprecated?: { readonly name: string; readonly check: RuleText };
  /** One sentence for the sample file. */
  readonly says?: string;
};

export type ActiveRule = {
  readonly name: string;
  readonly check: Check;
  readonly scopes: readonly Scope[] | null;
  readonly registered: boolean;
  readonly from: 'default' | 'file' | 'deprecated';
  /** Name in the file, if it is the old one. */
  readonly oldName?: string;
  /** Callers of the deprecated text pass too. */
  readonly admitsOld?: boolean;
  readonly origin?: Origin;
  readonly faults: readonly Fault[];
  readonly refused: readonly Fault[];
};

export type Question = {
  readonly rule: string;
  readonly credentials: Credentials;
  readonly target: Target;
  /** Look up missing keys in the credentials. */
  readonly fallBack?: boolean;
  /** Refuse names that only the file defines. */
  readonly registeredOnly?: boolean;
};

/** `fault`: cannot be evaluated, so it refuses. `not asked`: a remote check after the deciding part. */
export type PartVerdict = 'true' | 'false' | 'fault' | 'not asked';

export type Provenance = {
  readonly rule: string;
  readonly from: ActiveRule['from'];
  readonly oldName?: string;
  readonly admitsOld?: boolean;
  readonly origin?: Origin;
};

export type Part = {
  readonly is: Check['is'];
  readonly text: string;
  readonly verdict: PartVerdict;
  /** Compared values; null for a missing one. */
  readonly compared?: { readonly caller: readonly string[]; readonly wanted: string | null };
  /** For a reference: the rule it leads to, or null if none. */
  readonly to?: Provenance | null;
  readonly fault?: string;
  readonly parts?: readonly Part[];
};

export type Explanation = {
  readonly rule: string;
  readonly verdict: 'allowed' | 'refused';
  readonly why?: 'check' | 'scope' | 'unknown' | 'fault';
  readonly scope: { readonly caller: Scope; readonly admitted: readonly Scope[] | null };
  readonly from: Provenance | null;
  /** Null if no rule was found. */
  readonly tree: Part | null;
};

export type Explain = (question: Question) => Explanation;
