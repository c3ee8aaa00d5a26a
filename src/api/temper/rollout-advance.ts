/** What advancing a rollout does to its waves: the next one opens, and a gate that has not let it is passed by a person. */
import type { Queries } from '../../inventory';
import type { RolloutRow } from '../../inventory/rollouts/rollouts';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { type GateRecord, isKeptByGate } from '../../model/rollouts/gates';

type Passed = Pick<GateRecord, 'answer' | 'note'>;

/** Whether there is a wave after the open one. */
export const hasNextWave = ({ wave, summary }: RolloutRow): boolean => wave + 1 < (summary.waves as unknown[]).length;

/**
 * Opens the next wave, and notes at the gate of this one, where its answer keeps the rollout, who passes it and why. After the last
 * wave the gate alone is passed: the rollout ends by itself. In the transaction of the act.
 * @returns the answer that is passed, for the audit trail. Throws Conflict where the rollout waits at the end of no wave.
 */
export const openNext = async (
  store: Queries,
  row: RolloutRow,
  { who, reason }: { readonly who: Caller; readonly reason: string },
): Promise<{ readonly gate: Passed } | undefined> => {
  const { id, code, wave } = row;
  const gate: unknown = (await store.rollouts.waves(id))[wave]?.gate;
  const isKept = isKeptByGate(gate, code);
  if (code !== 'wave_gate' && !isKept)
    return raise('Conflict', {
      reason: `Rollout ${id} does not wait at the end of a wave (${code ?? 'no reason'}); resume it instead.`,
    });
  if (isKept) {
    const passed = { by: who.user_name ?? who.user_id ?? '', reason, at: new Date().toISOString() };
    await store.rollouts.closeWave(id, wave, { ...gate, passed });
  }
  if (hasNextWave(row)) await store.rollouts.openWave(id, wave + 1);
  return isKept ? { gate: { answer: gate.answer, note: gate.note } } : undefined;
};
