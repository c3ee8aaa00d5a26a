/** Review of a file's own rules: callers admitted in vain, and readers who may make changes. */

import { anonymous } from '../../model/access/callers';
import { nodeTarget } from '../engine/targets';
import { answerOf, seeRuleOf } from '../engine/visibility';
import type { Origin, Part, Policy } from '../types';
import { askedRules, type PersonaMember, scenesOf } from './matrix-cells';
import { personas } from './personas';

/** Rules that admit callers who cannot see the object, and the line that would show it. */
export type Gap = {
  /** The rule that is evaluated first. */
  readonly see: string;
  readonly rules: readonly string[];
  /** Text that this rule would need. */
  readonly text: string;
  readonly origin?: Origin;
};

const alternatives = (tree: Part | null): readonly Part[] =>
  tree?.is === 'or' ? (tree.parts ?? []) : tree ? [tree] : [];

const written = (policy: Policy): { readonly name: string; readonly tree: Part | null; readonly origin?: Origin }[] =>
  askedRules(policy)
    .map((name) => ({ name, ...policy.explain(name, anonymous) }))
    .filter(({ from }) => from !== null && from.from !== 'default')
    .map(({ name, tree, from }) => ({ name, tree, ...(from?.origin && { origin: from.origin }) }));

const admitsInVain = (policy: Policy, rule: string, members: readonly PersonaMember[]): boolean =>
  scenesOf(rule).some(({ target }) =>
    members.some(({ who }) => policy.allows(rule, who, target) && answerOf(policy, rule, who, target) !== 'allowed'),
  );

/** Text of a rule that also admits these alternatives' callers. */
const widened = (policy: Policy, see: string, more: readonly Part[]): string => {
  const own = alternatives(policy.explain(see, anonymous).tree).filter(({ is }) => is !== 'false');
  return [...new Set([...own, ...more].map(({ text }) => text))].join(' or ');
};

export const gapsOf = (policy: Policy, members: readonly PersonaMember[]): Gap[] => {
  const vain = written(policy).filter(({ name }) => seeRuleOf(name) && admitsInVain(policy, name, members));
  const sees = [...new Set(vain.map(({ name }) => seeRuleOf(name)!))];
  return sees.map((see) => {
    const rules = vain.filter(({ name }) => seeRuleOf(name) === see);
    const text = widened(
      policy,
      see,
      rules.flatMap(({ tree }) => alternatives(tree)),
    );
    return { see, rules: rules.map(({ name }) => name), text, ...(rules[0]!.origin && { origin: rules[0]!.origin }) };
  });
};

export const lineOf = ({ see, text }: Pick<Gap, 'see' | 'text'>): string =>
  `${JSON.stringify(see)}: ${JSON.stringify(text)}`;

const namedAtMost = 5;

const gapText = (gap: Gap): string => {
  const place = gap.origin ? `${gap.origin.file}:${gap.origin.line}: ` : '';
  const more = gap.rules.length > namedAtMost ? ` and ${gap.rules.length - namedAtMost} more` : '';
  const rules = `${gap.rules.slice(0, namedAtMost).join(', ')}${more}`;
  return (
    `${place}${rules}: admits callers to whom ${gap.see} does not show the object, so that they get 404 and empty lists; ` +
    `add ${lineOf(gap)}, or let temper policy lint --fix write it`
  );
};

const reads = /:(?:get|list|validate|view|show|steps|explain)(?:[:_]|$)/;
const leased = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });
const readers = [personas['owner-reader'], personas['lessee-reader']];

const asksRole = (part: Part): boolean => part.is === 'role' || (part.parts ?? []).some(asksRole);

/** Alternatives that admit a reader of the node's projects without a role. */
const roleless = (policy: Policy, rule: string): string[] =>
  readers
    .flatMap((who) => alternatives(policy.explain(rule, who, leased).tree))
    .filter((part) => part.verdict === 'true' && part.is !== 'true' && !asksRole(part))
    .map(({ text }) => text);

const readersText = (policy: Policy): string[] =>
  written(policy)
    .filter(({ name }) => /^(?:baremetal|temper):(?:node|port|portgroup|volume):/.test(name) && !reads.test(name))
    .flatMap(({ name, origin }) => {
      const [text] = roleless(policy, name);
      if (text === undefined) return [];
      const place = origin ? `${origin.file}:${origin.line}: ` : '';
      return [
        `${place}rule "${name}": ${text} asks for no role, so that readers of that project change things by it; ` +
          `write (role:member and ${text}) in its place`,
      ];
    });

/** The rule that shows the rows of a list. The rule for lists of nodes shows rows itself, and inspection rules belong to no project. */
const rowRuleOf = (rule: string): string | undefined =>
  /:list(?:_all)?$/.test(rule) && !/^baremetal:(?:node:list$|inspection_rule:)/.test(rule)
    ? rule.replace(/list(?:_all)?$/, 'get')
    : undefined;

const listsNothing = (policy: Policy, rule: string, see: string, members: readonly PersonaMember[]): boolean => {
  const admitted = members.filter(({ who }) => who.project_id !== null && policy.allows(rule, who));
  const shows = ({ who }: PersonaMember) =>
    scenesOf(see).some(({ target }) => answerOf(policy, see, who, target) === 'allowed');
  return admitted.length > 0 && !admitted.some(shows);
};

const emptyListTexts = (policy: Policy, members: readonly PersonaMember[]): string[] =>
  written(policy).flatMap(({ name, origin }) => {
    const see = rowRuleOf(name);
    if (see === undefined || !policy.has(see) || !listsNothing(policy, name, see, members)) return [];
    const place = origin ? `${origin.file}:${origin.line}: ` : '';
    return [
      `${place}rule "${name}": the rows of a list go by ${see}, which shows none to the projects that this admits, so that ` +
        `their lists are empty; open ${see} to them as well`,
    ];
  });

/** Notes for operators, in addition to the warnings of the policy. */
export const reviewOf = (policy: Policy, members: readonly PersonaMember[]): string[] => [
  ...gapsOf(policy, members).map(gapText),
  ...readersText(policy),
  ...emptyListTexts(policy, members),
];
