/** What the answers of our own routes hold: for the API's description, against which tests hold every answer. */
import { z } from 'zod';
import { masked } from '../../model/access/secrets';
import { verdictCodes } from '../../model/runs/verdicts';

const text = z.string();
const maybe = text.nullable();
const id = z.guid();
const time = z.iso.datetime({ offset: true });
const maybeTime = time.nullable();
const count = z.int();
const trueOrFalse = z.boolean();
const document = z.record(text, z.unknown());
const listOf = <Key extends string, One extends z.ZodType>(key: Key, one: One) =>
  z.object({ [key]: z.array(one) } as Record<Key, z.ZodArray<One>>).strict();

const sources = z.array(text);

const amount = z.union([count, text]);

export const disruptionBudget = z.strictObject({
  uuid: id,
  project: text,
  query: z.record(text, z.array(text)),
  max_unavailable: amount.nullable(),
  min_available: amount.nullable(),
  description: maybe,
  nodes: count,
  unavailable: count,
  may_be_taken: count,
  created_at: time,
  updated_at: maybeTime,
  links: z.strictObject({ self: text }),
});
export const projectWindow = z.strictObject({
  uuid: id,
  project: text,
  name: text,
  days: z.array(text),
  from: text,
  minutes: count,
  zone: text,
  open: trueOrFalse,
  opens_at: time,
  closes_at: time,
  created_at: time,
  links: z.strictObject({ self: text }),
});
export const projectWindows = listOf('windows', projectWindow);
export const disruptionBudgets = listOf('disruption_budgets', disruptionBudget);

const runStep = z.strictObject({
  index: count,
  interface: maybe,
  step: text,
  system: trueOrFalse,
  abortable: trueOrFalse,
  args: document,
  state: text,
  act: maybe,
  attempt: count,
  attempts: count.nullable(),
  last_error: maybe,
  next_retry_at: maybeTime,
  waiting_for: maybe,
  note: maybe,
  started_at: maybeTime,
  finished_at: maybeTime,
  expected_ms: count.nullable().optional(),
});

const runHead = {
  uuid: id,
  node_uuid: id,
  node_name: maybe,
  verb: text,
  state: text,
  requester: document,
  cursor: count,
  waiting_for: maybe,
  last_error: maybe,
  created_at: time,
  started_at: maybeTime,
};

const wholeRun = {
  ...runHead,
  /** `revision` is null for runs of releases that had none. */
  runbook: z.strictObject({ uuid: id, name: maybe, revision: count.nullable() }).nullable(),
  /** Of the runbook, as the run was given them; secret values are masked. */
  parameters: document.nullable(),
  rule_set: maybe,
  abort: z.strictObject({ by: text, at: maybeTime }).nullable(),
  owner: maybe,
  lessee: maybe,
  lease: maybe,
  batch: maybe,
  resumes: z.unknown(),
  target: maybe,
  finished_at: maybeTime,
  updated_at: maybeTime,
  steps: z.array(runStep),
  phase: text,
  links: z.strictObject({ self: text, temporal_ui: text.optional() }),
};

/** One run, with what only the engine and the past know. */
export const run = z.strictObject({ ...wholeRun, waiting_since: maybeTime, sources });
/** Runs of one node. */
export const runsOfNode = z.strictObject({ runs: z.array(z.strictObject(wholeRun)), sources });

/** Runs of all nodes. */
export const openRuns = listOf(
  'runs',
  z.strictObject({
    ...runHead,
    runbook: maybe,
    runbook_revision: count.nullable(),
    step: maybe,
    step_count: count,
    retrying: trueOrFalse,
    finished_at: maybeTime,
    updated_at: time,
    links: z.strictObject({ self: text }),
  }),
);

/** What a run will do with a message. */
export const will = z.strictObject({ will: text });
export const rerun = z.strictObject({ run: id, resumes: id, from: z.unknown() });

const described = z.strictObject({ act: text, effect: text, description: text });

/** What can run on a node. */
export const stepCatalogue = z.strictObject({
  driver: text,
  steps: z.array(
    z.strictObject({
      interface: maybe,
      step: text,
      description: text,
      verbs: z.array(text),
      priority: count,
      args: z.unknown(),
      acts: z.array(described),
      effect: maybe,
      patience: maybe,
      abortable: trueOrFalse,
      may_park: trueOrFalse,
      ramdisk: trueOrFalse,
      allowed: trueOrFalse,
      reserved: trueOrFalse,
    }),
  ),
});

/** What is wrong with a runbook, or may be. */
export const firmwareVersions = listOf(
  'firmware',
  z.strictObject({ vendor: maybe, model: maybe, component: text, version: maybe, nodes: count }),
);

const firmwareDrift = z.strictObject({ component: text, current: maybe, wanted: text, url: text });

const planOutlook = {
  power_cycles: count,
  /** Null where only the ramdisk or the BMC knows. */
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
  /** For callers who may ask why a rule refuses. */
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
  /** What differs from the baseline that was asked for; null where none was. */
  firmware: z.array(firmwareDrift).nullable(),
  would_run: trueOrFalse,
  refusals: z.array(refusal),
  concerns: z.array(refusal),
  steps: z.array(
    z.strictObject({
      index: count,
      interface: text,
      step: text,
      /** Null where they are the operator's, and a rule refuses the caller. */
      args: document.nullable(),
      system: trueOrFalse,
      node_uuid: id.nullable(),
      acts: z.array(z.strictObject({ act: text, effect: text, description: text })),
      abortable: trueOrFalse,
      may_park: trueOrFalse,
      ...planOutlook,
    }),
  ),
  ...planOutlook,
});

