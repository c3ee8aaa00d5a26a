/** What gates say of a rollout: at the end of a wave, and before its nodes are begun. */
import type { RolloutRow, WaveRow } from '../inventory/rollouts/rollouts';
import {
  type Gate,
  type GateAnswer,
  type GateRecord,
  inconclusive,
  isGateRecord,
  laterAtMostMs,
} from '../model/rollouts/gates';
import type { TargetState } from '../model/rollouts/states';
import type { RolloutDeps, RolloutSpec } from './contract';
import type { GateFacts } from './gates';

type Seen = {
  readonly rollout: RolloutRow;
  readonly waves: readonly WaveRow[];
  readonly counts: readonly { readonly wave: number | null; readonly state: TargetState; readonly targets: number }[];
};

const specOf = ({ spec }: RolloutRow) => spec as unknown as Partial<RolloutSpec>;

/** What became of the nodes of the wave, and which rollout it is; nothing of its nodes, which are their tenants'. */
const factsOf = ({ rollout, waves, counts }: Seen): GateFacts => {
  const { id, name, project, verb, runbook_name: runbook, runbook_revision: revision, plan_hash, wave } = rollout;
  const states: Record<string, number> = {};
  for (const row of counts) if (row.wave === wave) states[row.state] = (states[row.state] ?? 0) + row.targets;
  return {
    rollout: id,
    name,
    project,
    verb,
    runbook,
    revision,
    plan_hash,
    wave: wave + 1,
    waves: waves.length,
    states,
  };
};

const none = (): Promise<GateAnswer> => Promise.resolve(inconclusive('This control worker asks no gates.'));

/** What is answered now, and what of it is kept. */
type Passing = { readonly answer: GateAnswer; readonly record: GateRecord };

type Later = Extract<GateAnswer, { is: 'later' }>;

/** A gate that has asked for time is not asked before that is over. */
const stillLater = (before: unknown, now: number): Later | undefined => {
  if (!isGateRecord(before) || before.answer !== 'later' || before.until === null) return undefined;
  const ms = Date.parse(before.until) - now;
  return ms > 0 ? { is: 'later', ms, note: before.note } : undefined;
};

/** Asks the gate of the wave that is over; undefined where it has none, or a person has passed it. `later` for too long is inconclusive. */
export const passGate = async ({ gates, inventory }: RolloutDeps, seen: Seen): Promise<Passing | undefined> => {
  const { rollout, waves } = seen;
  const gate: Gate | undefined = specOf(rollout).waves?.[rollout.wave]?.gate;
  if (!gate) return undefined;
  const before = waves[rollout.wave]!.gate;
  if (isGateRecord(before) && before.passed) return undefined;
  const now = await inventory.clock();
  const since = isGateRecord(before) && before.answer === 'later' ? Date.parse(before.since) : now;
  const said = stillLater(before, now) ?? (await (gates?.ask(gate, factsOf(seen)) ?? none()));
  const answer =
    said.is === 'later' && now + said.ms - since > laterAtMostMs
      ? inconclusive('The gate has put its answer off for too long.')
      : said;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const until = answer.is === 'later' ? iso(now + answer.ms) : null;
  return { answer, record: { answer: answer.is, note: answer.note, at: iso(now), since: iso(since), until } };
};

/** Asks what guards the rollout; a pass where nothing does. */
export const passGuard = async ({ gates }: RolloutDeps, seen: Seen): Promise<GateAnswer> => {
  const { guard } = specOf(seen.rollout);
  return guard ? (gates?.guard(guard, factsOf(seen)) ?? none()) : { is: 'pass', note: '' };
};
