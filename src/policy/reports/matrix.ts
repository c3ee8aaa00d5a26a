/** Draws a policy as a text table, for audits without the code. */

import { answerOf } from '../engine/visibility';
import { ruleNames } from '../rules/sets';
import type { Policy, Target } from '../types';
import { isAboutNothing, type PersonaName, personaGroups, personaRoles, personas, scenes } from './personas';

const nameWidth = Math.max(...ruleNames.map((name) => name.length)) + 2;
const letters = { admin: 'A', manager: 'M', member: 'm', reader: 'r', service: 's' } as const;
const groupWidth = personaRoles.length * 2 + 2;

const header = [
  `${' '.repeat(nameWidth)}${personaGroups.map((group) => group.padEnd(groupWidth)).join('')}`.trimEnd(),
  `${' '.repeat(nameWidth)}${personaGroups
    .map(() =>
      personaRoles
        .map((role) => letters[role])
        .join(' ')
        .padEnd(groupWidth),
    )
    .join('')}`.trimEnd(),
];

const cells = (policy: Policy, rule: string, target: Target): string =>
  personaGroups
    .map((group) =>
      personaRoles
        .map((role) =>
          answerOf(policy, rule, personas[`${group}-${role}` as PersonaName], target) === 'allowed' ? 'Y' : '.',
        )
        .join(' ')
        .padEnd(groupWidth),
    )
    .join('')
    .trimEnd();

const section = (policy: Policy, title: string, rules: readonly string[], target: Target): string[] => [
  '',
  title,
  '='.repeat(title.length),
  ...header,
  ...rules.map((rule) => rule.padEnd(nameWidth) + cells(policy, rule, target)),
];

const legend = [
  'Who may do what: every rule, for every kind of caller, on every kind of object.',
  '',
  'Y may, . may not; of a list, whether it holds the object. Columns: A admin, M manager, m member, r reader,',
  's service; a role includes those right of it, service aside. "system" callers have system scope, the others a',
  'project: the one that owns the object, the one that leases the node, or an unrelated one. Generated; a changed',
  'cell is a change of what the product permits.',
];

/** The table of the built-in names, with a final line feed. Equal policies give equal texts. */
export const renderMatrix = (policy: Policy): string => {
  const known = ruleNames.filter((name) => policy.has(name));
  const lines = [
    ...legend,
    ...scenes.flatMap(({ title, target, about }) =>
      section(
        policy,
        title,
        known.filter((name) => about.test(name)),
        target,
      ),
    ),
    ...section(policy, 'Without an object', known.filter(isAboutNothing), {}),
  ];
  return `${lines.join('\n')}\n`;
};
