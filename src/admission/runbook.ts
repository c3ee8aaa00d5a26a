/** Runbooks of provision requests: visibility, use, home and approval for the node. */

import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import { inOrder } from '../model/resources/runbook-steps';
import { type Runbook, runbookApproval } from '../model/resources/runbooks';
import { nodeTarget, runbookTarget, type Target } from '../policy';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';
import { requireStepRules } from './steps';
import { findVisibleRunbook } from './visibility';

/** The rule to run a runbook on a node. It replaces the rule of free provisioning. */
export const runRunbook = 'temper:node:run_runbook';

/** The header with the reason to run a private runbook on a node of another project. */
export const reasonHeader = 'X-Temper-Reason';
const longestCrossing = 1_000;

const useRule = 'baremetal:runbook:use';
const matchName = 'temper:runbook:match_name';
const cross = 'temper:runbook:cross';
const crossSilently = 'temper:runbook:cross_without_reason';

/** The rules for using a runbook, beside the node's. */
export const useRules: readonly string[] = ['baremetal:runbook:get', useRule, cross, crossSilently, matchName];

/** A usable runbook, and the audit data of a crossing. */
export type Usable = {
  readonly runbook: Runbook;
  readonly crossing?: { readonly rule: string; readonly reason: string };
};

type RunbookRequest = {
  readonly who: Caller;
  readonly version: number;
  /** The given reason. */
  readonly reason?: string;
  readonly node: NodeRow;
  /** Name or UUID. */
  readonly runbook: string;
};

const isPrivate = ({ owner, public: open }: Runbook): boolean => owner !== null && !open;

/**
 * For every caller, a project's private runbook runs on nodes that this project owns or leases.
 * Other nodes need a separate rule and a reason. Throws PolicyDenied, InvalidInput.
 */
const requireHome = (
  ctx: AdmissionContext,
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
      reason: `must say why a project's private runbook runs on a node that it neither owns nor leases, in up to ${longestCrossing} characters. The audit trail keeps it`,
    });
  return { rule: cross, reason: said };
};

/** Throws RunbookTraitMissing. */
const requireApproval = (
  ctx: AdmissionContext,
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
 * The named runbook for this node. Throws RunbookNotFound (missing or hidden), PolicyDenied, InvalidInput, RunbookTraitMissing.
 * Collecting checks throw only RunbookNotFound.
 */
export const usableRunbook = async (
  ctx: AdmissionContext,
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
  // Rules of single steps apply to private runbooks, not to those that an operator published.
  if (isPrivate(runbook)) requireStepRules(policy, who, target, runbook.steps, checks);
  return { runbook: { ...runbook, steps: inOrder(runbook.steps) }, ...(crossing && { crossing }) };
};