export const runbookCheck = z.strictObject({
  errors: count,
  warnings: count,
  findings: z.array(
    z.strictObject({
      severity: z.enum(['error', 'warning']),
      index: count.nullable(),
      step: maybe,
      node: maybe,
      says: text,
    }),
  ),
});

const runbookParameter = z.strictObject({
  name: text,
  description: text.optional(),
  schema: document,
  default: z.unknown().optional(),
  secret: trueOrFalse.optional(),
});

export const runbookParameters = z.strictObject({ revision: count, parameters: z.array(runbookParameter) });

const runbookRevisionHead = {
  revision: count,
  newest: trueOrFalse,
  digest: text,
  name: text,
  owner: maybe,
  public: trueOrFalse,
  traits: z.array(text),
  disable_ramdisk: trueOrFalse,
  parameters: z.array(runbookParameter),
  author: document.nullable(),
  created_at: time,
  withdrawn: z.strictObject({ at: time, by: document.nullable(), reason: text }).nullable(),
};

/** States that a runbook was in, newest first. */
export const runbookRevisions = listOf('revisions', z.strictObject(runbookRevisionHead));
/** One of them, with its steps. */
export const runbookRevision = z.strictObject({ ...runbookRevisionHead, steps: z.array(document) });

const revisionNamed = z.strictObject({ revision: count, digest: text });

/** What makes one revision of another, as a JSON Patch (RFC 6902). */
export const runbookDiff = z.strictObject({ from: revisionNamed, to: revisionNamed, patch: z.array(document) });

export const webhook = z.strictObject({
  uuid: id,
  url: text,
  kinds: z.array(text),
  enabled: trueOrFalse,
  description: maybe,
  secret: z.literal(masked),
  created_at: time,
  updated_at: maybeTime,
  links: z.strictObject({ self: text, deliveries: text }),
});
export const webhooks = listOf('webhooks', webhook);

export const ramdisk = z.strictObject({
  uuid: id,
  name: text,
  arch: text,
  args: text,
  kernel_sha256: maybe,
  initrd_sha256: maybe,
  iso_sha256: text,
  iso_bytes: count,
  arguments_at: count,
  arguments_bytes: count,
  files_at: count,
  files_bytes: count,
  created_at: time,
});
export const ramdisks = listOf('ramdisks', ramdisk);

export const deliveries = listOf(
  'deliveries',
  z.strictObject({
    uuid: id,
    event_seq: count,
    kind: text,
    state: z.enum(['pending', 'delivered', 'failed']),
    attempts: count,
    status: count.nullable(),
    error: maybe,
    next_at: maybeTime,
    created_at: time,
    finished_at: maybeTime,
  }),
);

export const freeze = z.strictObject({
  uuid: id,
  node_uuid: id,
  node_name: maybe,
  reason: text,
  requester: document,
  created_at: time,
  until: maybeTime,
  active: trueOrFalse,
  ended_at: maybeTime,
  ended_by: document.nullable(),
});
export const freezes = listOf('freezes', freeze);

/** Why a rule admits a caller, or does not. */
export const explanation = z.looseObject({
  rule: text,
  verdict: z.enum(['allowed', 'refused']),
  answer: z.enum(['allowed', 'refused', 'missing']),
  rule_set: text,
});

/** What a second policy would have decided otherwise. */
export const shadow = z.strictObject({
  hash: text,
  since: text,
  decisions: count,
  left_out: count,
  differences: z.array(document),
});

/** What a restore holds back, and what is done about it. */
export const recovery = z.strictObject({
  recovery: z.strictObject({ side: z.enum(['store', 'engine', 'unknown']), reason: text, since: time }).nullable(),
  done: trueOrFalse,
  lines: z.array(text),
});

/** Policy texts that were in force; with their text where one hash was asked for. */
export const policyHistory = z.strictObject({
  history: z.array(
    z.strictObject({
      digest: text,
      rule_set: text,
      set: text,
      mode: text,
      first_at: time,
      files: z.array(
        z.strictObject({ path: text, sha256: text, rules: count.nullable(), text: z.string().optional() }),
      ),
    }),
  ),
});

export const audit = z.strictObject({
  audit: z.array(z.looseObject({ seq: count, at: time, action: text, verdict: text, who: document })),
  next: text.optional(),
});

const counts = z.record(text, count);

/** Counts of what the caller may see. */
export const summary = z.strictObject({
  nodes: z.strictObject({ count, provision_state: counts, power_state: counts, fault: counts, maintenance: count }),
  runs: z.strictObject({ phase: counts }),
});

/** In the order of what was asked. */
export const canAnswers = listOf('answers', z.strictObject({ rule: text, allowed: trueOrFalse, reason: maybe }));

/** Of nodes, runs and rollouts, newest first. */
export const allEvents = listOf(
  'events',
  z.strictObject({
    seq: count,
    at: time,
    kind: text,
    node_uuid: id.nullable(),
    run_uuid: id.nullable(),
    rollout_uuid: id.nullable(),
    data: document,
  }),
);
