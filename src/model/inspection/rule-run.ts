/** Runs inspection rules by descending priority, each on the result of the earlier ones. */

import { secretRefs } from '../access/secrets';
import { raise } from '../errors';
import { emptyValue, fieldOf } from '../resources/fields';
import type { InspectionRule } from '../resources/inspection-rules';
import { type Draft, doActions, RuleSaysFail, valueFault } from './rule-actions';
import { allHold, type Matching } from './rule-conditions';
import { type RuleDoc, type RuleStep, settable, stepFault } from './rule-ops';

/** Rules run after all of the inspection's data is applied. */
export const rulePhase = 'main';

export type RulePort = RuleDoc & { readonly uuid: string };

export type RuleSubject = {
  readonly node: RuleDoc & { readonly traits: readonly string[] };
  readonly ports: readonly RulePort[];
  readonly inventory: RuleDoc;
  readonly plugin_data: RuleDoc;
};

/** Absent if unchanged. */
export type RuleOutcome = {
  /** UUIDs of the rules whose conditions held. */
  readonly ran: readonly string[];
  readonly node: RuleDoc;
  readonly traits?: readonly string[];
  readonly ports: readonly { readonly uuid: string; readonly values: RuleDoc }[];
  readonly plugin_data?: RuleDoc;
  readonly said: Draft['said'];
};

const draftOf = ({ node, ports, inventory, plugin_data }: RuleSubject): Draft => {
  const { traits, ...rest } = structuredClone(node) as RuleDoc & { traits: string[] };
  return {
    node: rest as Draft['node'],
    ports: structuredClone(ports) as Draft['ports'],
    inventory,
    plugin_data: structuredClone(plugin_data) as Draft['plugin_data'],
    traits,
    said: [],
  };
};

const draftFacts = ({ node, traits, inventory, plugin_data }: Draft) => ({
  node: { ...node, traits },
  inventory,
  plugin_data,
});

const ruleFailed = (rule: InspectionRule, reason: string): never =>
  raise('InspectionRuleFailed', { rule: rule.description ?? rule.uuid, reason });

const runOne = (rule: InspectionRule, draft: Draft, matching: Matching): boolean => {
  const [conditions, actions] = [rule.conditions, rule.actions] as [RuleStep[], RuleStep[]];
  if (secretRefs([conditions, actions]).length > 0) ruleFailed(rule, 'it holds a secret, and nothing here may read it');
  const fault = [...conditions, ...actions].map(stepFault).find((one) => one !== undefined);
  if (fault !== undefined) ruleFailed(rule, fault);
  try {
    if (!allHold(conditions, draftFacts(draft), matching)) return false;
    doActions(actions, draft);
    return true;
  } catch (thrown) {
    if (thrown instanceof RuleSaysFail || thrown instanceof RangeError) return ruleFailed(rule, thrown.message);
    throw thrown;
  }
};

const changedIn = (of: keyof typeof settable, before: RuleDoc, after: RuleDoc): RuleDoc =>
  Object.fromEntries(
    settable[of].names
      .filter((name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null))
      .map((name) => [name, after[name] ?? emptyValue(fieldOf(settable[of].table, name)!)]),
  );

const checkedValues = (of: keyof typeof settable, values: RuleDoc): RuleDoc => {
  for (const [name, value] of Object.entries(values)) {
    const fault = valueFault(of, name, value);
    if (fault) raise('InspectionRuleFailed', { rule: 'as they ended', reason: fault });
  }
  return values;
};

const isOther = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

/**
 * Does not change the subject. Throws InspectionRuleFailed if a rule fails the inspection or cannot run.
 * @param matching evaluates regular expressions
 */
export const runRules = (rules: readonly InspectionRule[], subject: RuleSubject, matching: Matching): RuleOutcome => {
  const draft = draftOf(subject);
  const due = rules.filter(({ phase }) => phase === rulePhase).sort((a, b) => b.priority - a.priority);
  const ran = due.filter((rule) => runOne(rule, draft, matching)).map(({ uuid }) => uuid);
  const ports = draft.ports.map((port, at) => ({
    uuid: port.uuid,
    values: checkedValues('port', changedIn('port', subject.ports[at]!, port)),
  }));
  return {
    ran,
    node: checkedValues('node', changedIn('node', subject.node, draft.node)),
    ...(isOther(subject.node.traits, draft.traits) && { traits: draft.traits }),
    ports: ports.filter(({ values }) => Object.keys(values).length > 0),
    ...(isOther(subject.plugin_data, draft.plugin_data) && { plugin_data: draft.plugin_data }),
    said: draft.said,
  };
};
