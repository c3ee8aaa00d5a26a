/** Public types of policy: target, policy and its options. */

import type { Caller } from '../model/access/callers';
import type { Predicate } from '../model/predicates';
import type { Credentials } from './engine/credentials';
import type { Check, Fault } from './language/check';

/** Facts of the object, under flat keys such as 'node.owner', 'node.lessee', 'runbook.public', 'run.tenant'. */
export type Target = Readonly<Record<string, unknown>>;

/** A rule in a policy file: a check string, or the list form (outer list "or", inner list "and"). */
type RuleText = string | readonly (string | readonly string[])[];

/** `strict` refuses traps at load and never matches null; `compat` decides as oslo.policy does. */
export type Mode = 'strict' | 'compat';

/** Built-in defaults to start from. */
export type RuleSetName = 'temper' | 'ironic' | 'closed';

/** One remote question of an `http:` or `https:` check. */
export type RemoteQuestion = {
  readonly url: string;
  /** The rule being enforced. */
  readonly rule: string;
  readonly target: Target;
  readonly credentials: Readonly<Record<string, unknown>>;
};

export type PolicyOptions = {
  readonly set: RuleSetName;
  /** The operator's file, parsed. Each entry replaces the whole text of a rule, or defines a helper. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** File and line of each entry. */
  readonly origins?: Readonly<Record<string, Origin>>;
  /** Faults found when the file was read: `strict` refuses them, `compat` warns. */
  readonly traps?: readonly string[];
  /** Default `strict`. */
  readonly mode?: Mode;
  /** Name of the project whose service users act as system members. Null (the default) disables this. */
  readonly elevatedServiceProject?: string | null;
  /** False also admits what a rule's deprecated text admits (set `ironic` only). Default true. */
  readonly newDefaults?: boolean;
  /** Returns the reply's body for `http:` checks, or throws. Without it such checks are false. */
  readonly remote?: (question: RemoteQuestion) => string;
};

export type Policy = {
  /** Stable over restarts: equal if set, mode, options and every rule's text are equal. */
  readonly hash: string;
  /**
   * Refuses an unknown rule, and a rule that cannot be evaluated. An all-powerful caller passes every rule except the
   * two that show secrets, which are always evaluated.
   */
  allows(rule: string, who: Caller, target?: Target): boolean;
  /** Throws PolicyDenied {rule} unless `allows`. */
  require(rule: string, who: Caller, target?: Target): void;
  /**
   * The rows for which `allows` would be true, as a predicate. `columns` names the column of each target key, e.g.
   * {'node.owner': 'owner'}. Parts that no predicate can express admit nothing (see `warnings`).
   */
  filter(rule: string, who: Caller, columns: Readonly<Record<string, string>>): Predicate;
  /** Explains `allows`. An all-powerful caller is explained without that power. */
  explain(rule: string, who: Caller, target?: Target): Explanation;
  /** One sentence on what the rule guards and whom it admits. Undefined if an operator's file replaces its text. */
  says(rule: string): string | undefined;
  /** True if the name is defined, e.g. an operator's baremetal:step:execute:<interface>.<step>. */
  has(rule: string): boolean;
  /** True if the rule's text comes from the operator's file and differs from the default. */
  isWritten(rule: string): boolean;
  /** Notes on the file for operators, one sentence each. */
  readonly warnings: readonly string[];
};

export type Scope = 'system' | 'domain' | 'project';

/** File and line of a rule's text. */
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

/** A rule in force. */
export type ActiveRule = {
  readonly name: string;
  readonly check: Check;
  readonly scopes: readonly Scope[] | null;
  readonly registered: boolean;
  readonly from: 'default' | 'file' | 'deprecated';
  /** Name in the file, if that is the rule's old name. */
  readonly oldName?: string;
  /** Callers that the deprecated text admits pass too. */
  readonly admitsOld?: boolean;
  readonly origin?: Origin;
  readonly faults: readonly Fault[];
  readonly refused: readonly Fault[];
};

export type Question = {
  readonly rule: string;
  readonly credentials: Credentials;
  readonly target: Target;
  /** Look up a key missing in the target in the credentials. */
  readonly fallBack?: boolean;
  /** Refuse names that only the file defines. */
  readonly registeredOnly?: boolean;
};

/** `fault`: it could not be evaluated and refuses. `not asked`: a remote check after the part that decided. */
export type PartVerdict = 'true' | 'false' | 'fault' | 'not asked';

/** Origin of a rule's text. */
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
  /** Compared values; null for a missing one, such as a key that the target does not have. */
  readonly compared?: { readonly caller: readonly string[]; readonly wanted: string | null };
  /** For a reference: the rule it leads to. Null if no rule defines it. */
  readonly to?: Provenance | null;
  readonly fault?: string;
  readonly parts?: readonly Part[];
};

export type Explanation = {
  readonly rule: string;
  readonly verdict: 'allowed' | 'refused';
  /** For a refusal. */
  readonly why?: 'check' | 'scope' | 'unknown' | 'fault';
  readonly scope: { readonly caller: Scope; readonly admitted: readonly Scope[] | null };
  readonly from: Provenance | null;
  /** Null if no rule was found. */
  readonly tree: Part | null;
};

export type Explain = (question: Question) => Explanation;
