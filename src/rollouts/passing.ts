/** Gate and guard checks of a rollout. */
import type { RolloutRow, WaveRow } from '../inventory/rollouts/rollouts';
import {
  type Gate,
  type GateAnswer,
  type GateRecord,
  guardMs,
  inconclusive,
  laterAtMostMs,
} from '../model/rollouts/gates';
import { noSamples, withSamples } from '../model/rollouts/samples';
import type { TargetState } from '../model/rollouts/states';
import type { RolloutDeps } from './contract';
import type { GateFacts } from './gates';

type Seen = {
  readonly rollout: RolloutRow;
  readonly waves: readonly WaveRow[];
  readonly counts: readonly { readonly wave: number | null; readonly state: TargetState; readonly targets: number }[];
};

/** Without node data, because it belongs to tenants. */
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

const noGates = (): Promise<GateAnswer> => Promise.resolve(inconclusive('This control worker asks no gates.'));

/** The answer, and the record to keep. */
type Passing = { readonly answer: GateAnswer; readonly record: GateRecord };

/** Milliseconds; infinite if the database clock was set back, so that the answer is not trusted. */
const ageOf = ({ at }: GateRecord, now: number): number => {
  const age = now - Date.parse(at);
  return age >= 0 ? age : Number.POSITIVE_INFINITY;
};

/** A deferral by an earlier answer, while it lasts. */
const stillLater = (before: GateRecord, now: number): Passing | undefined => {
  const ms = before.until === null ? 0 : Date.parse(before.until) - now;
  return ms > 0 && Number.isFinite(ageOf(before, now))
    ? { answer: { is: 'later', ms, note: before.note }, record: before }
    : undefined;
};

type Asking = {
  readonly gate: Gate;
  readonly of: 'wave' | 'guard';
  /** The last answer's record. */
  readonly before: GateRecord | null;
  readonly now: number;
};

/** A webhook that defers for too long is inconclusive. */
const askInTime = async (asking: Asking, ask: () => Promise<GateAnswer>): Promise<Passing> => {
  const { gate, of, before, now } = asking;
  const deciding = before?.answer === 'later' ? before : undefined;
  const waits = deciding && stillLater(deciding, now);
  if (waits) return waits;
  const since = deciding ? Date.parse(deciding.since) : now;
  const { answer: said, samples } = withSamples(gate, deciding?.samples ?? noSamples, await ask(), of);
  const tooLong = 'webhook' in gate && said.is === 'later' && now + said.ms - since > laterAtMostMs;
  const answer = tooLong ? inconclusive('The gate has put its answer off for too long.') : said;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const until = answer.is === 'later' ? iso(now + answer.ms) : null;
  const record = { answer: answer.is, note: answer.note, at: iso(now), since: iso(since), until };
  return { answer, record: { ...record, ...(samples && { samples }) } };
};

/** Undefined if the wave has no gate or an operator has passed it. */
export const passGate = async ({ gates, inventory }: RolloutDeps, seen: Seen): Promise<Passing | undefined> => {
  const { rollout, waves } = seen;
  const gate = rollout.spec.waves[rollout.wave]?.gate;
  if (!gate) return undefined;
  const before = waves[rollout.wave]!.gate;
  if (before?.passed) return undefined;
  const asking = { gate, of: 'wave', before, now: await inventory.clock() } as const;
  return askInTime(asking, async () => gates?.ask(gate, factsOf(seen)) ?? noGates());
};

/** Passes without a guard. A pass is cached for a while. */
export const passGuard = async ({ gates, inventory }: RolloutDeps, seen: Seen): Promise<GateAnswer> => {
  const { rollout } = seen;
  const { guard } = rollout.spec;
  if (!guard) return { is: 'pass', note: '' };
  const before = rollout.guard;
  const now = await inventory.clock();
  if (before?.answer === 'pass' && ageOf(before, now) < guardMs) return { is: 'pass', note: before.note };
  const asking = { gate: guard, of: 'guard', before, now } as const;
  const { answer, record } = await askInTime(asking, async () => gates?.guard(guard, factsOf(seen)) ?? noGates());
  if (record !== before) await inventory.rollouts.guarded(rollout.id, record);
  return answer;
};
