/** Opens the next wave of a rollout, and records who passes its gate. */
import type { Queries } from '../../../inventory';
import type { RolloutRow } from '../../../inventory/rollouts/rollouts';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import { type GateRecord, isKeptByGate } from '../../../model/rollouts/gates';

type Passed = Pick<GateRecord, 'answer' | 'note'>;

export const hasNextWave = ({ wave, summary }: RolloutRow): boolean => wave + 1 < summary.waves.length;

/**
 * Runs in the act's transaction. If the gate of this wave keeps the rollout, the caller passes it. After the last wave, only the gate is
 * passed, and the rollout ends automatically.
 * @returns the gate's answer, for the audit row. Throws Conflict if the rollout does not wait at a wave's end.
 */
export const openNext = async (
  store: Queries,
  row: RolloutRow,
  { who, reason }: { readonly who: Caller; readonly reason: string },
): Promise<{ readonly gate: Passed } | undefined> => {
  const { id, code, wave } = row;
  const gate = (await store.rollouts.waves(id))[wave]?.gate;
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
