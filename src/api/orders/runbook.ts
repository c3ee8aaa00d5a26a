/** The runbook of a provision request: whether it may be seen, may be used, belongs on the node, and is approved for it. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { inOrder } from '../../model/resources/runbook-steps';
import { type Runbook, runbookApproval } from '../../model/resources/runbooks';
import { nodeTarget, runbookTarget, type Target } from '../../policy';
import { findVisibleRunbook } from '../v1/runbooks/visibility';
import { type Checks, firstRefusal } from './checks';
import type { OrderContext } from './context';
import { requireStepRules } from './steps';

/** The rule by which a runbook is run on a node; it stands in for the rule of free provisioning. */
export const runRunbook = 'temper:node:run_runbook';

/** The header that says why a private runbook is run on a node of another project. */
export const reasonHeader = 'X-Temper-Reason';
const longestCrossing = 1_000;

const useRule = 'baremetal:runbook:use';
const matchName = 'temper:runbook:match_name';
const cross = 'temper:runbook:cross';
const crossSilently = 'temper:runbook:cross_without_reason';

/** The rules that the use of a runbook may ask, beside that of the node. */
export const useRules: readonly string[] = ['baremetal:runbook:get', useRule, cross, crossSilently, matchName];

/** A runbook that may run, and what its use goes on record with beside the rule of the request. */
export type Usable = {
  readonly runbook: Runbook;
  readonly crossing?: { readonly rule: string; readonly reason: string };
};

type RunbookRequest = {
  readonly who: Caller;
  readonly version: number;
  /** Why it is run, where the request says so. */
  readonly reason?: string;
  readonly node: NodeRow;
  /** Name or UUID. */
  readonly runbook: string;
};

const isPrivate = ({ owner, public: open }: Runbook): boolean => owner !== null && !open;

/**
 * A project's private runbook belongs on the nodes that this project owns or leases, for every caller. Elsewhere it takes a rule of
 * its own and a reason. Throws PolicyDenied, InvalidInput.
 */
const requireHome = (
  ctx: OrderContext,
  { who, reason = '', node }: RunbookRequest,
  runbook: Runbook,
  target: Target,
  checks: Checks,
): Usable['crossing'] => {
  if (!isPrivate(runbook) || runbook.owner === node.owner || runbook.owner === node.lessee) return undefined;
  const policy = ctx.policy();
  if (policy.allows(crossSilently, who, target)) return undefined;
  checks.rule(policy, cross, who, target);
  const said = reason.trim();
  if (said === '' || said.length > longestCrossing)
    raise('InvalidInput', {
      field: reasonHeader,
      reason: `must say in up to ${longestCrossing} characters why a project's private runbook runs on a node that it neither owns nor leases; it stands in the audit trail`,
    });
  return { rule: cross, reason: said };
};

/** Throws RunbookTraitMissing. */
const requireApproval = (
  ctx: OrderContext,
  { who, version, node }: RunbookRequest,
  runbook: Runbook,
  target: Target,
): void => {
  const byName = runbook.traits.length === 0 && ctx.policy().allows(matchName, who, target);
  const approval = runbookApproval(runbook, node.traits, version, byName);
  if (!approval.ok)
    raise('RunbookTraitMissing', { runbook: runbook.name, node: node.name ?? node.uuid, wanted: approval.wanted });
};

/**
 * The runbook that a request names, ready to run on this node. Throws RunbookNotFound (missing and hidden alike),
 * PolicyDenied, InvalidInput, RunbookTraitMissing; where the checks go on at a refusal, RunbookNotFound only.
 */
export const usableRunbook = async (
  ctx: OrderContext,
  request: RunbookRequest,
  checks: Checks = firstRefusal,
): Promise<Usable> => {
  const { who, node } = request;
  const runbook = await findVisibleRunbook(ctx, who, request.runbook);
  const policy = ctx.policy();
  checks.rule(policy, useRule, who, runbookTarget(runbook));
  const target = { ...nodeTarget(node), ...runbookTarget(runbook) };
  const crossing = checks.try(() => requireHome(ctx, request, runbook, target, checks));
  checks.try(() => requireApproval(ctx, request, runbook, target));
  // What a project wrote for itself is bound by the rules of single steps; what an operator published is not.
  if (isPrivate(runbook)) requireStepRules(policy, who, target, runbook.steps, checks);
  return { runbook: { ...runbook, steps: inOrder(runbook.steps) }, ...(crossing && { crossing }) };
};
