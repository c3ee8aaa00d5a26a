/** What a run is: its frozen input, its states, and what is told of it. */
import type { NodeUuid, ProjectId, RunUuid } from './ids';
import type { Event, Fault, PowerTarget, ProvisionState } from './states';
import type { PlannedStep } from './steps';
import type { Story, Verb } from './verbs';

export type RunState = 'accepted' | 'running' | 'paused' | 'waiting' | 'parked' | 'succeeded' | 'failed' | 'aborted';

/** States from which a run does not go on. */
export const endedStates: readonly RunState[] = ['succeeded', 'failed', 'aborted'];

export type StepState = 'pending' | 'running' | 'waiting' | 'parked' | 'done' | 'failed' | 'skipped';

/** Proof that a run may touch a node: checked before every write and every call to a BMC. */
export type Lock = { readonly run: RunUuid; readonly node_uuid: NodeUuid; readonly fence: number };

/** Durations a run was accepted with; frozen, so that a changed setting never changes a run under way. Tests pass small ones. */
export type Timing = {
  /** How long a power state may take to be reached, per act. */
  readonly powerTimeoutMs: number;
  readonly softPowerTimeoutMs: number;
  /** How long a command counts as being in flight before it may be sent again. */
  readonly settleMs: number;
  /** First pause between two looks; doubles up to 8 times this. */
  readonly pollMs: number;
  /** Overall limits per effect class, as the engine parses them. */
  readonly limits?: Partial<
    Record<
      'read' | 'converge' | 'once',
      { startToCloseMs?: number; scheduleToCloseMs?: number; heartbeatMs?: number; retryMs?: number }
    >
  >;
};

/** The input of every run's workflow. Only grows, by optional fields. */
export type RunInput = {
  readonly lock: Lock;
  readonly story: Story;
  readonly verb: Verb | 'power';
  readonly node_name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly steps: readonly PlannedStep[];
  readonly target: ProvisionState | null;
  /** The event that ends it well. */
  readonly ends: Event | null;
  readonly fault: Fault | null;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  readonly runbook: string | null;
  readonly rule_set: string;
  readonly timing: Timing;
  /** First part of the queue names; the product's own when absent. */
  readonly queue_prefix?: string;
};

/** Who asked, as it stands in the run and in the audit trail. */
export type Requester = {
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly project_id: ProjectId | null;
  readonly system_scope: string | null;
  readonly strategy: string;
  readonly request_id: string;
};

/** What an act saw of a node and the store should know. */
export type Seen = {
  readonly power_state?: 'power on' | 'power off' | 'error' | null;
  readonly boot_mode?: 'bios' | 'uefi' | null;
  readonly secure_boot?: boolean | null;
  readonly vendor?: string;
  readonly health?: 'OK' | 'Warning' | 'Critical' | null;
};

/** How an act ended. `rest: 'skip'` says that the step's remaining acts have nothing to do. */
export type ActOutcome = {
  readonly is: 'done';
  readonly note?: string;
  readonly rest?: 'skip';
  readonly seen?: Seen;
};
