/** Gates: what is asked whether a rollout may go on. Whatever is no clear answer is inconclusive. */

/** A value of the installation's metrics with its bounds. */
export type MetricGate = { readonly query: string; readonly at_least?: number; readonly at_most?: number };

/** A webhook of the installation by its UUID, or a query of its metrics. */
export type Gate = { readonly webhook: string } | { readonly metric: MetricGate };

/** `later` names the time after which to ask again. */
export type GateAnswer =
  | { readonly is: 'pass' | 'fail' | 'inconclusive'; readonly note: string }
  | { readonly is: 'later'; readonly ms: number; readonly note: string };

/** What has been answered at a wave's end, as it is kept; `since` is when it was first asked for this decision. */
export type GateRecord = {
  readonly answer: GateAnswer['is'];
  readonly note: string;
  readonly at: string;
  readonly since: string;
  /** Not asked again before, where it has asked for time. */
  readonly until: string | null;
};

/** How long `later` is taken for an answer; ms. */
export const laterAtMostMs = 3_600_000;

export const inconclusive = (note: string): GateAnswer => ({ is: 'inconclusive', note });
