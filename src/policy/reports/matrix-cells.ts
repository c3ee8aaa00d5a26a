/** Every decision of a policy over fixed callers and objects. */

import type { Caller } from '../../model/access/callers';
import { walk } from '../language/check';
import { parseRule } from '../language/parse';
import { ruleNames } from '../rules/sets';
import type { Policy, PolicyOptions, Target } from '../types';
import {
  customPersona,
  isAboutNothing,
  type PersonaGroup,
  personaGroups,
  personaRoles,
  personas,
  scenes,
  supporters,
} from './personas';

/** A caller, with its role or an operator's role beside reader. */
export type PersonaMember = { readonly group: PersonaGroup; readonly role: string; readonly who: Caller };

export type Scene = { readonly kind: string; readonly title: string; readonly target: Target };

export type Cell = {
  readonly rule: string;
  readonly scene: Scene;
  readonly member: PersonaMember;
  readonly may: boolean;
};

const builtIn: readonly PersonaMember[] = personaGroups.flatMap((group) =>
  personaRoles.map((role) => ({ group, role, who: personas[`${group}-${role}`] })),
);

/** Roles in the built-in texts; others are an operator's. */
const known: ReadonlySet<string> = new Set([
  ...personaRoles,
  'administrator',
  'observer',
  'baremetal_admin',
  'baremetal_observer',
]);
const mostRoles = 20;

export const customRoles = (overrides: PolicyOptions['overrides'] = {}): string[] => {
  const checks = Object.values(overrides).flatMap((value) => [...walk(parseRule(value).check)]);
  const named = checks.flatMap(({ check }) => (check.is === 'role' ? [check.match.constant ?? ''] : []));
  return [...new Set(named)].filter((role) => role !== '' && !known.has(role)).slice(0, mostRoles);
};

/** Every group with every role, and with each of these beside reader. */
export const membersWith = (roles: readonly string[]): readonly PersonaMember[] => [
  ...builtIn,
  ...personaGroups.flatMap((group) => roles.map((role) => ({ group, role, who: customPersona(group, role) }))),
];

/** Admins of several projects, if an operator's texts distinguish them. */
export const supportersFor = (overrides: PolicyOptions['overrides'] = {}): readonly PersonaMember[] => {
  const checks = Object.values(overrides).flatMap((value) => [...walk(parseRule(value).check)]);
  const compares = checks.some(({ check }) => check.is === 'compare' && check.kind.source === 'admin_projects');
  return compares ? Object.entries(supporters).map(([role, who]) => ({ group: 'stranger', role, who })) : [];
};

const withoutObject: Scene = { kind: 'nothing', title: 'Without an object', target: {} };

export const scenesOf = (rule: string): readonly Scene[] =>
  isAboutNothing(rule) ? [withoutObject] : scenes.filter(({ about }) => about.test(rule));

/** Temper's names in a policy, in the order of the tables, and the operator's rules for steps. */
export const askedRules = (...policies: readonly Policy[]): string[] =>
  ruleNames.filter((name) => name.includes(':') && policies.some((policy) => policy.has(name)));

export function* cellsOf(policy: Policy, rules: readonly string[], members: readonly PersonaMember[]): Generator<Cell> {
  for (const rule of rules)
    for (const scene of scenesOf(rule))
      for (const member of members) yield { rule, scene, member, may: policy.allows(rule, member.who, scene.target) };
}
