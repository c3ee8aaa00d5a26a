/** What is wrong with a set of rules, found at load: problems that refuse it, and warnings for its operator. */

import { credentialKeys, serviceProjectKey } from './credentials';
import { findCycle, reachable, referencesOf, undefinedReferences } from './graph';
import { type Check, type Fault, printCheck, walk } from './language/check';
import { brokenPart, type Template } from './language/template';
import { hasSpace } from './language/tokens';
import type { ActiveRule } from './merge';
import { targetKeys } from './targets';

type Rules = ReadonlyMap<string, ActiveRule>;

/** Operators may define rules under this prefix: one per step that not everybody may run. */
export const stepRulePrefix = 'baremetal:step:execute:';

/** Rules of the reference that show passwords or user data there. Secrets are never shown here, so nobody asks for these. */
export const secretRules: ReadonlySet<string> = new Set(['show_password', 'show_instance_secrets']);

const fault = (text: string, fix: string): Fault => ({ text, fix });

/** Keys that a target can have: those of objects, and the caller's own, which every target carries. */
const isKnownKey = (key: string): boolean =>
  Object.hasOwn(targetKeys, key) || Object.hasOwn(credentialKeys, key) || key === serviceProjectKey;

const keyFaults = (source: string, match: Template): Fault[] =>
  match.keys
    .filter((key) => !isKnownKey(key))
    .map((key) =>
      fault(
        `${source}: no target has a key "${key}", so this is always false`,
        `use one of ${Object.keys(targetKeys).join(', ')}, or a credential of the caller`,
      ),
    );

