/** Admission of one target: the checks of a single run, all bounds, and the run in one transaction. */
import type { Queries } from '../inventory';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { TargetRow } from '../inventory/rollouts/targets';
import { isTemperError } from '../model/errors';
import type { RunUuid } from '../model/ids';
import { asksItself, tenantOf, termsOf } from '../model/rollouts/consent';
import { refusalOf } from '../model/runs/verdicts';
import type { RunOrder } from '../runs/contract';
import type { PinnedRunbook, Prepare, Prepared, RolloutDeps, Work } from './contract';
import { type Overriding, overridingOf, passesTenant, passSilence, recordOverridden } from './overriding';
import { workFor } from './plan';

/** `skipped` is final; `waits` and `full` (by the bound `scope`) pass with time; `closed`: the rollout begins nothing now. */
export type Began =
  | { readonly is: 'begun'; readonly run: RunUuid }
  | { readonly is: 'skipped'; readonly code: string }
  | { readonly is: 'waits'; readonly code: string }
  | { readonly is: 'full'; readonly scope: string; readonly value: string }
  | { readonly is: 'closed' };

// Conditions that pass with time. All other refusals are final for this plan.
const passingCodes: readonly string[] = ['frozen', 'held', 'no_worker', 'quota'];

class Stopped extends Error {
  constructor(readonly began: Began) {
    super(began.is);
  }
}

export const pinnedRunbook = ({ runbook_uuid, runbook_name, runbook_revision }: RolloutRow): PinnedRunbook | null =>
  runbook_uuid === null || runbook_name === null || runbook_revision === null
    ? null
    : { uuid: runbook_uuid, name: runbook_name, revision: runbook_revision };

const workOf = (row: RolloutRow): Work => workFor({ ...row.spec, verb: row.verb }, pinnedRunbook(row));

const skip = async (
  { inventory }: RolloutDeps,
  { id, project }: RolloutRow,
  target: Pick<TargetRow, 'position' | 'node_uuid' | 'owner' | 'lessee'>,
  why: { readonly code: string; readonly rule?: string; readonly reason: string },
): Promise<Began> => {
  await inventory.transaction(async (store) => {
    if (!(await store.rolloutTargets.skip(id, target.position, why))) return;
    const { node_uuid, owner, lessee } = target;
    const data = { rollout: id, ...why };
    await store.events.append({
      kind: 'rollout.target.skipped',
      node_uuid,
      project: owner ?? project,
      lessee,
      rollout_id: id,
      data,
    });
  });
  return { is: 'skipped', code: why.code };
};

type Placing = {
  readonly run: RunUuid;
  readonly runbook: RunOrder['runbook'];
  readonly overriding: Overriding | undefined;
};

/** Admits the target, or throws to roll the acceptance back. */
const place = async (
  store: Queries,
  rollout: RolloutRow,
  target: TargetRow,
  { run, runbook, overriding }: Placing,
): Promise<void> => {
  // The rules were checked on an earlier read of the runbook.
  if (runbook && !(await store.runbooks.unchanged(runbook.uuid, runbook.updated_at ?? null)))
    throw new Stopped({ is: 'waits', code: 'held' });
  const { id, plan_hash } = rollout;
  const { position, node_uuid } = target;
  const admission = await store.rolloutAdmission.admit({ rollout: id, plan_hash, position, node_uuid, run });
  switch (admission.is) {
    case 'admitted':
      break;
    case 'full':
      throw new Stopped(admission);
    case 'changed':
      throw new Stopped({ is: 'skipped', code: 'changed_since_plan' });
    case 'closed':
      throw new Stopped({ is: 'closed' });
    case 'begun':
      throw new Stopped({ is: 'waits', code: 'begun' });
  }
  // Checked after the counters are locked, so that locks keep one order.
  const spent = await store.disruptionBudgets.spentFor(node_uuid);
  if (spent.length === 0) return;
  if (!overriding) throw new Stopped({ is: 'full', scope: 'disruption_budget', value: spent[0]!.uuid });
  await recordOverridden(store, overriding, { target, run, spent });
};

const changedHands = {
  code: 'changed_since_plan',
  reason: 'The node has another owner, lessee or lease than when the plan was made.',
};

const sameHands = (target: TargetRow, { owner, lessee, lease_id }: NodeRow): boolean =>
  target.owner === owner && target.lessee === lessee && target.lease_id === lease_id;

/** Effects of the run that the plan did not show; undefined if there are none. */
const beyondPlan = (
  target: TargetRow,
  { erases, power_cycles, also_nodes }: Prepared,
): typeof changedHands | undefined => {
  const more = (does: string, said: string) => ({
    code: 'changed_since_plan',
    reason: `The run would ${does} by now, and the plan said that it would ${said}; plan the node again.`,
  });
  if (erases && !target.erases) return more("erase data on the node's disks", 'erase none');
  if (power_cycles > 0 && target.power_cycles === 0) return more("interrupt the node's power", 'not');
  const planned = target.also_nodes;
  if (planned && also_nodes.some((node) => !planned.includes(node))) return more('run steps on further nodes', 'not');
  return undefined;
};

const noConsent = { code: 'no_consent', reason: 'The tenant has not answered in time.' };
const noSecondConsent = { code: 'no_consent', reason: 'The tenant has not agreed to another attempt.' };

const settled = ({ inventory }: RolloutDeps, rollout: RolloutRow, target: TargetRow) =>
  inventory.transaction((store) => store.rolloutConsents.settle(rollout, target));

type Candidate = { readonly rollout: RolloutRow; readonly target: TargetRow; readonly node: NodeRow };

