/** The shapes that other rooms see of policy: a target, a policy, and what one is made from. */

import type { Caller } from '../model/access/callers';
import type { Predicate } from '../model/predicates';
import type { Credentials } from './engine/credentials';
import type { Check, Fault } from './language/check';

/** Facts of the object asked about, under flat keys such as 'node.owner', 'node.lessee', 'runbook.public', 'run.tenant'. */
export type Target = Readonly<Record<string, unknown>>;

/** A rule as a policy file may hold it: a check string, or the list form (outer list "or", inner list "and"). */
type RuleText = string | readonly (string | readonly string[])[];

/** `strict` refuses traps at load and never matches null; `compat` answers as the reference implementation does. */
export type Mode = 'strict' | 'compat';

/** Which built-in defaults to start from. */
export type RuleSetName = 'temper' | 'ironic' | 'closed';

/** One remote question, as an `http:` or `https:` check asks it. */
export type RemoteQuestion = {
  readonly url: string;
  /** The name of the rule being enforced. */
  readonly rule: string;
  readonly target: Target;
  readonly credentials: Readonly<Record<string, unknown>>;
};

export type PolicyOptions = {
  readonly set: RuleSetName;
  /** The operator's file, parsed: each entry replaces the whole text of a rule, or defines a helper. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Where each entry of the file stands. */
  readonly origins?: Readonly<Record<string, Origin>>;
  /** What was found wrong when the file was read: `strict` refuses it, `compat` warns. */
  readonly traps?: readonly string[];
  /** Default `strict`. */
  readonly mode?: Mode;
  /** Name of the project whose service users act as system members; null (the default) switches that off. */
  readonly elevatedServiceProject?: string | null;
  /** False also admits what a rule's deprecated text admits (set `ironic` only). Default true. */
  readonly newDefaults?: boolean;
  /** Answers `http:` checks with the reply's body, or throws; without it such checks are false. */
  readonly remote?: (question: RemoteQuestion) => string;
};

export type Policy = {
  /** Stable over restarts: equal when set, mode, options and every rule's text are equal. */
  readonly hash: string;
  /**
   * Whether the caller may. An unknown rule is refused. An all-powerful caller passes everything but the two rules
   * that show secrets, which are always evaluated. A rule that cannot be evaluated is refused.
   */
  allows(rule: string, who: Caller, target?: Target): boolean;
  /** Throws PolicyDenied {rule} unless `allows`. */
  require(rule: string, who: Caller, target?: Target): void;
  /**
   * The rows for which `allows` would be true, as a predicate. `columns` names the column behind each target key, e.g.
   * {'node.owner': 'owner'}. Parts that no predicate can say admit nothing (see `warnings`).
   */
  filter(rule: string, who: Caller, columns: Readonly<Record<string, string>>): Predicate;
  /** Why `allows` answers as it does. An all-powerful caller is explained as if it were not. */
  explain(rule: string, who: Caller, target?: Target): Explanation;
  /** What the rule guards and whom it admits, in a sentence; undefined where an operator's file replaces its text. */
  says(rule: string): string | undefined;
  /** Whether the name is defined, e.g. an operator's baremetal:step:execute:<interface>.<step>. */
  has(rule: string): boolean;
  /** Whether the rule's text comes from the operator's file, and says something else than the default. */
  isWritten(rule: string): boolean;
  /** What an operator should know about the file, one sentence each. */
  readonly warnings: readonly string[];
};

export type Scope = 'system' | 'domain' | 'project';

/** Where in which file a rule's text stands. */
export type Origin = { readonly file: string; readonly line: number };

/** A rule the product knows. */
export type RegisteredRule = {
  readonly name: string;
  readonly check: RuleText;
  /** Scopes a caller may come with; null for any. A file cannot change them. */
  readonly scopes: readonly Scope[] | null;
  /** The name and text it had before. */
  readonly deprecated?: { readonly name: string; readonly check: RuleText };
  /** What it guards, for the sample file. */
  readonly says?: string;
};

/** A rule in force. */
export type ActiveRule = {
  readonly name: string;
  readonly check: Check;
  readonly scopes: readonly Scope[] | null;
  readonly registered: boolean;
  readonly from: 'default' | 'file' | 'deprecated';
  /** The name under which the file has the text, where that is the rule's old one. */
  readonly oldName?: string;
  /** What the rule's deprecated text admits passes too. */
  readonly admitsOld?: boolean;
  readonly origin?: Origin;
  readonly faults: readonly Fault[];
  readonly refused: readonly Fault[];
};

export type Question = {
  readonly rule: string;
  readonly credentials: Credentials;
  readonly target: Target;
  /** Whether a key missing in the target is looked up in the credentials. */
  readonly fallBack?: boolean;
  /** Refuse names that only the file defines. */
  readonly registeredOnly?: boolean;
};

/** `fault`: it could not be evaluated, which refuses. `not asked`: a remote check behind what had decided already. */
export type PartVerdict = 'true' | 'false' | 'fault' | 'not asked';

/** Where a rule's text comes from. */
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
  /** What stood on both sides; null where there was nothing, such as a key that the target does not have. */
  readonly compared?: { readonly caller: readonly string[]; readonly wanted: string | null };
  /** Of a reference: the rule it led to. Null where nothing defines it. */
  readonly to?: Provenance | null;
  readonly fault?: string;
  readonly parts?: readonly Part[];
};

export type Explanation = {
  readonly rule: string;
  readonly verdict: 'allowed' | 'refused';
  /** Of a refusal. */
  readonly why?: 'check' | 'scope' | 'unknown' | 'fault';
  readonly scope: { readonly caller: Scope; readonly admitted: readonly Scope[] | null };
  readonly from: Provenance | null;
  /** Null where no rule was found. */
  readonly tree: Part | null;
};

export type Explain = (question: Question) => Explanation;
