/** A rollout as requested, and the counts of its plan: as stored and as the API shows them. */
import type { Json } from '../document';
import type { PowerTarget } from '../lifecycle/states';
import type { FirmwareBaseline } from '../resources/firmware-baselines';
import type { Amount } from './amounts';
import type { ConsentTerms } from './consent';
import type { Gate } from './gates';
import type { Limits } from './layout';

export type PowerWork = { readonly target: PowerTarget; readonly timeout_ms?: number };

/** By name or query, without nodes of other rollouts. */
type Selection = {
  readonly nodes?: readonly string[];
  readonly query?: Readonly<Record<string, readonly string[]>>;
  readonly exclude_rollouts?: readonly string[];
  readonly limit?: number;
  readonly percent?: Amount;
};

/** Parsed, with defaults. */
export type RolloutSpec = Limits & {
  readonly name: string | null;
  readonly project: string | null;
  readonly verb: string;
  readonly runbook: string | null;
  readonly power?: PowerWork;
  readonly baseline?: readonly FirmwareBaseline[];
  readonly parameters?: Readonly<Record<string, Json>>;
  readonly select: Selection;
  readonly seed?: string;
  readonly consent?: ConsentTerms;
  /** Checked before nodes are begun. */
  readonly guard?: Gate;
  /** Requires rule temper:rollout:override_budget. The reason is recorded. */
  readonly override_budgets?: { readonly reason: string };
};

type WorstWave = { readonly by: string; readonly wave: number; readonly value: string; readonly nodes: number };

export type RolloutSummary = {
  readonly selected: number;
  readonly will_run: number;
  readonly need_consent: number;
  /** The most frequent first, with one reason as an example. */
  readonly refused: readonly {
    readonly code: string;
    readonly rule: string | null;
    readonly reason: string;
    readonly nodes: number;
  }[];
  /** Sizes. */
  readonly waves: readonly number[];
  readonly worst: readonly WorstWave[];
  readonly restarts: number;
  readonly erased: number;
  readonly projects: readonly string[];
  /** Null without a budget. */
  readonly harmed_at_most: number | null;
  readonly expected_ms: number | null;
  readonly p95_ms: number | null;
};
