/** The end of a run in the database, for the run itself and for the reconciler. */
import type { Queries } from '../inventory';
import type { HeldNode } from '../inventory/runs/runs';
import { raise } from '../model/errors';
import {
  type Event,
  type Fault,
  faultStates,
  forgets,
  next,
  type ProvisionState,
  states,
} from '../model/lifecycle/states';
import type { Lock } from '../model/runs/runs';

export type Ending = {
  readonly lock: Lock;
  readonly outcome: 'succeeded' | 'failed' | 'aborted';
  readonly ends: Event | null;
  readonly fault: Fault | null;
  readonly error: string | null;
  readonly cursor: number;
  readonly power: { readonly target: string } | null;
  /** The clean-up failed, so the node stays in the failed state. */
  readonly untidy?: boolean;
};

/**
 * The node's resting state. Null `ends`: the run never moved the node (power).
 * Throws Unexpected if the table has no transition, which is a bug.
 */
export const restingState = (
  from: ProvisionState,
  outcome: Ending['outcome'],
  ends: Event | null,
  untidy = false,
): ProvisionState | null => {
  if (ends === null) return null;
  const to =
    outcome === 'succeeded'
      ? (next(from, ends) ?? afterTearDown(from, ends) ?? afterWait(from, ends))
      : outcome === 'failed'
        ? failed(from)
        : afterAbort(from, untidy);
  return to ?? raise('Unexpected', { request_id: `no way from ${from} after a run that ${outcome}` });
};

// After a restore, a run that has succeeded may still be recorded as waiting.
const afterWait = (from: ProvisionState, ends: Event): ProvisionState | undefined => {
  const going = next(from, 'resume');
  return going && next(going, ends);
};

// Without cleaning, a tear-down still passes through that state.
const afterTearDown = (from: ProvisionState, ends: Event): ProvisionState | undefined => {
  const cleaning = next(from, 'clean');
  return from === 'deleting' && cleaning ? next(cleaning, ends) : undefined;
};

// An aborted service returns its node to use. An aborted cleaning stays failed until a caller manages the node.
const afterAbort = (from: ProvisionState, untidy: boolean): ProvisionState | undefined => {
  const to = next(from, 'abort') ?? next(from, 'fail');
  return untidy ? to : to && (next(to, 'abort') ?? to);
};

// In the table, a held node fails only by an abort; a lost run uses that transition too.
const failed = (from: ProvisionState): ProvisionState | undefined => next(from, 'fail') ?? next(from, 'abort');

const errorText = (ending: Ending): string | null => {
  if (ending.outcome === 'succeeded') return null;
  if (ending.power) return `Failed to change power state to ${ending.power.target}: ${ending.error}`;
  return ending.error;
};

const endOf = (ending: Ending, node: HeldNode, to: ProvisionState | null) => ({
  state: ending.outcome,
  to,
  target: to !== null && states[to].kind === 'stable' ? null : node.target_provision_state,
  error: errorText(ending),
  fault: ending.outcome === 'failed' && to !== null && faultStates[to] === ending.fault ? ending.fault : null,
  cursor: ending.cursor,
  forgetPower: to === 'adopt failed',
  forgetInstance: to !== null && forgets(node.provision_state, to) === 'instance',
});

/** Ends a run and frees its node, in a transaction; idempotent. @returns the resting state, null if the run had none to change */
export const endRun = async (inventory: Queries, ending: Ending): Promise<ProvisionState | null> => {
  const { lock, outcome } = ending;
  const node = await inventory.runs.held(lock);
  if (!node) return endedBefore(inventory, lock);
  const to = restingState(node.provision_state, outcome, ending.ends, ending.untidy);
  const end = endOf(ending, node, to);
  const said = () =>
    inventory.events.append({
      kind: `run.${outcome}`,
      node_uuid: lock.node_uuid,
      run_id: lock.run,
      project: node.owner,
      lessee: node.lessee,
      data: { from: node.provision_state, to, error: end.error },
    });
  // Sent without waiting: the transaction's connection executes them in this order.
  await Promise.all([
    inventory.runSteps.failAt(lock.run, ending.cursor, end.error),
    inventory.runs.finish(lock, end),
    to !== null && forgets(node.provision_state, to) ? inventory.secrets.dropUnused(lock.node_uuid) : undefined,
    outcome === 'succeeded' && to !== null && node.maintenance ? recovered(inventory, node).then(said) : said(),
  ]);
  return to;
};

/** Clears the maintenance of a failed service when its node is in use again or torn down. A failed cleaning needs an operator. */
export const recovered = async (
  inventory: Queries,
  { uuid, owner, lessee }: Pick<HeldNode, 'uuid' | 'owner' | 'lessee'>,
): Promise<void> => {
  if (!(await inventory.runs.leaveFault(uuid, 'service failure'))) return;
  await inventory.events.append({
    kind: 'node.maintenance.cleared',
    node_uuid: uuid,
    project: owner,
    lessee,
    data: { maintenance: false, maintenance_reason: null },
  });
};

const endedBefore = async (inventory: Queries, lock: Lock): Promise<ProvisionState | null> => {
  const run = await inventory.runs.find(lock.run);
  if (!run?.finished_at) return raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  return null;
};
