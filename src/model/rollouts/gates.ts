/** Gates: what is asked whether a rollout may go on. Whatever is no clear answer is inconclusive. */

/** A value of the installation's metrics with its bounds. */
export type MetricGate = {
  readonly query: string;
  readonly at_least?: number;
  readonly at_most?: number;
  /** How often it is asked at a wave's end, so long after one another; once where absent. */
  readonly count?: number;
  readonly interval_ms?: number;
  /** So many answers may fail, or say nothing, of those; a guard's in a row. None where absent. */
  readonly fail_limit?: number;
  readonly inconclusive_limit?: number;
};

/** How often a metric was asked for one decision, and how often in vain. */
export type Samples = { readonly taken: number; readonly failed: number; readonly inconclusive: number };

/** A webhook of the installation by its UUID, or a query of its metrics. */
export type Gate = { readonly webhook: string } | { readonly metric: MetricGate };

/** `later` names the time after which to ask again. */
export type GateAnswer =
  | { readonly is: 'pass' | 'fail' | 'inconclusive'; readonly note: string }
  | { readonly is: 'later'; readonly ms: number; readonly note: string };

/** What has been answered at a wave's end, or by a guard, as it is kept; `since` is when it was first asked for this decision. */
export type GateRecord = {
  readonly answer: GateAnswer['is'];
  readonly note: string;
  readonly at: string;
  readonly since: string;
  /** Not asked again before, where it has asked for time. */
  readonly until: string | null;
  /** Where it is asked several times. */
  readonly samples?: Samples;
  /** Who opened the next wave in spite of this answer, and why. */
  readonly passed?: { readonly by: string; readonly reason: string; readonly at: string };
};

export const isGateRecord = (value: unknown): value is GateRecord =>
  typeof value === 'object' && value !== null && 'since' in value;

/** By which code a rollout is paused where a gate, or a guard, answers so. */
export const gateCodes = { fail: 'gate_failed', inconclusive: 'gate_inconclusive' } as const;

/**
 * Whether it is this answer for which a rollout is paused, and it was not passed. Gates and guards pause by the same codes.
 */
export const isKeptByGate = (gate: unknown, code: string | null | undefined): gate is GateRecord =>
  isGateRecord(gate) &&
  gate.passed === undefined &&
  (gate.answer === 'fail' || gate.answer === 'inconclusive') &&
  gateCodes[gate.answer] === code;

/** How long `later` is taken for an answer; ms. */
export const laterAtMostMs = 3_600_000;

/** How long the pass of a guard is believed, and how often it is asked while a rollout runs; ms. */
export const guardMs = 30_000;

export const inconclusive = (note: string): GateAnswer => ({ is: 'inconclusive', note });
