/** Rules in force, compiled: the layer below a Policy, which knows credentials and targets but no product. */

import { raise } from '../model/errors';
import { type Credentials, normalise } from './credentials';
import { defaultRule } from './graph';
import { compileCheck, type Decide, type Slot } from './language/compile';
import { EvaluationFault } from './language/paths';
import { problemsOf, warningsOf } from './lint';
import { type ActiveRule, mergeRules, type RegisteredRule, type Scope } from './merge';
import type { Mode, RemoteQuestion, Target } from './types';

/** A verdict and, for a refusal, its reason. */
export type Verdict =
  | { readonly is: 'allowed' }
  | { readonly is: 'refused'; readonly why: 'check' | 'scope' | 'unknown' | 'unregistered' }
  /** The check could not be evaluated; counts as refused. */
  | { readonly is: 'refused'; readonly why: 'fault'; readonly fault: string };

export type Question = {
  readonly rule: string;
  readonly credentials: Credentials;
  readonly target: Target;
  /** Whether a key missing in the target is looked up in the credentials. */
  readonly fallBack?: boolean;
  /** Refuse names that only the file defines. */
  readonly registeredOnly?: boolean;
};

export type RuleSet = {
  readonly rules: ReadonlyMap<string, ActiveRule>;
  readonly warnings: readonly string[];
  decide(question: Question): Verdict;
  /** The rule that answers for a name: itself, else the default rule, else undefined. */
  ruleFor(name: string): ActiveRule | undefined;
};

export type RuleSetOptions = {
  readonly registered: readonly RegisteredRule[];
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly mode?: Mode;
  readonly newDefaults?: boolean;
  readonly remote?: (question: RemoteQuestion) => string;
};

const allowed: Verdict = { is: 'allowed' };
const refused = {
  check: { is: 'refused', why: 'check' },
  scope: { is: 'refused', why: 'scope' },
  unknown: { is: 'refused', why: 'unknown' },
  unregistered: { is: 'refused', why: 'unregistered' },
} as const satisfies Record<string, Verdict>;

/** The scope a caller comes with. Credentials without any scope count as a project's. */
export const scopeOfCredentials = (credentials: Credentials): Scope =>
  credentials.system ? 'system' : credentials.domain_id ? 'domain' : 'project';

/** Whether a rule admits callers of this scope at all. */
export const admitsScope = (rule: ActiveRule, credentials: Credentials): boolean =>
  rule.scopes === null || rule.scopes.includes(scopeOfCredentials(credentials));

const notCompiled: Decide = () => {
  throw new EvaluationFault('asked before the set was complete');
};

const compileAll = (rules: ReadonlyMap<string, ActiveRule>, mode: Mode): Map<string, Slot> => {
  const slots = new Map<string, Slot>([...rules.keys()].map((name) => [name, { run: notCompiled }]));
  const slotOf = (name: string): Slot | undefined => slots.get(name) ?? slots.get(defaultRule);
  for (const [name, slot] of slots) slot.run = compileCheck(rules.get(name)!.check, mode, slotOf);
  return slots;
};

/** Merges, checks and compiles. Raises PolicyInvalid, naming every faulty rule and its fix. */
export const createRuleSet = (options: RuleSetOptions): RuleSet => {
  const { registered, overrides = {}, mode = 'strict', newDefaults = true, remote } = options;
  const rules = mergeRules(registered, overrides, newDefaults);
  const problems = problemsOf(rules, mode === 'strict', remote !== undefined);
  if (problems.length > 0) raise('PolicyInvalid', { reason: problems.join('\n') });
  const slots = compileAll(rules, mode);
  const ruleFor = (name: string): ActiveRule | undefined => rules.get(name) ?? rules.get(defaultRule);

  const evaluate = (run: Decide, question: Question, credentials: Credentials): Verdict => {
    const { rule, target } = question;
    const also = question.fallBack ? credentials : undefined;
    try {
      return run({ credentials, target, also, rule, remote, depth: 0 }) ? allowed : refused.check;
    } catch (thrown) {
      // Whatever went wrong, a remote check that timed out included, nobody passes by it.
      return { is: 'refused', why: 'fault', fault: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };

  const decide = (question: Question): Verdict => {
    const rule = ruleFor(question.rule);
    if (question.registeredOnly && !rules.get(question.rule)?.registered) return refused.unregistered;
    if (!rule) return refused.unknown;
    const credentials = normalise(question.credentials);
    if (rule.name === question.rule && !admitsScope(rule, credentials)) return refused.scope;
    return evaluate(slots.get(rule.name)!.run, question, credentials);
  };

  return { rules, warnings: warningsOf(rules, mode === 'strict'), decide, ruleFor };
};
