/** What the API answers, as far as pages show it. */
import type { ProvisionState } from '../model/lifecycle/states';
import type { RolloutState, TargetState } from '../model/rollouts/states';

export type NodeView = {
  readonly uuid: string;
  readonly name: string | null;
  readonly provision_state: ProvisionState;
  readonly target_provision_state?: string | null;
  readonly power_state: string | null;
  readonly target_power_state?: string | null;
  readonly maintenance: boolean;
  readonly maintenance_reason?: string | null;
  readonly fault?: string | null;
  readonly last_error?: string | null;
  readonly owner?: string | null;
  readonly lessee?: string | null;
  readonly driver?: string;
  readonly resource_class?: string | null;
  readonly conductor_group?: string;
  readonly reservation?: string | null;
  readonly protected?: boolean;
  readonly retired?: boolean;
  readonly description?: string | null;
  readonly instance_uuid?: string | null;
  readonly created_at?: string | null;
  readonly updated_at?: string | null;
  readonly provision_updated_at?: string | null;
  readonly traits?: readonly string[];
};

export type StepView = {
  readonly index: number;
  readonly interface: string;
  readonly step: string;
  readonly system?: boolean;
  readonly state: string;
  readonly act: string | null;
  readonly attempt: number;
  readonly attempts?: number;
  readonly abortable?: boolean;
  readonly args?: unknown;
  readonly last_error: string | null;
  readonly next_retry_at: string | null;
  readonly waiting_for: string | null;
  readonly note: string | null;
  readonly expected_ms?: number | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
};

type RunCommon = {
  readonly uuid: string;
  readonly node_uuid: string;
  readonly node_name: string | null;
  readonly verb: string;
  readonly state: string;
  readonly requester: { readonly user_name?: string | null; readonly user_id?: string | null };
  readonly cursor: number;
  readonly waiting_for: string | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly updated_at: string;
};

/** A run in a list. */
export type RunListed = RunCommon & {
  readonly runbook: string | null;
  readonly runbook_revision?: number | null;
  readonly step: string | null;
  readonly step_count: number;
  readonly retrying: boolean;
};

/** One run with its steps. */
export type RunView = RunCommon & {
  readonly runbook: { readonly uuid: string; readonly name: string | null; readonly revision?: number | null } | null;
  readonly phase: string;
  readonly waiting_since?: string | null;
  readonly resumes?: string | null;
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly abort: { readonly by: string; readonly at: string } | null;
  readonly steps: readonly StepView[];
  readonly links?: { readonly temporal_ui?: string };
};

export type RunbookView = {
  readonly uuid: string;
  readonly name: string;
  readonly owner: string | null;
  readonly public: boolean;
  readonly description?: string | null;
  readonly traits?: readonly string[];
  readonly revision?: number;
  readonly steps: readonly {
    readonly interface: string;
    readonly step: string;
    readonly args: unknown;
    readonly order: number;
    readonly temper?: unknown;
  }[];
  readonly updated_at?: string | null;
  readonly created_at?: string | null;
};

export type HistoryView = {
  readonly uuid: string;
  readonly event: string | null;
  readonly event_type: string;
  readonly severity: string | null;
  readonly created_at: string;
  readonly user?: string | null;
};

export type FreezeView = {
  readonly uuid: string;
  readonly node_uuid: string;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by?: unknown;
  readonly ended_at?: string | null;
};

/** The answer to whether the caller may do something. */
export type CanAnswer = { readonly rule: string; readonly allowed: boolean; readonly reason: string | null };

type Fields<Name extends string, Value> = { readonly [name in Name]: Value };
type Counts = Readonly<Record<string, number>>;

export type CounterView = Fields<'scope' | 'value', string> &
  Fields<'in_flight' | 'failed' | 'parked' | 'done', number> &
  Fields<'budget' | 'most', number | null>;

export type WaveView = Fields<'wave' | 'size' | 'soak_ms', number> &
  Fields<'opened_at' | 'closed_at', string | null> & { readonly advance: string; readonly states: Counts };

type RefusedNodes = Fields<'code' | 'reason', string> & { readonly nodes: number };

/** What callers see of a rollout that see the whole of it; others see that it works on their own nodes. */
type WholeRollout = Fields<'name' | 'project' | 'code' | 'reason' | 'reverts', string | null> &
  Fields<'wave' | 'waves_total', number> & {
    readonly plan_hash: string;
    readonly requester: RunCommon['requester'];
    readonly grant: RunCommon['requester'] | null;
    readonly summary: Partial<Fields<'selected' | 'will_run' | 'need_consent' | 'restarts' | 'erased', number>> & {
      readonly refused?: readonly RefusedNodes[];
      readonly expected_ms?: number | null;
    };
    readonly waves: readonly WaveView[];
    readonly counters: readonly CounterView[];
  };

export type RolloutView = Pick<RunCommon, 'uuid' | 'verb' | 'created_at' | 'started_at' | 'finished_at'> & {
  readonly state: RolloutState;
  readonly runbook: { readonly uuid: string; readonly name: string; readonly revision: number } | null;
} & Partial<WholeRollout>;

export type TargetView = Fields<'position' | 'power_cycles', number> &
  Fields<'wave' | 'expected_ms', number | null> &
  Fields<'node_name' | 'code' | 'rule' | 'reason' | 'not_before' | 'run' | 'soak_until' | 'ended_at', string | null> & {
    readonly node_uuid: string;
    readonly state: TargetState;
    readonly erases: boolean;
  };
