/** What a run is: its frozen input, its states, and what callers see of it. */
import type { NodeUuid, ProjectId, RunUuid } from '../ids';
import type { Event, Fault, PowerTarget, ProvisionState } from '../lifecycle/states';
import type { Joins, PlannedStep, ReportedStep, Tidying } from '../lifecycle/step-types';
import type { RunKind, Verb } from '../lifecycle/verbs';

export type RunState = 'accepted' | 'running' | 'paused' | 'waiting' | 'parked' | 'succeeded' | 'failed' | 'aborted';

/** What a run waits on, where that decides something: a frozen one gives its turn to the next. */
export type WaitsOn = 'freeze' | 'time';

/** States from which a run does not go on. */
export const endedStates: readonly RunState[] = ['succeeded', 'failed', 'aborted'];

export type StepState = 'pending' | 'running' | 'waiting' | 'parked' | 'done' | 'failed' | 'skipped';
/** The states that a workflow itself gives a step; the others follow from the step's acts. */
export type MarkedState = Exclude<StepState, 'pending' | 'running'>;

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
  /** How long a run waits for the ramdisk to call back; half an hour when absent. */
  readonly agentTimeoutMs?: number;
  /** How long a ramdisk may be silent in the middle of an act before it is looked for through the BMC; five minutes when absent. */
  readonly agentSilenceMs?: number;
  /** Pauses between two looks at whether it has, where no message came: the first, doubling up to five times it. */
  readonly agentPollMs?: number;
  /** How long an abort waits for a command that has left; two minutes when absent. */
  readonly abortPatienceMs?: number;
  /** Events after which a run goes on in a new execution, should the engine not ask for it before. */
  readonly historyLength?: number;
  /** A wait of so long gives the run's turn to others; a minute when absent. */
  readonly longWaitMs?: number;
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
  readonly story: RunKind;
  readonly verb: Verb | 'power' | 'call';
  readonly node_name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly steps: readonly PlannedStep[];
  readonly target: ProvisionState | null;
  /** Of the node as the run begins, to be shown. */
  readonly provision_state?: ProvisionState;
  /** The event that ends it well. */
  readonly ends: Event | null;
  readonly fault: Fault | null;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  readonly runbook: string | null;
  readonly rule_set: string;
  readonly timing: Timing;
  /** First part of the queue names; the product's own when absent. */
  readonly queue_prefix?: string;
  /** The step that boots the ramdisk again after a restart. */
  readonly boot?: PlannedStep;
  /** What is tidied when it ends before its time, once the ramdisk has been booted. */
  readonly tidy?: Tidying;
  /** How the ramdisk's own steps join the plan. */
  readonly joins?: Joins;
  /** The run that held the node before; it is signalled to end, and nothing is done until it has. */
  readonly displaces?: { readonly run: RunUuid; readonly workflow_id: string };
  /** Fences of the other nodes that it holds, by their uuid. */
  readonly also?: Readonly<Record<string, number>>;
  /** At most so many runs of a class work at once; the others wait in the order of their acceptance. */
  readonly limit?: { readonly class: 'clean' | 'deploy'; readonly max: number };
  /** Set where a long run goes on in a new execution. */
  readonly carries?: Carried;
  /**
   * Acts that were under way when the database was set back to a backup, as `execution/activity` of the engine: the command of
   * an earlier attempt may have left, and the record would not have it.
   */
  readonly doubted?: readonly string[];
};

/** Where a run goes on after its history was cut. */
export type Carried = {
  readonly from: number;
  readonly seq: number;
  readonly steps: readonly PlannedStep[];
  readonly paused: boolean;
  readonly booted?: boolean;
  /** Its turn had not come when it was cut. */
  readonly waitsTurn?: boolean;
  /** The engine had lost the execution before: this goes on from the store's record. */
  readonly resumed?: true;
  /** Where in step `from` it goes on; at its beginning when absent. */
  readonly within?: Within;
  /** It was tidying up already. */
  readonly ending?: RunEnding;
};

/** Where in a step a run goes on. */
export type Within = {
  /** How many of the step's acts have ended. */
  readonly acts: number;
  /** A person was being asked. */
  readonly parked?: { readonly error: string; readonly unknown: boolean };
  /** The node was being restarted, so that the ramdisk comes back. */
  readonly reboots?: true;
  /** Of a step that waits for time to pass. */
  readonly elapsedMs?: number;
};

/** How a run ends that is tidying up. */
export type RunEnding = { readonly outcome: 'failed' | 'aborted'; readonly error: string; readonly cursor: number };

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
export type RunObserved = {
  readonly power_state?: 'power on' | 'power off' | 'error' | null;
  readonly boot_mode?: 'bios' | 'uefi' | null;
  /** How far the host's start is, in Redfish's words (ComputerSystem BootProgress.LastState); only some BMCs report it. */
  readonly boot_progress?: string;
  readonly secure_boot?: boolean | null;
  readonly vendor?: string;
  readonly health?: 'OK' | 'Warning' | 'Critical' | null;
  /** Merged into the node's properties. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Replaces what is known of the BIOS. */
  readonly bios?: readonly BiosSetting[];
  /** Replaces what is known of firmware. */
  readonly firmware?: readonly FirmwareComponent[];
  readonly raid_config?: Readonly<Record<string, unknown>>;
  /** What an inspection found, as the wire shows it. */
  readonly inventory?: Readonly<Record<string, unknown>>;
  /** Network interfaces; ports are made of those that are not known. */
  readonly macs?: readonly string[];
};

/** One BIOS setting with what its registry says of it. */
export type BiosSetting = {
  readonly name: string;
  readonly value: string | null;
  readonly attribute_type?: string | null;
  readonly allowable_values?: readonly string[] | null;
  readonly lower_bound?: number | null;
  readonly upper_bound?: number | null;
  readonly min_length?: number | null;
  readonly max_length?: number | null;
  readonly read_only?: boolean | null;
  readonly reset_required?: boolean | null;
  readonly unique?: boolean | null;
};

/** One part that has firmware of its own: `bios`, `bmc`, `nic:<serial or id>`. */
export type FirmwareComponent = {
  readonly component: string;
  readonly current_version: string | null;
  readonly initial_version?: string | null;
  readonly last_version_flashed?: string | null;
};
/** How an act ended. `rest: 'skip'` says that the step's remaining acts have nothing to do. */
export type ActOutcome = {
  readonly is: 'done';
  readonly note?: string;
  readonly rest?: 'skip';
  readonly seen?: RunObserved;
  /** What the ramdisk can do, for the acts that ask it. */
  readonly reported?: readonly ReportedStep[];
  /** The step is done when the node has been restarted and the ramdisk is back. */
  readonly follows?: 'reboot';
  /** What a waiting caller gets; small, and never a secret. Of a read it is not kept. */
  readonly value?: unknown;
};
