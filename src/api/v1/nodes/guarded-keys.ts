/** Rules for keys of a node, beside the rule of their field. */

import type { Caller } from '../../../model/access/callers';
import { keyedFields, keyRules, ruleOfKey, rulesOfFields } from '../../../model/access/guarded-keys';
import type { Document } from '../../../model/document';
import { interfaceOf } from '../../../model/lifecycle/drivers';
import type { Equipment } from '../../../model/lifecycle/step-types';
import { nodeTarget } from '../../../policy';
import type { ApiContext } from '../../context';

/** The rule for projects that enrol their own nodes, if a setting allows that. */
export const selfOwned = 'baremetal:node:create:self_owned_node';

/** All rules for keys. */
export const allKeyRules: readonly string[] = Object.values(keyRules);

type GuardedKeyValues = Readonly<Record<string, unknown>>;

const changedKeys = (before: Document, after: Document): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );

/** The rules of the changed keys, without repeats. A returned mask is no change. */
const rulesOfChange = (before: GuardedKeyValues, after: GuardedKeyValues): string[] => {
  const keyed = keyedFields.flatMap((field) =>
    changedKeys((before[field] ?? {}) as Document, (after[field] ?? {}) as Document).flatMap(
      (key) => ruleOfKey(field, key) ?? [],
    ),
  );
  const [was, is] = [before, after].map((node) => interfaceOf(node as Equipment, 'deploy'));
  return [...new Set([...keyed, ...(was === is ? [] : [keyRules.deployInterface]), ...rulesOfFields(before, after)])];
};

/** A caller who may enrol a node for its project may also set these keys on that project's nodes. */
const enrolsOwn = ({ settings, policy }: ApiContext, who: Caller, owner: string | null): boolean =>
  settings.projectAdminCanManageOwnNodes &&
  who.system_scope === null &&
  owner !== null &&
  owner === who.project_id &&
  policy().allows(selfOwned, who, { 'node.owner': owner });

/**
 * Evaluates the rules of the changed keys. A new node is compared with an empty one. Throws PolicyDenied.
 * @param before its owner and lessee decide
 * @returns the rules that admitted the change
 */
export const requireKeys = (
  ctx: ApiContext,
  who: Caller,
  before: GuardedKeyValues & { readonly owner: string | null; readonly lessee: string | null },
  after: GuardedKeyValues,
): string[] => {
  const rules = rulesOfChange(before, after);
  if (rules.length === 0 || enrolsOwn(ctx, who, before.owner)) return [];
  for (const rule of rules) ctx.policy().require(rule, who, nodeTarget(before));
  return rules;
};
