/** Warnings for operators about a valid rule set. */

import { referencesOf } from '../engine/graph';
import { targetKeys } from '../engine/targets';
import { type Check, printCheck, walk } from '../language/check';
import { systemAdmin } from '../rules/bases';
import type { Vocabulary } from '../rules/vocabulary';
import type { ActiveRule } from '../types';
import { dangersOf, faultText, type Rules, secretRules } from './lint';

/** True if a list's filter can express this check. */
const isPushable = (check: Check): boolean => {
  const match = 'match' in check ? check.match : undefined;
  const keys = match?.keys.filter((key) => Object.hasOwn(targetKeys, key)) ?? [];
  if (check.is === 'http') return false;
  return keys.length === 0 || (check.is === 'compare' && keys.length === 1);
};

type Note = { readonly text: string; readonly fix?: string };

const unpushable = (rule: ActiveRule): Note[] =>
  [...walk(rule.check)]
    .filter(({ check }) => !isPushable(check))
    .map(({ check }) => ({
      text: `lists cannot be filtered by ${printCheck(check)}, so they leave out what only it would show`,
    }));

/** They require a role, but no scope. */
const unscoped: readonly string[] = ['is_admin', 'admin_api'];

const adminEverywhere = (rule: ActiveRule): Note[] =>
  referencesOf(rule)
    .filter((name) => unscoped.includes(name))
    .map((name) => ({
      text: `rule:${name} asks for no scope, so it admits the admins of every project, to the objects of all others too`,
      fix: `write (${systemAdmin}) in its place, or project_id:%(node.owner)s beside the role`,
    }));

// Lists are filtered, so their rules show no hidden rows.
const openToAll = ({ name, check }: ActiveRule): Note[] =>
  check.is === 'true' && name.includes(':') && !/:(?:list|list_all|ipa_\w+)$/.test(name)
    ? [{ text: 'it admits every caller, of whatever project', fix: 'name a role and whose object it is' }]
    : [];

const opensSecrets = ({ name, check }: ActiveRule): Note[] =>
  secretRules.has(name) && check.is !== 'false'
    ? [
        {
          text: 'it is opened, which has no effect: secrets are never shown, whatever the file says',
          fix: 'drop the rule',
        },
      ]
    : [];

const takenOver = ({ from, oldName }: ActiveRule): Note[] =>
  from === 'deprecated' ? [{ text: `it takes its text from its old name in the file, ${oldName}` }] : [];

const warningKinds = [unpushable, adminEverywhere, openToAll, opensSecrets, takenOver];

const warningText = (rules: Rules, { name }: ActiveRule, { text, fix }: Note): string => {
  const origin = rules.get(name)?.origin;
  const place = origin ? `${origin.file}:${origin.line}: ` : '';
  return `${place}rule "${name}": ${text}${fix ? `; ${fix}` : ''}`;
};

/** Built-in rules get no warnings. In `compat`, dangers become warnings. */
export const warningsOf = (
  rules: Rules,
  { strict, words }: { readonly strict: boolean; readonly words: Vocabulary | undefined },
): string[] => {
  const written = [...rules.values()].filter(({ from }) => from !== 'default');
  return [
    ...written.flatMap((rule) =>
      warningKinds.flatMap((find) => find(rule)).map((note) => warningText(rules, rule, note)),
    ),
    ...(strict ? [] : dangersOf(rules, words).map((one) => faultText(rules, one))),
  ];
};
