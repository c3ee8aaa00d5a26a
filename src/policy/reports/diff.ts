/** Effect of a policy change: differing cells of two policies, grouped for readers. */

import { answerOf } from '../engine/visibility';
import type { Policy } from '../types';
import { askedRules, cellsOf, type PersonaMember, type Scene, scenesOf } from './matrix-cells';
import { type PersonaGroup, personaGroups, personaRoles, supporters } from './personas';

/** Callers of one kind of object that gain or lose the same rules. */
export type Change = {
  readonly does: 'gains' | 'loses';
  /** All objects of a kind are written as "any <kind>". */
  readonly on: readonly string[];
  readonly who: Readonly<Partial<Record<PersonaGroup, readonly string[]>>>;
  readonly rules: readonly string[];
};

export type Difference = { readonly cells: number; readonly changed: number; readonly changes: readonly Change[] };

type DiffFound = {
  readonly rule: string;
  readonly scene: Scene;
  readonly member: PersonaMember;
  readonly does: Change['does'];
};

const byGroup = (members: readonly PersonaMember[]): Change['who'] =>
  Object.fromEntries(
    personaGroups
      .map((group) => [group, members.filter((one) => one.group === group).map(({ role }) => role)] as const)
      .filter(([, roles]) => roles.length > 0),
  );

/** Groups keep the order of their first values. */
const gather = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
};

type RuleChange = {
  readonly does: Change['does'];
  readonly on: readonly string[];
  readonly who: Change['who'];
  readonly rule: string;
};

const titlesOf = (rule: string, scenes: readonly Scene[]): readonly string[] => {
  const all = scenesOf(rule);
  const [first] = scenes;
  return scenes.length === all.length && all.length > 1 ? [`any ${first!.kind}`] : scenes.map(({ title }) => title);
};

/** Groups first the callers of each object, then the objects with the same callers. */
const changesOfRule = (found: readonly DiffFound[]): RuleChange[] =>
  gather(
    gather(found, ({ does, scene }) => `${does} ${scene.title}`).map((cells) => ({
      ...cells[0]!,
      who: byGroup(cells.map(({ member }) => member)),
    })),
    ({ does, who }) => `${does} ${JSON.stringify(who)}`,
  ).map((rows) => ({
    does: rows[0]!.does,
    who: rows[0]!.who,
    on: titlesOf(
      rows[0]!.rule,
      rows.map(({ scene }) => scene),
    ),
    rule: rows[0]!.rule,
  }));

/** Compares the API's answers in every cell. A hidden object counts as not permitted. */
export const diffPolicies = (before: Policy, after: Policy, members: readonly PersonaMember[]): Difference => {
  const rules = askedRules(before, after);
  const found: DiffFound[] = [];
  let cells = 0;
  for (const { rule, scene, member } of cellsOf(after, rules, members)) {
    cells += 1;
    const [did, may] = [before, after].map(
      (policy) => answerOf(policy, rule, member.who, scene.target) === 'allowed',
    ) as [boolean, boolean];
    if (may === did) continue;
    found.push({ rule, scene, member, does: may ? 'gains' : 'loses' });
  }
  const perRule = gather(found, ({ rule }) => rule).flatMap(changesOfRule);
  const changes = gather(perRule, ({ does, on, who }) => JSON.stringify([does, on, who])).map((rows) => ({
    does: rows[0]!.does,
    on: rows[0]!.on,
    who: rows[0]!.who,
    rules: rows.map(({ rule }) => rule),
  }));
  return { cells, changed: found.length, changes };
};

/** The order is ascending: a role includes those below it. */
const ladder = ['reader', 'member', 'manager', 'admin'] as const;

const rolesText = (roles: readonly string[]): string => {
  const standard = ladder.filter((role) => roles.includes(role));
  const others = roles.filter((role) => !(ladder as readonly string[]).includes(role));
  const from = ladder.length - standard.length;
  const upward = standard.length > 1 && standard.every((role, at) => role === ladder[from + at]);
  const known: readonly string[] = [...personaRoles, ...Object.keys(supporters)];
  const custom = (role: string) => (known.includes(role) ? role : `role ${role}`);
  return [...(upward ? [`${standard[0]} and above`] : standard), ...others.map(custom)].join(', ');
};

const whoText = (who: Change['who']): string =>
  Object.entries(who)
    .map(([group, roles]) => `${group} ${rolesText(roles)}`)
    .join('; ');

const onText = (on: readonly string[]): string =>
  on.map((title) => title[0]!.toLowerCase() + title.slice(1)).join('; ');

const section = (title: string, changes: readonly Change[]): string[] =>
  changes.length === 0
    ? []
    : [
        title,
        ...changes.flatMap(({ on, who, rules }) => [
          `  ${whoText(who)}`,
          `    ${onText(on)}:`,
          ...rules.map((rule) => `      ${rule}`),
        ]),
        '',
      ];

export const renderDifference = ({ changed, changes }: Difference): string => {
  if (changed === 0) return 'No cell changes.\n';
  const of = (does: Change['does']) => changes.filter((one) => one.does === does);
  return [
    ...section('May now, could not before', of('gains')),
    ...section('May no longer', of('loses')),
    `${changed} cell${changed === 1 ? ' changes' : 's change'}.`,
    '',
  ].join('\n');
};
