/** Response types of the API, with the fields that pages show. */
import type { ProvisionState } from '../model/lifecycle/states';
import type { GateRecord } from '../model/rollouts/gates';
import type { RolloutState, TargetState } from '../model/rollouts/states';
import type { Hidden } from './hidden';

export type Fields<Name extends string, Value> = { readonly [name in Name]: Value };
type Perhaps<Name extends string, Value> = Partial<Fields<Name, Value>>;
type Text = string | null;
type Counts = Readonly<Record<string, number>>;

export type Person = Perhaps<'user_name' | 'user_id', Text>;

export type NodeView = Fields<'uuid', string> &
  Fields<'name' | 'power_state', Text> &
  Perhaps<'target_provision_state' | 'maintenance_reason' | 'fault' | 'owner' | 'lessee', Text> &
  Perhaps<'resource_class' | 'description' | 'provision_updated_at', Text> &
  Perhaps<'inspect_interface' | 'rescue_interface', Text> &
  Perhaps<'reservation' | 'last_error', Text | Hidden> &
  Perhaps<'driver' | 'conductor_group', string> &
  Perhaps<'protected' | 'retired' | 'disable_power_off', boolean> & {
    readonly provision_state: ProvisionState;
    readonly maintenance: boolean;
    readonly traits?: readonly string[];
  };

/** Counts of visible objects. */
export type SummaryView = {
  readonly nodes: Fields<'count' | 'maintenance', number> & Fields<'provision_state' | 'fault', Counts>;
  readonly runs: { readonly phase: Counts };
};

export type WorkerView = Fields<'hostname' | 'conductor_group', string> & {
  readonly alive: boolean;
  readonly drivers?: readonly string[];
  readonly updated_at?: string;
};

export type StepView = Fields<'index' | 'attempt', number> &
  Fields<'interface' | 'step' | 'state', string> &
  Fields<'act' | 'last_error' | 'next_retry_at' | 'waiting_for' | 'note' | 'started_at' | 'finished_at', Text> & {
    readonly attempts?: number;
    readonly abortable?: boolean;
    readonly args?: unknown;
    readonly expected_ms?: number | null;
  };

type RunCommon = Fields<'uuid' | 'node_uuid' | 'verb' | 'state' | 'created_at' | 'updated_at', string> &
  Fields<'node_name' | 'waiting_for' | 'last_error' | 'started_at' | 'finished_at', Text> & {
    readonly waiting_since?: Text;
    readonly requester: Person;
    readonly cursor: number;
  };

export type RunListed = RunCommon & {
  readonly attempt: number | null;
  readonly runbook: string | null;
  readonly runbook_revision?: number | null;
  readonly step: string | null;
  readonly step_count: number;
  readonly retrying: boolean;
};

export type RunView = RunCommon & {
  readonly runbook: { readonly uuid: string; readonly name: string | null; readonly revision?: number | null } | null;
  readonly phase: string;
  readonly resumes?: string | null;
  readonly abort: { readonly by: string; readonly at: string } | null;
  readonly steps: readonly StepView[];
  readonly links?: { readonly temporal_ui?: string };
};

export type RunbookView = Fields<'uuid' | 'name', string> &
  Perhaps<'description' | 'updated_at' | 'created_at', Text> & {
    readonly owner: Text;
    readonly public: boolean;
    readonly traits?: readonly string[];
    readonly revision?: number;
    readonly steps: readonly (Fields<'interface' | 'step', string> & {
      readonly args: unknown;
      readonly order: number;
      readonly temper?: unknown;
    })[];
  };

export type HistoryView = Fields<'uuid' | 'event_type' | 'created_at', string> & Fields<'event' | 'severity', Text>;

export type FreezeView = Fields<'uuid' | 'node_uuid' | 'reason' | 'created_at', string>;

export type CanAnswer = { readonly rule: string; readonly allowed: boolean; readonly reason: string | null };

export type CounterView = Fields<'scope' | 'value', string> &
  Fields<'in_flight' | 'failed' | 'parked' | 'done', number> &
  Fields<'budget' | 'most', number | null>;

export type WaveView = Fields<'wave' | 'size' | 'soak_ms', number> &
  Fields<'opened_at' | 'closed_at', string | null> & {
    readonly advance: string;
    readonly gate: GateRecord | null;
    readonly states: Counts;
  };

type RefusedNodes = Fields<'code' | 'reason', string> & { readonly nodes: number };

/** Other callers only see that the rollout works on their nodes. */
type WholeRollout = Fields<'name' | 'project' | 'code' | 'reason' | 'reverts', string | null> &
  Fields<'wave' | 'waves_total', number> & {
    readonly plan_hash: string;
    readonly requester: Person;
    readonly grant: Person | null;
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
    /** By the plan's bounds; only for callers who see the whole rollout. */
    readonly domains?: Readonly<Record<string, string>>;
  };
