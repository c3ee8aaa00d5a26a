/** Gates: checks before a rollout continues. Every unclear answer is inconclusive. */

export type MetricGate = {
  readonly query: string;
  readonly at_least?: number;
  readonly at_most?: number;
  /** Queries at a wave's end, at this interval; one if absent. */
  readonly count?: number;
  readonly interval_ms?: number;
  /** Failed or inconclusive answers that are allowed; for a guard, in a row. None if absent. */
  readonly fail_limit?: number;
  readonly inconclusive_limit?: number;
};

export type Samples = { readonly taken: number; readonly failed: number; readonly inconclusive: number };

/** `webhook` is a UUID. */
export type Gate = { readonly webhook: string } | { readonly metric: MetricGate };

/** `ms` is the time until the next request. */
export type GateAnswer =
  | { readonly is: 'pass' | 'fail' | 'inconclusive'; readonly note: string }
  | { readonly is: 'later'; readonly ms: number; readonly note: string };

/** `since` is the time of the first request for this decision. */
export type GateRecord = {
  readonly answer: GateAnswer['is'];
  readonly note: string;
  readonly at: string;
  readonly since: string;
  /** After `later`: the earliest next request. */
  readonly until: string | null;
  /** For several queries. */
  readonly samples?: Samples;
  /** A caller opened the next wave in spite of this answer. */
  readonly passed?: { readonly by: string; readonly reason: string; readonly at: string };
};

export const gateCodes = { fail: 'gate_failed', inconclusive: 'gate_inconclusive' } as const;

/** True if this answer paused the rollout and was not overridden. Gates and guards pause with the same codes. */
export const isKeptByGate = (
  gate: GateRecord | null | undefined,
  code: string | null | undefined,
): gate is GateRecord =>
  gate?.passed === undefined &&
  (gate?.answer === 'fail' || gate?.answer === 'inconclusive') &&
  gateCodes[gate.answer] === code;

/** After this time `later` is no answer; ms. */
export const laterAtMostMs = 3_600_000;

/** Validity of a guard's pass, and the interval of its checks; ms. */
export const guardMs = 30_000;

export const inconclusive = (note: string): GateAnswer => ({ is: 'inconclusive', note });