/**
 * The plan marks targets that need consent, but a failed target loses the mark.
 * A rule that exempted the target at planning must still admit the grantee.
 */
const tenantHasSay = (deps: RolloutDeps, { rollout, target, node }: Candidate): boolean => {
  if (target.code === 'leased' || target.asked_at !== null) return true;
  const tenant = tenantOf(target);
  if (tenant === null || asksItself(tenant, rollout) || target.power_cycles === 0) return false;
  return !passesTenant(deps, rollout, node);
};

/** Undefined if the tenant does not object. */
const heldByTenant = async (deps: RolloutDeps, candidate: Candidate): Promise<Began | undefined> => {
  if (!tenantHasSay(deps, candidate)) return undefined;
  const { rollout, target, node } = candidate;
  const consent = await settled(deps, rollout, target);
  if (consent === 'given' || (consent === 'forced' && passesTenant(deps, rollout, node))) return undefined;
  // The target stays failed, so its tenant is not asked twice.
  if (target.state === 'failed' && consent !== 'waits') return skip(deps, rollout, target, noSecondConsent);
  if (consent === 'forced') return skip(deps, rollout, target, noConsent);
  return consent === 'refused' ? { is: 'skipped', code: 'tenant_refused' } : { is: 'waits', code: 'consent' };
};

const againMs = 10_000;

const mayForce = ({ spec }: Pick<RolloutRow, 'spec'>): boolean => termsOf(spec).force === 'rule';

/** Rules may be checked for the grant: the rollout runs, the grantee has the rights, and this process has the current policy. */
const actsNow = async (
  { authority, unready }: RolloutDeps,
  { state, granted, granted_at }: RolloutRow,
): Promise<boolean> => {
  if (state !== 'running' || !granted || !granted_at) return false;
  return (await authority(granted, granted_at)) === 'holds' && (await unready?.()) === undefined;
};

/** Skips targets without an answer in time, or forces them if rollout and rule allow. */
export const passOverdue = async (deps: RolloutDeps, rollout: RolloutRow): Promise<void> => {
  const overdue = await deps.inventory.rolloutConsents.overdue(rollout.id);
  if (overdue.length === 0 || (mayForce(rollout) && !(await actsNow(deps, rollout)))) return;
  for (const target of overdue)
    if (!(await passSilence(deps, rollout, target))) await skip(deps, rollout, target, noConsent);
};

/** Next consent deadline in epoch milliseconds; null if nothing follows from it. */
export const nextOverdue = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<number | null> => {
  const at = await inventory.rolloutConsents.nextOverdue(rollout.id);
  if (at === null || !mayForce(rollout)) return at?.getTime() ?? null;
  if (rollout.state !== 'running') return null;
  // After the deadline, poll until the grantee has the rights again.
  const now = await inventory.clock();
  return at.getTime() > now ? at.getTime() : now + againMs;
};

/**
 * Begins one target. Throws errors that are not the node's, such as an unavailable PostgreSQL or a bug.
 * @param prepare shared checks of a batch; node, freezes and consent are read here
 */
export const beginTarget = async (
  deps: RolloutDeps,
  rollout: RolloutRow,
  target: TargetRow,
  prepare?: Prepare,
): Promise<Began> => {
  const { inventory, runs, prepareFor, log } = deps;
  const node = await inventory.nodes.find({ uuid: target.node_uuid });
  if (!node) return skip(deps, rollout, target, { code: 'gone', reason: 'The node is no longer enrolled.' });
  if (!sameHands(target, node)) return skip(deps, rollout, target, changedHands);
  const held = await heldByTenant(deps, { rollout, target, node });
  if (held) return held;
  const frozen = await inventory.freezes.active(target.node_uuid);
  if (frozen) return { is: 'waits', code: 'frozen' };
  const checks = prepare ?? (await prepareFor([node]));
  const { refusals, prepared } = await checks({
    who: rollout.granted!,
    requester: rollout.requester,
    work: workOf(rollout),
    node,
    want: 'first',
  });
  const [refused] = refusals;
  // Not the node's fault: the rollout pauses, and the target stays.
  if (refused?.code === 'withdrawn') return { is: 'skipped', code: 'withdrawn' };
  if (refused)
    return passingCodes.includes(refused.code)
      ? { is: 'waits', code: refused.code }
      : skip(deps, rollout, target, refused);
  const beyond = beyondPlan(target, prepared!);
  if (beyond) return skip(deps, rollout, target, beyond);
  try {
    const overriding = overridingOf(deps, rollout, node);
    const { run } = await runs.start({ ...prepared!.order, batch: rollout.id }, (store, id) =>
      place(store, rollout, target, { run: id, runbook: prepared!.order.runbook, overriding }),
    );
    return { is: 'begun', run };
  } catch (thrown) {
    if (thrown instanceof Stopped)
      return thrown.began.is === 'skipped' ? skip(deps, rollout, target, changedHands) : thrown.began;
    // The node was taken or changed since the check.
    if (isTemperError(thrown, 'NodeLocked') || isTemperError(thrown, 'InvalidState'))
      return { is: 'waits', code: 'held' };
    if (isTemperError(thrown, 'RevisionWithdrawn')) return { is: 'skipped', code: 'withdrawn' };
    // The acceptance repeats such a refusal every time.
    const refusal = isTemperError(thrown) ? refusalOf(thrown) : undefined;
    if (refusal)
      return passingCodes.includes(refusal.code)
        ? { is: 'waits', code: refusal.code }
        : skip(deps, rollout, target, refusal);
    log.warn('a target of a rollout could not be begun', {
      rollout: rollout.id,
      node_uuid: target.node_uuid,
      reason: String(thrown),
    });
    throw thrown;
  }
};
