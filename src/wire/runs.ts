/** Answer schemas of runs, steps and node plans. */
import { z } from 'zod';
import { verdictCodes } from '../model/runs/verdicts';
import { count, document, id, list, maybe, maybeTime, pageOf, person, text, time, trueOrFalse, typed } from './parts';

const sources = list(text);

const runStep = z.strictObject({
  index: count,
  interface: typed<string>(maybe),
  step: text,
  system: trueOrFalse,
  abortable: trueOrFalse,
  args: document,
  state: text,
  act: maybe,
  attempt: count,
  attempts: typed<number>(count.nullable()),
  last_error: maybe,
  next_retry_at: maybeTime,
  waiting_for: maybe,
  note: maybe,
  started_at: maybeTime,
  finished_at: maybeTime,
  expected_ms: count.nullable().optional(),
});
export type RunStep = z.output<typeof runStep>;

const runHead = {
  uuid: id,
  node_uuid: id,
  node_name: maybe,
  verb: text,
  state: text,
  requester: person,
  cursor: count,
  waiting_for: maybe,
  last_error: maybe,
  created_at: time,
  started_at: maybeTime,
};

const wholeRun = {
  ...runHead,
  /** `revision` is null for runs of releases without revisions. */
  runbook: z.strictObject({ uuid: id, name: maybe, revision: count.nullable() }).nullable(),
  /** The runbook's parameters; secret values are masked. */
  parameters: document.nullable(),
  rule_set: maybe,
  abort: z.strictObject({ by: text, at: maybeTime }).nullable(),
  owner: maybe,
  lessee: maybe,
  lease: maybe,
  batch: maybe,
  resumes: typed<string | null>(z.unknown()),
  target: maybe,
  finished_at: maybeTime,
  updated_at: maybeTime,
  steps: list(runStep),
  phase: text,
  links: z.strictObject({ self: text, temporal_ui: text.optional() }),
};

export const run = z.strictObject({ ...wholeRun, waiting_since: maybeTime, sources });
export type Run = z.output<typeof run>;
export const runsOfNode = pageOf('runs', z.strictObject(wholeRun)).extend({ sources });

const listedRun = z.strictObject({
  ...runHead,
  runbook: maybe,
  runbook_revision: count.nullable(),
  step: maybe,
  step_count: count,
  retrying: trueOrFalse,
  attempt: count.nullable(),
  waiting_since: maybeTime,
  finished_at: maybeTime,
  updated_at: time,
  links: z.strictObject({ self: text }),
});
export type ListedRun = z.output<typeof listedRun>;
export const openRuns = pageOf('runs', listedRun);

/** `will` describes the effect of a message. */
export const will = z.strictObject({ will: text });
export type Will = z.output<typeof will>;
export const rerun = z.strictObject({ run: id, resumes: id, from: typed<number>(z.unknown()) });
export type Rerun = z.output<typeof rerun>;

const described = z.strictObject({ act: text, effect: text, description: text });

/** The steps that a node supports. */
export const stepCatalogue = z.strictObject({
  driver: text,
  steps: list(
    z.strictObject({
      interface: maybe,
      step: text,
      description: text,
      verbs: list(text),
      priority: count,
      args: z.unknown(),
      acts: list(described),
      effect: maybe,
      timeout: maybe,
      abortable: trueOrFalse,
      may_park: trueOrFalse,
      ramdisk: trueOrFalse,
      allowed: trueOrFalse,
      reserved: trueOrFalse,
    }),
  ),
});

export const firmwareVersions = pageOf(
  'firmware',
  z.strictObject({ vendor: maybe, model: maybe, component: text, version: maybe, nodes: count }),
);

const firmwareDrift = z.strictObject({ component: text, current: maybe, wanted: text, url: text });

const planOutlook = {
  power_cycles: count,
  /** Null if only the ramdisk or the BMC can determine it. */
  erases: trueOrFalse.nullable(),
  expected_ms: count.nullable(),
  p95_ms: count.nullable(),
};

const refusal = z.strictObject({
  code: z.enum(verdictCodes),
  error: text,
  status: count,
  rule: maybe,
  reason: text,
  /** Only for callers who may explain rules. */
  explain: document.optional(),
});

export const nodePlan = z.strictObject({
  node_uuid: id,
  node_name: maybe,
  verb: text,
  does: z.enum(['run', 'move', 'message']),
  provision_state: text,
  target_provision_state: maybe,
  runbook: z.strictObject({ uuid: id, name: text, revision: count.nullable() }).nullable(),
  parameters: document.nullable(),
  /** Differences from the requested baseline; null without one. */
  firmware: list(firmwareDrift).nullable(),
  would_run: trueOrFalse,
  refusals: list(refusal),
  concerns: list(refusal),
  steps: list(
    z.strictObject({
      index: count,
      interface: text,
      step: text,
      /** Null if they are the operator's and a rule refuses the caller. */
      args: document.nullable(),
      system: trueOrFalse,
      node_uuid: id.nullable(),
      acts: list(described),
      abortable: trueOrFalse,
      may_park: trueOrFalse,
      ...planOutlook,
    }),
  ),
  ...planOutlook,
});
export type NodePlan = z.output<typeof nodePlan>;
