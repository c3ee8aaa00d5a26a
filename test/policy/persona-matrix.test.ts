/** The `ironic` set against the table recorded from the reference: every rule, caller and object. */

import { anonymous, type Caller } from '../../src/model/access/callers';
import { createPolicy, type Target } from '../../src/policy';
import { credentialsOf } from '../../src/policy/engine/credentials';
import { createRuleSet } from '../../src/policy/engine/ruleset';
import { ruleSets } from '../../src/policy/rules/sets';
import { readData } from './support';

type Recorded = {
  personas: Record<string, Partial<Caller>>;
  columns: string[];
  targets: Record<string, Target | string>;
  matrix: Record<string, Record<string, string>>;
};

const recorded = readData<Recorded>('policy-persona-matrix.json');
const callers = recorded.columns.map((name): Caller => ({ ...anonymous, ...recorded.personas[name] }));

const policy = createPolicy({ set: 'ironic', mode: 'compat' });
const set = createRuleSet({ registered: ruleSets.ironic, mode: 'compat' });

const targetOf = (rule: string, name: string): Target => {
  const target = recorded.targets[name];
  if (typeof target === 'object') return target;
  return rule.includes(':runbook:') ? { 'runbook.owner': null } : { 'allocation.owner': null };
};

const letterOf = (rule: string, who: Caller, target: Target): string => {
  const verdict = set.decide({ rule, credentials: credentialsOf(who, null), target, fallBack: true });
  const letter = verdict.is === 'allowed' ? 'Y' : verdict.why === 'scope' ? 'S' : '-';
  // The policy that handlers ask says the same; a wrong scope is a plain refusal.
  expect(policy.allows(rule, who, target)).toBe(letter === 'Y');
  return letter;
};

const rows = Object.entries(recorded.matrix).flatMap(([rule, byTarget]) =>
  Object.entries(byTarget).map(([name, letters]) => [rule, name, letters] as const),
);

test('the recorded table covers every rule of the bare metal API', () => {
  const known = ruleSets.ironic.map(({ name }) => name).filter((name) => name.startsWith('baremetal:'));
  expect(Object.keys(recorded.matrix).sort()).toEqual(known.sort());
});

test.each(rows)('set ironic decides %s on "%s" as the reference for every caller', (rule, name, letters) => {
  expect(callers.map((who) => letterOf(rule, who, targetOf(rule, name))).join('')).toBe(letters);
});
