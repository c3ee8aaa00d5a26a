/** Begins targets in the order of the plan, past those that wait. */
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { TargetRow } from '../inventory/rollouts/targets';
import { type Began, beginTarget } from './admit';
import type { Prepare, RolloutDeps } from './contract';
import { pause } from './moving';
import { refusedInARow } from './standstill';

const targetsAtOnce = 50;
const pageSize = 4 * targetsAtOnce;
const seenAtOnce = 5 * pageSize;
// Targets whose checks share their data. With more, the last ones would use stale data.
const preparedAtOnce = 25;

/** Counts refusals by rule in a row. */
const countRefusals = async ({ inventory }: RolloutDeps, rollout: RolloutRow, began: Began): Promise<number> => {
  const refused =
    began.is === 'skipped' && began.code === 'rule'
      ? rollout.refused_in_row + 1
      : began.is === 'begun'
        ? 0
        : rollout.refused_in_row;
  if (refused !== rollout.refused_in_row) await inventory.rollouts.refusedInRow(rollout.id, refused);
  return refused;
};

/** `waits`: poll for a target; `nothing`: wait for an event. */
export type Follows = 'more' | 'waits' | 'nothing';

export const beginDue = async (deps: RolloutDeps, rollout: RolloutRow): Promise<Follows> => {
  let looked: Looked = { rollout, begun: 0, waiting: 0, progressed: false, follows: 'nothing' };
  // Targets behind waiting ones may begin.
  for (let seen = 0; seen < seenAtOnce; seen += pageSize) {
    const due = await deps.inventory.rolloutDue.targets(rollout.id, rollout.wave, pageSize, looked.waiting);
    looked = await beginPage(deps, looked, due);
    if (looked.stop) return looked.stop;
    if (due.length < pageSize || looked.progressed) break;
  }
  return looked.progressed ? 'more' : looked.follows;
};

type Looked = {
  readonly rollout: RolloutRow;
  readonly begun: number;
  /** Targets that stay due. */
  readonly waiting: number;
  readonly progressed: boolean;
  readonly follows: Follows;
  /** Ends the pass. */
  readonly stop?: Follows;
};

const beginPage = async (deps: RolloutDeps, before: Looked, due: readonly TargetRow[]): Promise<Looked> => {
  let looked = before;
  for (let from = 0; from < due.length; from += preparedAtOnce) {
    const together = due.slice(from, from + preparedAtOnce);
    const prepare = await deps.prepareFor(together.map(({ node_uuid: uuid }) => ({ uuid })));
    for (const target of together) {
      looked = await beginNext(deps, looked, target, prepare);
      if (looked.stop) return looked;
    }
  }
  return looked;
};

const beginNext = async (deps: RolloutDeps, before: Looked, target: TargetRow, prepare: Prepare): Promise<Looked> => {
  if (before.begun >= targetsAtOnce) return { ...before, stop: 'more' };
  const began = await beginTarget(deps, before.rollout, target, prepare);
  const rollout = { ...before.rollout, refused_in_row: await countRefusals(deps, before.rollout, began) };
  const begun = before.begun + Number(began.is === 'begun');
  const progressed = before.progressed || began.is === 'begun' || began.is === 'skipped';
  const looked = { ...before, rollout, begun, progressed };
  if (began.is === 'closed') return { ...looked, stop: 'nothing' };
  if (rollout.refused_in_row >= refusedInARow) return { ...looked, stop: 'more' }; // the next pass pauses it
  if (began.is === 'skipped' && began.code === 'withdrawn') {
    await pause(
      deps,
      rollout,
      'revision_withdrawn',
      'The revision that it runs by was withdrawn, or the runbook is gone.',
    );
    return { ...looked, stop: 'nothing' };
  }
  // If a domain is full, others may have room; if rollout or wave is full, none has.
  if (began.is === 'full' && ['total', 'wave'].includes(began.scope)) return { ...looked, stop: before.follows };
  if (began.is === 'waits' || (began.is === 'full' && began.scope === 'disruption_budget'))
    return { ...looked, waiting: before.waiting + 1, follows: 'waits' };
  return looked;
};
