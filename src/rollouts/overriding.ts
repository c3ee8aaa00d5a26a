/** Overrides of tenants' consent and budgets, by a separate rule and with a reason that the tenant can read. */
import { requesterOf } from '../admission/requester';
import type { Queries } from '../inventory';
import type { SpentBudget } from '../inventory/disruption-budgets';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { TargetRow } from '../inventory/rollouts/targets';
import type { RunUuid } from '../model/ids';
import { tenantOf, termsOf } from '../model/rollouts/consent';
import { nodeTarget } from '../policy';
import type { RolloutDeps } from './contract';

export type Overriding = {
  readonly rollout: RolloutRow;
  readonly rule: string;
  readonly rule_set: string;
  readonly reason: string;
};

/** The rule to interrupt a node without its tenant's consent. */
export const withoutConsent = 'temper:rollout:without_consent';

type Deps = Pick<RolloutDeps, 'inventory' | 'policy'>;
type Overridden = Pick<TargetRow, 'position' | 'node_uuid' | 'owner' | 'lessee'>;

const askedFor = (
  { policy }: Pick<Deps, 'policy'>,
  { rollout, rule, reason }: Omit<Overriding, 'rule_set' | 'reason'> & { readonly reason: string | undefined },
  node: NodeRow,
): Overriding | undefined => {
  if (reason === undefined || !rollout.granted) return undefined;
  const now = policy();
  return now.allows(rule, rollout.granted, nodeTarget(node))
    ? { rollout, rule, rule_set: now.hash, reason }
    : undefined;
};

/** The rule lets the grantee interrupt this node without its tenant's consent. */
export const passesTenant = (
  { policy }: Pick<Deps, 'policy'>,
  { granted }: Pick<RolloutRow, 'granted'>,
  node: NodeRow,
): boolean => granted !== null && policy().allows(withoutConsent, granted, nodeTarget(node));

/** Undefined if disruption budgets apply. */
export const overridingOf = (deps: Deps, rollout: RolloutRow, node: NodeRow): Overriding | undefined => {
  const { override_budgets } = rollout.spec;
  return askedFor(deps, { rollout, rule: 'temper:rollout:override_budget', reason: override_budgets?.reason }, node);
};

const auditedAs = (
  { rollout, rule, rule_set, reason }: Overriding,
  { node_uuid, owner }: Overridden,
  action: string,
) => ({
  requester: requesterOf({ who: rollout.granted!, requestId: rollout.requester.request_id }),
  action,
  rule,
  rule_set,
  resource: 'rollout',
  resource_id: rollout.id,
  node_uuid,
  project: owner,
  data: { reason },
});

/** Runs in the transaction that takes the node. */
export const recordOverridden = async (
  store: Queries,
  overriding: Overriding,
  {
    target,
    run,
    spent,
  }: { readonly target: Overridden; readonly run: RunUuid; readonly spent: readonly SpentBudget[] },
): Promise<void> => {
  const { rollout, rule, reason } = overriding;
  const { node_uuid } = target;
  await store.audit.write({ ...auditedAs(overriding, target, 'rollout.override_budget'), run_id: run });
  for (const { uuid, project } of spent)
    await store.events.append({
      kind: 'rollout.budget_overridden',
      node_uuid,
      run_id: run,
      project,
      rollout_id: rollout.id,
      data: { rollout: rollout.id, disruption_budget: uuid, rule, reason },
    });
};

/** Forces a target without an answer in time. False if rollout or rule does not allow it, because silence is no consent. */
export const passSilence = async (deps: Deps, rollout: RolloutRow, target: Overridden): Promise<boolean> => {
  const { force, reason } = termsOf(rollout.spec);
  if (force !== 'rule') return false;
  const node = await deps.inventory.nodes.find({ uuid: target.node_uuid });
  if (!node) return false;
  const forcing = askedFor(deps, { rollout, rule: withoutConsent, reason }, node);
  if (!forcing) return false;
  return deps.inventory.transaction(async (store) => {
    // The tenant has answered meanwhile.
    if (!(await store.rolloutConsents.force(rollout.id, target.position))) return true;
    await store.audit.write(auditedAs(forcing, target, 'rollout.force'));
    await store.events.append({
      kind: 'rollout.forced',
      node_uuid: target.node_uuid,
      project: tenantOf(target),
      rollout_id: rollout.id,
      data: { rollout: rollout.id, rule: forcing.rule, reason: forcing.reason },
    });
    return true;
  });
};
