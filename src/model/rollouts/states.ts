/** States of rollouts and targets, and codes for their reasons. */

/** A paused rollout begins nothing, but its running work continues. */
export const rolloutStates = [
  'planned',
  'awaiting_approval',
  'scheduled',
  'running',
  'paused',
  'succeeded',
  'stopped',
  'aborted',
  'expired',
] as const;
export type RolloutState = (typeof rolloutStates)[number];

/** Final states. */
export const endedRollouts: readonly RolloutState[] = ['succeeded', 'stopped', 'aborted', 'expired'];

export type PauseCode =
  | 'operator'
  | 'wave_gate'
  | 'gate_failed'
  | 'gate_inconclusive'
  | 'budget_spent'
  | 'authority_lost'
  | 'identity_unavailable'
  | 'revision_withdrawn'
  | 'policy_refuses'
  | 'too_many_skipped'
  | 'window_closed'
  | 'restored';

export const targetStates = [
  'pending',
  'asked',
  'admitted',
  'soaking',
  'done',
  'failed',
  'parked',
  'aborted',
  'skipped',
  'refused',
] as const;
export type TargetState = (typeof targetStates)[number];

/** The states that allow each act. */
export const rolloutActs = {
  replan: ['planned', 'awaiting_approval', 'scheduled'],
  submit: ['planned'],
  start: ['planned', 'awaiting_approval', 'scheduled'],
  pause: ['running'],
  resume: ['paused'],
  advance: ['paused'],
  abort: ['planned', 'awaiting_approval', 'scheduled', 'running', 'paused'],
  adopt: ['scheduled', 'running', 'paused'],
  rollback: ['running', 'paused', 'succeeded', 'stopped', 'aborted'],
} as const satisfies Readonly<Record<string, readonly RolloutState[]>>;
