/** Answer schemas of rollouts. */
import { z } from 'zod';
import type { GateRecord } from '../model/rollouts/gates';
import { type ProgressPart, progressParts } from '../model/rollouts/progress';
import type { RolloutSpec, RolloutSummary } from '../model/rollouts/spec';
import { rolloutStates, targetStates } from '../model/rollouts/states';
import { count, document, id, list, maybe, maybeTime, pageOf, person, text, time, typed } from './parts';

const wave = z.strictObject({
  wave: count,
  size: count,
  advance: text,
  soak_ms: count,
  opened_at: maybeTime,
  closed_at: maybeTime,
  gate: typed<GateRecord | null>(z.unknown()),
  /** The person who opened it; null if no person did. */
  opened_by: person.nullable(),
  opened_reason: maybe,
  states: z.record(text, count),
});
export type RolloutWave = z.output<typeof wave>;

const counter = z.strictObject({
  scope: text,
  value: text,
  budget: count.nullable(),
  most: count.nullable(),
  per_minute: count.nullable(),
  in_flight: count,
  failed: count,
  parked: count,
  done: count,
});
export type RolloutCounter = z.output<typeof counter>;

const seenByTenants = {
  uuid: id,
  state: z.enum(rolloutStates),
  verb: text,
  runbook: z.strictObject({ uuid: id, name: text, revision: count }).nullable(),
  created_at: time,
  started_at: maybeTime,
  finished_at: maybeTime,
  links: z.strictObject({ self: text }),
};

const head = {
  ...seenByTenants,
  name: maybe,
  project: maybe,
  code: maybe,
  reason: maybe,
  wave: count,
  waves_total: count,
  plan_hash: text,
  plan_number: count,
  requester: person,
  approvers: count.nullable(),
  grant: person.nullable(),
  reverts: id.nullable(),
  ending: maybe,
  submitted_at: maybeTime,
  start_at: maybeTime,
  updated_at: time,
};

const part = z.strictObject(seenByTenants);
const listedRollout = z.union([z.strictObject(head), part]);

export const rolloutList = pageOf('rollouts', listedRollout);

const whole = z.strictObject({
  ...head,
  spec: typed<RolloutSpec>(document),
  summary: typed<RolloutSummary>(document),
  seed: text,
  guard: typed<GateRecord>(document).nullable(),
  waves: list(wave),
  counters: list(counter),
  states: z.record(text, count),
});

export const rollout = z.union([whole, part]);
/** As a reader meets it: lists have only the head, and tenants see only the part. */
export type Rollout = z.output<typeof part> & Partial<z.output<typeof whole>>;

const targetAnswer = z.strictObject({
  answer: z.enum(['now', 'at', 'in', 'refuse']),
  at: maybeTime,
  window: maybe,
  by: person,
  reason: maybe,
  given_at: time,
});
export type TargetAnswer = z.output<typeof targetAnswer>;

export const rolloutTarget = z.strictObject({
  position: count,
  node_uuid: id,
  node_name: maybe,
  wave: count.nullable(),
  state: z.enum(targetStates),
  code: maybe,
  rule: maybe,
  reason: maybe,
  power_cycles: count,
  erases: z.boolean(),
  domains: z.record(text, text).optional(),
  expected_ms: count.nullable(),
  p95_ms: count.nullable(),
  not_before: maybeTime,
  run: id.nullable(),
  admitted_at: maybeTime,
  soak_until: maybeTime,
  ended_at: maybeTime,
  /** Of a failed target; null after its work has begun again. */
  retry_requested_at: maybeTime,
  /** The person whose rollout it is: who started it, or planned it so far. */
  request: z.strictObject({ by: person, reason: maybe }),
  /** The newest of the project that uses the node. */
  answer: targetAnswer.nullable(),
});
export type RolloutTarget = z.output<typeof rolloutTarget>;

export const rolloutTargets = pageOf('targets', rolloutTarget);

/** `will`: the abort's effect on a run. */
export const rolloutAborted = z.strictObject({
  rollout: whole,
  running: list(z.strictObject({ node_uuid: id, node_name: maybe, run: id.nullable(), will: text })),
});
export type RolloutAborted = z.output<typeof rolloutAborted>;

/** `wanted` is the number of approvals needed. */
export const rolloutVotes = z.strictObject({
  plan_hash: text,
  wanted: count,
  approved: count,
  votes: list(
    z.strictObject({
      user_id: text,
      user_name: maybe,
      vote: z.enum(['approve', 'reject']),
      reason: maybe,
      at: time,
      expires_at: time,
    }),
  ),
});
export type RolloutVotes = z.output<typeof rolloutVotes>;

const slowing = z.strictObject({
  code: z.enum(['paused', 'budget', 'at_once', 'spread', 'held', 'consent', 'window', 'person', 'waits']),
  scope: maybe,
  value: maybe,
  limit: count.nullable(),
  nodes: count,
  until: maybeTime,
  says: text,
});

/** `parts` sum up to `nodes`. */
export const rolloutProgress = z.strictObject({
  uuid: id,
  state: z.enum(rolloutStates),
  nodes: count,
  ended: count,
  parts: z.strictObject(
    Object.fromEntries(progressParts.map((part) => [part, count])) as Record<ProgressPart, typeof count>,
  ),
  at_once: count.nullable(),
  time_left_ms: count.nullable(),
  until_wave: count,
  slowed_by: list(slowing),
});
export type RolloutProgress = z.output<typeof rolloutProgress>;

/** A plan that is not stored. */
export const rolloutPreview = z.strictObject({
  summary: typed<RolloutSummary>(document),
  waves: list(z.strictObject({ wave: count, size: count, advance: text, soak_ms: count })),
  at_once: count.nullable(),
});
export type RolloutPreview = z.output<typeof rolloutPreview>;
