/** Compiled rules in force: the generic layer below Policy, without Ironic's names. */

import { isTemperError, messageOf, raise } from '../../model/errors';
import { compileCheck, type Decide, type Slot } from '../language/compile';
import { EvaluationFault } from '../language/paths';
import { dangersOf, faultText, refusalsOf } from '../reports/lint';
import { warningsOf } from '../reports/warnings';
import type { Vocabulary } from '../rules/vocabulary';
import type { ActiveRule, Explain, Mode, Origin, Question, RegisteredRule, RemoteQuestion } from '../types';
import { type Credentials, normalise } from './credentials';
import { explainWith } from './explain';
import { defaultRule } from './graph';
import { mergeRules } from './merge';
import { admitsScope } from './scopes';

export type Verdict =
  | { readonly is: 'allowed' }
  | { readonly is: 'refused'; readonly why: 'check' | 'scope' | 'unknown' | 'unregistered' }
  /** The check could not be evaluated and counts as refused. */
  | { readonly is: 'refused'; readonly why: 'fault'; readonly fault: string };
export type RuleSet = {
  readonly rules: ReadonlyMap<string, ActiveRule>;
  readonly warnings: readonly string[];
  decide(question: Question): Verdict;
  readonly explain: Explain;
  /** The rule of this name, else the default rule, else undefined. */
  ruleFor(name: string): ActiveRule | undefined;
};

export type RuleSetOptions = {
  readonly registered: readonly RegisteredRule[];
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** File and line of each override. */
  readonly origins?: Readonly<Record<string, Origin>>;
  /** Faults of the overrides' file, one sentence each. */
  readonly traps?: readonly string[];
  readonly mode?: Mode;
  readonly newDefaults?: boolean;
  readonly remote?: (question: RemoteQuestion) => string;
  /** Words that rules may use; undefined permits all. */
  readonly vocabulary?: Vocabulary;
};

const isAllowed: Verdict = { is: 'allowed' };
const refused = {
  check: { is: 'refused', why: 'check' },
  scope: { is: 'refused', why: 'scope' },
  unknown: { is: 'refused', why: 'unknown' },
  unregistered: { is: 'refused', why: 'unregistered' },
} as const satisfies Record<string, Verdict>;

const notCompiled: Decide = () => {
  throw new EvaluationFault('asked before the set was complete');
};

type Slots = ReadonlyMap<string, Slot>;

const slotOf = (slots: Slots, name: string): Slot | undefined => slots.get(name) ?? slots.get(defaultRule);

const compileAll = (rules: ReadonlyMap<string, ActiveRule>, mode: Mode): Slots => {
  const slots: Slots = new Map<string, Slot>([...rules.keys()].map((name) => [name, { run: notCompiled }]));
  for (const [name, slot] of slots)
    slot.run = compileCheck(rules.get(name)!.check, mode, (other) => slotOf(slots, other));
  return slots;
};

const faultsAtMost = 50;

const refuseRules = (problems: readonly string[]): never => {
  const more = problems.length > faultsAtMost ? [`and ${problems.length - faultsAtMost} more`] : [];
  return raise('PolicyInvalid', { reason: [...problems.slice(0, faultsAtMost), ...more].join('\n') });
};

/** Throws PolicyInvalid with every faulty rule, its place and its fix. */
const checkedRules = (options: RuleSetOptions): ReadonlyMap<string, ActiveRule> => {
  const { registered, overrides = {}, origins, traps = [], mode = 'strict', newDefaults = true, remote } = options;
  const rules = mergeRules(registered, overrides, newDefaults, origins);
  const refusals = refusalsOf(rules, remote !== undefined);
  const dangers = mode === 'strict' ? dangersOf(rules, options.vocabulary) : [];
  const problems = [
    ...(mode === 'strict' ? traps : []),
    ...new Set([...refusals, ...dangers].map((row) => faultText(rules, row))),
  ];
  return problems.length > 0 ? refuseRules(problems) : rules;
};

/** Throws as checkedRules. */
export const createRuleSet = (options: RuleSetOptions): RuleSet => {
  const { traps = [], mode = 'strict', remote } = options;
  const strict = mode === 'strict';
  const rules = checkedRules(options);
  const slots = compileAll(rules, mode);
  const ruleFor = (name: string): ActiveRule | undefined => rules.get(name) ?? rules.get(defaultRule);

  const evaluate = (run: Decide, question: Question, credentials: Credentials): Verdict => {
    const { rule, target } = question;
    const also = question.fallBack ? credentials : undefined;
    try {
      return run({ credentials, target, also, rule, remote, depth: 0 }) ? isAllowed : refused.check;
    } catch (thrown) {
      // The caller's credentials are incomplete, so a refusal would be a guess.
      if (isTemperError(thrown, 'IdentityUnavailable')) throw thrown;
      // Any other fault refuses the caller, a remote check's timeout included.
      return { is: 'refused', why: 'fault', fault: messageOf(thrown) };
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

  const warnings = [...(strict ? [] : traps), ...warningsOf(rules, { strict, words: options.vocabulary })];
  const explain = explainWith({ rules, ruleFor, mode, remote, slotOf: (name) => slotOf(slots, name) });
  return { rules, warnings, decide, explain, ruleFor };
};
