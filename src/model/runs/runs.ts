/** Runs: input, states, and observations. */
import type { NodeUuid, ProjectId, RunUuid } from '../ids';
import type { Event, Fault, PowerTarget, ProvisionState } from '../lifecycle/states';
import type { Joins, PlannedStep, ReportedStep, Tidying } from '../lifecycle/step-types';
import type { RunKind, Verb } from '../lifecycle/verbs';

export type RunState = 'accepted' | 'running' | 'paused' | 'waiting' | 'parked' | 'succeeded' | 'failed' | 'aborted';

/** A frozen run gives its turn to the next. */
export type WaitsOn = 'freeze' | 'time';

export const endedStates: readonly RunState[] = ['succeeded', 'failed', 'aborted'];

export type StepState = 'pending' | 'running' | 'waiting' | 'parked' | 'done' | 'failed' | 'skipped';
/** Set by the workflow; the others follow from the step's acts. */
export type MarkedState = Exclude<StepState, 'pending' | 'running'>;

/** Proof that a run may change a node, checked before every write and every call to a BMC. */
export type Lock = { readonly run: RunUuid; readonly node_uuid: NodeUuid; readonly fence: number };

/** Fixed at acceptance, so that a changed setting never affects an active run. Tests use small ones. */
export type Timing = {
  /** Per act. */
  readonly powerTimeoutMs: number;
  readonly softPowerTimeoutMs: number;
  /** A sent command counts as in flight for this time. Only then it may be sent again. */
  readonly settleMs: number;
  /** First pause between two polls; doubles up to 8 times this. */
  readonly pollMs: number;
  /** Limit for the ramdisk's callback; half an hour if absent. */
  readonly agentTimeoutMs?: number;
  /** Silence of a ramdisk during an act after which the BMC is checked; five minutes if absent. */
  readonly agentSilenceMs?: number;
  /** First pause between two checks for the callback; doubles up to five times this. */
  readonly agentPollMs?: number;
  /** Limit of an abort for a sent command; two minutes if absent. */
  readonly abortTimeoutMs?: number;
  /** Events after which a run continues as a new execution, unless Temporal suggests it earlier. */
  readonly historyLength?: number;
  /** A longer wait gives the run's turn to others; a minute if absent. */
  readonly longWaitMs?: number;
  /** By effect class, in Temporal's form. */
  readonly limits?: Partial<
    Record<
      'read' | 'converge' | 'once',
      { startToCloseMs?: number; scheduleToCloseMs?: number; heartbeatMs?: number; retryMs?: number }
    >
  >;
};

/** Fields may only be added, as optional ones. */
export type RunInput = {
  readonly lock: Lock;
  readonly kind: RunKind;
  readonly verb: Verb | 'power' | 'call';
  readonly node_name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly steps: readonly PlannedStep[];
  readonly target: ProvisionState | null;
  /** The node's state at the beginning, for display. */
  readonly provision_state?: ProvisionState;
  /** The event of its success. */
  readonly ends: Event | null;
  readonly fault: Fault | null;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  readonly runbook: string | null;
  readonly rule_set: string;
  readonly timing: Timing;
  /** Temper's default if absent. */
  readonly queue_prefix?: string;
  /** Boots the ramdisk again after a restart. */
  readonly boot?: PlannedStep;
  /** For an early end after the ramdisk was booted. */
  readonly tidy?: Tidying;
  readonly joins?: Joins;
  /** The previous run on the node. It is signalled to end, and this run does nothing until it has ended. */
  readonly displaces?: { readonly run: RunUuid; readonly workflow_id: string };
  /** Fences of the other nodes that it holds, by uuid. */
  readonly also?: Readonly<Record<string, number>>;
  /** Concurrent runs of a class; the others wait in order of their acceptance. */
  readonly limit?: { readonly class: 'clean' | 'deploy'; readonly max: number };
  /** Set in a continued execution. */
  readonly carries?: Carried;
  /**
   * Acts that were active when PostgreSQL was restored, as Temporal's `execution/activity`. An earlier attempt may have sent its command
   * without a record.
   */
  readonly doubted?: readonly string[];
};

/** The place from which a new execution continues. */
export type Carried = {
  readonly from: number;
  readonly seq: number;
  readonly steps: readonly PlannedStep[];
  readonly paused: boolean;
  readonly booted?: boolean;
  /** Its turn had not come. */
  readonly waitsTurn?: boolean;
  /** Temporal lost the previous execution, and this one resumes from PostgreSQL's record. */
  readonly resumed?: true;
  /** The place in step `from`; its beginning if absent. */
  readonly within?: Within;
  /** It was already tidying. */
  readonly ending?: RunEnding;
};

export type Within = {
  /** Number of ended acts. */
  readonly acts: number;
  /** It waited for an operator. */
  readonly parked?: { readonly error: string; readonly unknown: boolean };
  /** The node was restarting for the return of the ramdisk. */
  readonly reboots?: true;
  /** Of a step that waits for time to pass. */
  readonly elapsedMs?: number;
};

export type RunEnding = { readonly outcome: 'failed' | 'aborted'; readonly error: string; readonly cursor: number };

/** As in the run and in the audit trail. */
export type Requester = {
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly project_id: ProjectId | null;
  readonly system_scope: string | null;
  readonly strategy: string;
  readonly request_id: string;
};

/** To be stored about a node. */
export type RunObserved = {
  readonly power_state?: 'power on' | 'power off' | 'error' | null;
  readonly boot_mode?: 'bios' | 'uefi' | null;
  /** In Redfish's values (ComputerSystem BootProgress.LastState); only some BMCs report it. */
  readonly boot_progress?: string;
  readonly secure_boot?: boolean | null;
  readonly vendor?: string;
  readonly health?: 'OK' | 'Warning' | 'Critical' | null;
  /** Merged into the node's properties. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Replaces the stored settings. */
  readonly bios?: readonly BiosSetting[];
  /** Replaces the stored firmware. */
  readonly firmware?: readonly FirmwareComponent[];
  readonly raid_config?: Readonly<Record<string, unknown>>;
  /** In the API's form. */
  readonly inventory?: Readonly<Record<string, unknown>>;
  /** New ones become ports. */
  readonly macs?: readonly string[];
};

/** With the data of its registry. */
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

/** Such as `bios`, `bmc`, `nic:<serial or id>`. */
export type FirmwareComponent = {
  readonly component: string;
  readonly current_version: string | null;
  readonly initial_version?: string | null;
  readonly last_version_flashed?: string | null;
};
/** `rest: 'skip'` skips the step's remaining acts. */
export type ActOutcome = {
  readonly is: 'done';
  readonly note?: string;
  readonly rest?: 'skip';
  readonly seen?: RunObserved;
  /** Steps of the ramdisk. */
  readonly reported?: readonly ReportedStep[];
  /** The step ends after a restart of the node and the return of the ramdisk. */
  readonly follows?: 'reboot';
  /** For a waiting caller: small, and never secret. A read's value is not stored. */
  readonly value?: unknown;
};
