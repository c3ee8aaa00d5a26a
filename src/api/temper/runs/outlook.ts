/** Present phase of a run, and the expected duration of its steps. */
import type { Expectation } from '../../../inventory/runs/step-durations';
import { endedStates, type RunState, type StepState } from '../../../model/runs/runs';

/** `queued`: accepted, not started. `retrying`: after a failed attempt, until the next one ends. */
export type Phase =
  | 'queued'
  | 'starting'
  | 'acting'
  | 'retrying'
  | 'waiting'
  | 'parked'
  | 'paused'
  | 'ending'
  | 'ended';

const byState: Partial<Record<RunState, Phase>> = {
  accepted: 'queued',
  waiting: 'waiting',
  parked: 'parked',
  paused: 'paused',
};

type OutlookInput = {
  readonly state: RunState;
  readonly cursor: number;
  readonly waiting_for: string | null;
  readonly steps: readonly {
    readonly index: number;
    readonly state: StepState;
    readonly last_error: string | null;
    readonly next_retry_at: string | null;
  }[];
};

export const phaseOf = ({ state, cursor, waiting_for, steps }: OutlookInput): Phase => {
  if (endedStates.includes(state)) return 'ended';
  const known = byState[state];
  if (known) return known;
  if (waiting_for !== null) return 'waiting';
  const step = steps.find(({ index }) => index === cursor);
  if (step?.state === 'running' && (step.next_retry_at !== null || step.last_error !== null)) return 'retrying';
  if (!step) return steps.length > 0 && cursor >= steps.length ? 'ending' : 'starting';
  return step.state === 'pending' ? 'starting' : 'acting';
};

export const withOutlook = <Run extends OutlookInput>(run: Run, { waiting_since, expected_ms }: Expectation) => ({
  ...run,
  phase: phaseOf(run),
  waiting_since: run.waiting_for === null ? null : (waiting_since?.toISOString() ?? null),
  steps: run.steps.map((step) => ({ ...step, expected_ms: expected_ms[step.index] ?? null })),
});
