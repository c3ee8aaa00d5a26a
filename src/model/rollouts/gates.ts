/** Gates: checks of a rollout before it continues. Every unclear answer is inconclusive. */

/** A query of the installation's metrics with limits. */
export type MetricGate = {
  readonly query: string;
  readonly at_least?: number;
  readonly at_most?: number;
  /** Number of queries at a wave's end, at this interval; one if absent. */
  readonly count?: number;
  readonly interval_ms?: number;
  /** Number of failed or inconclusive answers that are allowed; for a guard, in a row. None if absent. */
  readonly fail_limit?: number;
  readonly inconclusive_limit?: number;
};

/** Counts of a metric's answers for one decision. */
export type Samples = { readonly taken: number; readonly failed: number; readonly inconclusive: number };

/** A webhook of the installation by its UUID, or a query of its metrics. */
export type Gate = { readonly webhook: string } | { readonly metric: MetricGate };

/** `later` has the time until the next request. */
export type GateAnswer =
  | { readonly is: 'pass' | 'fail' | 'inconclusive'; readonly note: string }
  | { readonly is: 'later'; readonly ms: number; readonly note: string };

/** The recorded answer of a gate or guard; `since` is the time of the first request for this decision. */
export type GateRecord = {
  readonly answer: GateAnswer['is'];
  readonly note: string;
  readonly at: string;
  readonly since: string;
  /** After `later`: the earliest time of the next request. */
  readonly until: string | null;
  /** For a metric with several queries. */
  readonly samples?: Samples;
  /** The caller who opened the next wave in spite of this answer, and the reason. */
  readonly passed?: { readonly by: string; readonly reason: string; readonly at: string };
};

export const isGateRecord = (value: unknown): value is GateRecord =>
  typeof value === 'object' && value !== null && 'since' in value;

/** The pause code of a rollout for a gate's or guard's answer. */
export const gateCodes = { fail: 'gate_failed', inconclusive: 'gate_inconclusive' } as const;

/** True if this answer has paused the rollout and was not overridden. Gates and guards pause with the same codes. */
export const isKeptByGate = (gate: unknown, code: string | null | undefined): gate is GateRecord =>
  isGateRecord(gate) &&
  gate.passed === undefined &&
  (gate.answer === 'fail' || gate.answer === 'inconclusive') &&
  gateCodes[gate.answer] === code;

/** Time limit for `later` as an answer; ms. */
export const laterAtMostMs = 3_600_000;

/** Validity of a guard's pass, and the interval of its checks during a rollout; ms. */
export const guardMs = 30_000;

export const inconclusive = (note: string): GateAnswer => ({ is: 'inconclusive', note });
