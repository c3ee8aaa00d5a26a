/** Problems of a rule set that refuse it at load, each with rule, place and fix. */

import { findOvergrown, findTangle, mostChecks, reachable, undefinedReferences } from '../engine/graph';
import { type Check, type Fault, printCheck, walk } from '../language/check';
import { maxDepth } from '../language/compile';
import { hasSpace } from '../language/tokens';
import type { Vocabulary } from '../rules/vocabulary';
import type { ActiveRule } from '../types';
import { checkFaults, fault } from './check-faults';

export type Rules = ReadonlyMap<string, ActiveRule>;

export type RuleFault = Fault & { readonly rule: string };

/** Operators may define rules with this prefix, one per restricted step. */
export const stepRulePrefix = 'baremetal:step:execute:';

/** They show passwords or user data in Ironic. Temper never shows secrets, so no handler evaluates them. */
export const secretRules: ReadonlySet<string> = new Set(['show_password', 'show_instance_secrets']);

const quotedAtMost = 400;

const cut = (text: string): string =>
  text.length > quotedAtMost ? `${text.slice(0, quotedAtMost)}... (${text.length} characters)` : text;

export const faultText = (rules: Rules, { rule, text, fix }: RuleFault): string => {
  const origin = rules.get(rule)?.origin;
  const place = origin ? `${origin.file}:${origin.line}: ` : '';
  return `${place}rule "${cut(rule)}": ${cut(text)}; ${fix}`;
};

/** Only `strict` refuses these: oslo.policy opens, closes or raises on them without a message at load. */
export const strictFaults = (rule: ActiveRule, words: Vocabulary | undefined): Fault[] => [
  ...rule.faults,
  ...[...walk(rule.check)].flatMap(({ check }) => checkFaults(check, words)),
];

const asksRemote = (rules: Rules, check: Check): boolean => {
  if (check.is === 'http') return true;
  const names = check.is === 'rule' ? [...reachable(rules, check.name)] : [];
  return names.some((name) => [...walk(rules.get(name)!.check)].some((part) => part.check.is === 'http'));
};

/** With remote checks off, a remote check is false; under "not" it would admit every caller. */
const remoteFaults = (rules: Rules, rule: ActiveRule): Fault[] =>
  [...walk(rule.check)]
    .filter(({ check, negations }) => negations > 0 && asksRemote(rules, check))
    .map(({ check }) =>
      fault(
        `${printCheck(check)} stands under "not", and remote checks are switched off`,
        'remove the "not", or switch them on',
      ),
    );

/** A name under Temper's prefixes that no handler evaluates restricts nothing, and its author cannot see that. */
const strangerFaults = (rules: Rules): RuleFault[] =>
  [...rules.values()]
    .filter(
      ({ name, registered }) => !registered && /^(?:baremetal|temper):/.test(name) && !name.startsWith(stepRulePrefix),
    )
    .map(({ name }) => ({ rule: name, ...fault('no operation asks for this name', 'correct the name, or drop it') }));

const undefinedFaults = (rules: Rules): RuleFault[] =>
  undefinedReferences(rules).map(({ rule, name }) => ({
    rule,
    ...fault(`it refers to rule:${name}, which nothing defines`, 'define it, or correct the name'),
  }));

const tangleFaults = (rules: Rules): RuleFault[] => {
  const tangle = findTangle(rules);
  if (!tangle) return [];
  const path = tangle.path.join(' -> ');
  const found =
    tangle.is === 'cycle'
      ? fault(`it refers to itself (${path})`, 'break the circle')
      : fault(`its references go deeper than ${maxDepth} rules (${path})`, 'shorten the chain');
  return [{ rule: tangle.path[0]!, ...found }];
};

const badNames = (rules: Rules): RuleFault[] =>
  [...rules.keys()]
    .filter((name) => name === '' || hasSpace(name))
    .map((name) => ({ rule: name, ...fault('a name holds no white space', 'rename it') }));

const ofEach = (rules: Rules, faultsOf: (rule: ActiveRule) => readonly Fault[]): RuleFault[] =>
  [...rules.values()].flatMap((rule) => faultsOf(rule).map((row) => ({ rule: rule.name, ...row })));

/** `strict` refuses these; `compat` warns and decides as oslo.policy does. */
export const dangersOf = (rules: Rules, words: Vocabulary | undefined): RuleFault[] => [
  // A test checks the built-in texts, so no start does.
  ...ofEach(rules, (rule) => (rule.from === 'default' ? [] : strictFaults(rule, words))),
  ...undefinedFaults(rules),
  ...tangleFaults(rules),
  ...strangerFaults(rules),
  ...badNames(rules),
];

const overgrown = (rules: Rules): RuleFault[] => {
  const rule = findOvergrown(rules);
  if (rule === undefined) return [];
  return [{ rule, ...fault(`it comes to more than ${mostChecks} checks by its references`, 'refer to fewer rules') }];
};

/** These faults refuse a set in any mode. `remote`: remote checks are enabled. */
export const refusalsOf = (rules: Rules, remote: boolean): RuleFault[] => [
  ...overgrown(rules),
  ...ofEach(rules, ({ refused }) => refused),
  ...(remote ? [] : ofEach(rules, (rule) => remoteFaults(rules, rule))),
];
