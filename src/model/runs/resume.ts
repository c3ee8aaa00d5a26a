/** Resumes a run after Temporal lost its workflow, from PostgreSQL's record alone. */
import type { PlannedStep } from '../lifecycle/step-types';
import { actRow, nameOf } from '../lifecycle/steps';
import type { Carried, RunEnding, RunInput, RunState, StepState } from './runs';

/** `acts_ended` includes acts of a later reboot of the ramdisk. */
export type StepRecord = {
  readonly index: number;
  readonly interface: string;
  readonly step: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly abortable: boolean;
  readonly state: StepState;
  readonly acts_ended: readonly string[];
  readonly last_error: string | null;
  /** By PostgreSQL's clock; 0 if not begun. */
  readonly age_ms: number;
};

export type RunRecord = {
  readonly seq: number;
  readonly state: RunState;
  readonly waiting_for: string | null;
  /** Paused by a caller, and not resumed. */
  readonly paused: boolean;
  readonly plan: readonly PlannedStep[] | null;
  readonly ending: RunEnding | null;
  /** The ramdisk has sent its inventory since the waiting step began. */
  readonly inspected?: boolean;
  readonly steps: readonly StepRecord[];
};

const isSettled = ({ state }: StepRecord, { on_failure }: PlannedStep): boolean =>
  state === 'done' || state === 'skipped' || (state === 'failed' && on_failure === 'continue');

/** The plan with the ramdisk's steps; before they joined, that at acceptance or continuation. */
const planOf = (input: RunInput, { plan }: RunRecord): readonly PlannedStep[] =>
  plan ?? input.carries?.steps ?? input.steps;

const within = (names: readonly string[], ended: readonly string[]): boolean =>
  names.every((name) => ended.includes(name));

/**
 * True if a completed step has restarted the node and the ramdisk must boot again. In doubt it boots, which does no harm between two
 * steps.
 */
const lacksRamdisk = (input: RunInput, step: PlannedStep, row: StepRecord, rest: readonly PlannedStep[]): boolean => {
  const { boot } = input;
  if (!boot || step.index <= boot.index || step.awaits !== undefined) return false;
  if (!step.acts.some(({ act }) => actRow(act).endsAgent)) return false;
  if (!rest.some((other) => other.acts.some(({ act }) => actRow(act).by === 'agent'))) return false;
  const names = boot.acts.map(({ act }): string => act);
  const own = step.acts.map(({ act }): string => act);
  return within(names, own) || !within(names, row.acts_ended);
};

const placeIn = (step: PlannedStep, row: StepRecord, record: RunRecord): NonNullable<Carried['within']> => {
  // A ramdisk sends its inventory once, and gives up after a refusal before its boot was on record. So it must boot again.
  if (step.awaits === 'inspection' && row.state !== 'parked' && !record.inspected) return { acts: 0 };
  const ended = step.acts.findIndex(({ act }) => !row.acts_ended.includes(act));
  const acts = ended < 0 ? step.acts.length : ended;
  if (row.state === 'parked') {
    const unknown = record.waiting_for?.includes('cannot be known') ?? false;
    return { acts: Math.min(acts, step.acts.length - 1), parked: { error: row.last_error ?? '', unknown } };
  }
  if (step.waits === 'time') return { acts: 0, elapsedMs: row.age_ms };
  const over = acts === step.acts.length && step.waits === null;
  return { acts, ...(over && step.awaits === undefined && { reboots: true as const }) };
};

/** An active step resumes at its first act that has not ended; the act's intent shows if its command was sent. */
export const carriedFrom = (input: RunInput, record: RunRecord): Carried => {
  const rows = new Map(record.steps.map((row) => [row.index, row]));
  const steps = planOf(input, record).map((step) => ({ ...step, args: rows.get(step.index)?.args ?? step.args }));
  const begun = steps.filter(({ index }) => (rows.get(index)?.state ?? 'pending') !== 'pending');
  const last = begun.at(-1);
  const base = {
    seq: record.seq,
    steps,
    paused: record.paused,
    booted: input.boot !== undefined && (rows.get(input.boot.index)?.state ?? 'pending') !== 'pending',
    resumed: true as const,
    ...(record.ending && { ending: record.ending }),
  };
  if (!last) return { ...base, from: 0, ...(input.limit && { waitsTurn: true }) };
  const at = steps.indexOf(last);
  const row = rows.get(last.index)!;
  // The ramdisk's steps join the plan after its answer. Without a recorded plan they are requested again.
  const joins = last.acts.some(({ act }) => act === 'agent_steps') && record.plan === null;
  if (joins) return { ...base, from: at };
  if (!isSettled(row, last)) return { ...base, from: at, within: placeIn(last, row, record) };
  if (lacksRamdisk(input, last, row, steps.slice(at + 1)))
    return { ...base, from: at, within: { acts: last.acts.length, reboots: true } };
  return { ...base, from: at + 1 };
};

/** For a log. */
export const placeOf = ({ from, steps, ending }: Carried): string =>
  ending ? `ends: ${ending.outcome}` : steps[from] ? `step ${from + 1}: ${nameOf(steps[from])}` : 'its end';