const matchFaults = (source: string, match: Template): Fault[] => {
  const broken = brokenPart(match);
  const faults =
    broken === undefined ? [] : [fault(`${source} has ${broken}`, 'use %(key)s for a value of the target')];
  if (/^['"]|['"]$/.test(match.source))
    faults.push(fault(`the quotes right of the colon in ${source} are taken as letters`, 'remove them'));
  if (/[\s(),&|]/.test(match.source.replace(/%\([^)]*\)s/g, '')))
    faults.push(
      fault(
        `${source} holds operators, parentheses or commas as letters`,
        'put spaces around "and", "or" and "not", and separate checks by them',
      ),
    );
  if (match.source === '') faults.push(fault(`${source} has nothing right of the colon`, 'write what it must equal'));
  return [...faults, ...keyFaults(source, match)];
};

const pathFaults = (source: string, path: readonly string[], match: Template): Fault[] => {
  const [head = ''] = path;
  const holds = path.length === 1 && Object.hasOwn(credentialKeys, head) ? credentialKeys[head] : undefined;
  if (!holds) {
    const known = Object.keys(credentialKeys).join(', ');
    return [
      fault(`${source}: no caller has a credential called "${path.join('.')}"`, `use rule:, role:, or one of ${known}`),
    ];
  }
  if (holds === 'boolean' && match.constant !== undefined && !['True', 'False'].includes(match.constant))
    return [fault(`${source} never matches`, `write ${head}:True or ${head}:False`)];
  return [];
};

const checkFaults = (check: Check): Fault[] => {
  const source = printCheck(check);
  if (check.is === 'role') return matchFaults(source, check.match);
  if (check.is !== 'compare') return [];
  const { kind, match } = check;
  if (kind.is === 'invalid')
    return [
      fault(
        `"${kind.source}" in ${source} cannot stand left of a colon`,
        'use rule:, role:, a credential or a literal',
      ),
    ];
  const right = matchFaults(source, match);
  if (kind.is === 'literal' && match.keys.length === 0)
    right.push(fault(`${source} compares two constants`, 'write "@" or "!", or compare with %(key)s'));
  return kind.is === 'path' ? [...right, ...pathFaults(source, kind.path, match)] : right;
};

/** Faults that only `strict` refuses: what the reference opens, closes or raises without telling anybody at load. */
const strictFaults = (rule: ActiveRule): Fault[] => [
  ...(rule.from === 'default' ? [] : rule.faults),
  ...[...walk(rule.check)].flatMap(({ check }) => checkFaults(check)),
];

const asksRemote = (rules: Rules, check: Check): boolean => {
  if (check.is === 'http') return true;
  const names = check.is === 'rule' ? [...reachable(rules, check.name)] : [];
  return names.some((name) => [...walk(rules.get(name)!.check)].some((part) => part.check.is === 'http'));
};

/** A remote check that is switched off is false; under "not" that would let everyone pass. */
const remoteFaults = (rules: Rules, rule: ActiveRule): Fault[] =>
  [...walk(rule.check)]
    .filter(({ check, negations }) => negations > 0 && asksRemote(rules, check))
    .map(({ check }) =>
      fault(
        `${printCheck(check)} stands under "not", and remote checks are switched off`,
        'remove the "not", or switch them on',
      ),
    );

const describe = (rule: string, { text, fix }: Fault): string => `rule "${rule}": ${text}; ${fix}`;

/** A name of ours that we never ask for restricts nothing, which its author cannot see. */
const strangers = (rules: Rules): ActiveRule[] => {
  const used = new Set([...rules.values()].flatMap(referencesOf));
  return [...rules.values()].filter(
    ({ name, registered }) =>
      !registered && /^(?:baremetal|temper):/.test(name) && !name.startsWith(stepRulePrefix) && !used.has(name),
  );
};

const undefinedFaults = (rules: Rules): string[] =>
  undefinedReferences(rules).map(({ rule, name }) =>
    describe(rule, fault(`it refers to rule:${name}, which nothing defines`, 'define it, or correct the name')),
  );

const cycleFaults = (rules: Rules): string[] => {
  const cycle = findCycle(rules);
  return cycle ? [describe(cycle[0]!, fault(`it refers to itself (${cycle.join(' -> ')})`, 'break the circle'))] : [];
};

const strangerFaults = (rules: Rules): string[] =>
  strangers(rules).map(({ name }) =>
    describe(name, fault('no operation asks for this name', 'correct the name, or drop it')),
  );

const badNames = (rules: Rules): string[] =>
  [...rules.keys()]
    .filter((name) => name === '' || hasSpace(name))
    .map((name) => describe(name, fault('a name holds no white space', 'rename it')));

/** Why a set must not be used; empty when it may. `remote` says whether remote checks are switched on. */
export const problemsOf = (rules: Rules, strict: boolean, remote: boolean): string[] => {
  const all = [...rules.values()];
  const ofEach = (faultsOf: (rule: ActiveRule) => readonly Fault[]): string[] =>
    all.flatMap((rule) => faultsOf(rule).map((row) => describe(rule.name, row)));
  const inAnyMode = [
    ...ofEach(({ refused }) => refused),
    ...(remote ? [] : ofEach((rule) => remoteFaults(rules, rule))),
  ];
  if (!strict) return inAnyMode;
  return [
    ...inAnyMode,
    ...ofEach(strictFaults),
    ...undefinedFaults(rules),
    ...cycleFaults(rules),
    ...strangerFaults(rules),
    ...badNames(rules),
  ];
};

/** Whether a list's filter can say this check for every column the product offers. */
const isPushable = (check: Check): boolean => {
  const match = 'match' in check ? check.match : undefined;
  const keys = match?.keys.filter((key) => Object.hasOwn(targetKeys, key)) ?? [];
  if (check.is === 'http') return false;
  return keys.length === 0 || (check.is === 'compare' && keys.length === 1);
};

const ruleWarnings = (rule: ActiveRule): string[] => {
  if (rule.from === 'default') return [];
  const found = [...walk(rule.check)].filter(({ check }) => !isPushable(check));
  const lists = found.map(
    ({ check }) =>
      `rule "${rule.name}": lists cannot be filtered by ${printCheck(check)}, so they leave out what only it would show`,
  );
  const taken = rule.from === 'deprecated' ? [`rule "${rule.name}" takes its text from its old name in the file`] : [];
  const opened =
    secretRules.has(rule.name) && rule.check.is !== 'false'
      ? [
          `rule "${rule.name}" is opened, which has no effect: secrets are never shown, whatever the file says; drop the rule`,
        ]
      : [];
  return [...lists, ...taken, ...opened];
};

/** What the operator should know of a set that may be used. */
export const warningsOf = (rules: Rules, strict: boolean): string[] => [
  ...[...rules.values()].flatMap(ruleWarnings),
  ...(strict ? [] : [...undefinedFaults(rules), ...cycleFaults(rules), ...strangerFaults(rules)]),
];
