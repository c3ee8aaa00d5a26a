/** Interface of runs for the API. */

import type { Queries } from '../inventory';
import type { Recovery } from '../inventory/runs/recovery';
import type { NodeUuid, ProjectId, RolloutUuid, RunbookUuid, RunUuid } from '../model/ids';
import type { Plan } from '../model/lifecycle/plan-parts';
import type { Event, Fault, PowerTarget, ProvisionState } from '../model/lifecycle/states';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import type { RunKind, Verb } from '../model/lifecycle/verbs';
import type { Origin } from '../model/resources/audit';
import type { RunAct } from '../model/runs/run-acts';
import type { Requester, RunInput } from '../model/runs/runs';
import type { ContactKind } from '../workflows/contract';
/** The node as the handler read it. A change before the acceptance is a 409. */
export type OrderedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly provision_state: ProvisionState;
  /** Revision that the rules were checked on. A change is a 409, so that no outdated permission is used. */
  readonly revision?: string;
};

export type RunAudit = {
  readonly requester: Requester;
  readonly origin?: Origin;
  readonly rule: string;
  readonly rule_set: string;
  /** Recorded in the audit trail. */
  readonly reason?: string;
};

/** A run to be accepted. Step arguments still hold secrets; acceptance seals them. */
export type RunOrder = {
  readonly node: OrderedNode;
  readonly verb: Verb | 'power' | 'call';
  readonly kind: RunKind;
  /** Moves the node into its working state; null for power, which leaves the provision state alone. */
  readonly event: Event | null;
  readonly ends: Event | null;
  readonly target: ProvisionState | null;
  readonly fault: Fault | null;
  readonly steps: readonly PlannedStep[];
  readonly ramdisk?: Omit<Plan, 'steps'>;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  /** A change or deletion of the runbook since `updated_at` is a 409. */
  readonly runbook: {
    readonly uuid: RunbookUuid;
    readonly name: string;
    readonly updated_at?: Date | null;
    /** Pinned revision, instead of the newest. */
    readonly revision?: number;
    /** The revision that the plan was made from. */
    readonly read_revision?: number;
  } | null;
  /** Runbook parameters with secrets masked; in step arguments they are resolved. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  /** Limits concurrent runs of a class. */
  readonly limit?: RunInput['limit'];
  /** Ends the run that holds the node; this run continues after that. */
  readonly takesOver?: true;
  /** It still holds secrets. */
  readonly instance_info?: Readonly<Record<string, unknown>>;
  /** New lessee of a node without one, until it is undeployed. */
  readonly lessee?: ProjectId;
  /** The failed run that this one resumes, and the index of the first step. */
  readonly resumes?: { readonly run: RunUuid; readonly from: number };
  /** The run's rollout. */
  readonly batch?: RolloutUuid;
};

/** Runs first in the acceptance transaction. If it throws, all is rolled back. */
export type BeforeAcceptance = (store: Queries, run: RunUuid) => Promise<void>;

export type MessageOrder = { readonly node: OrderedNode; readonly kind: 'abort' | 'unhold'; readonly asked: RunAudit };

/**
 * `taken`: the run has it. `kept`: Temporal is away; it is delivered later.
 * If no workflow was open, the run was `restarted` from its record, with the act, or `ended`.
 */
export type Delivered = 'taken' | 'kept' | 'restarted' | 'ended';

/** An operator's act; `reason` goes into the audit trail. */
export type ActOrder = {
  readonly run: RunUuid;
  readonly act: RunAct;
  /** The step that the operator saw. A run that has moved on refuses. */
  readonly cursor: number;
  readonly reason: string;
  /** New arguments for a `retry`, checked but not sealed. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
};

export type LiveRun = {
  /** The sources that responded in time. */
  readonly sources: readonly ('describe' | 'query')[];
  readonly status?: string;
  readonly pending?: readonly {
    readonly activity: string;
    readonly attempt: number;
    readonly last_error: string | null;
    readonly next_retry_at: string | null;
    readonly last_heartbeat_at: string | null;
    readonly heartbeat: unknown;
    readonly paused: boolean;
  }[];
  readonly progress?: unknown;
};

/** One act on a BMC. A read takes no lock; any other act is a run of one step. */
export type CallOrder = {
  readonly node: OrderedNode;
  readonly act: ActName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  readonly background?: true;
};

export type Runs = {
  /** Compares PostgreSQL, Temporal and BMCs (read only) in a recovery. `yes` performs the actions and ends it. */
  recover(yes: boolean): Promise<Recovered>;
  /**
   * Accepts a run and starts its workflow; if Temporal is away, the relay does. A run without steps has no workflow: its acceptance ends it.
   * Throws NodeLocked (held or moved), NodeNotFound.
   */
  start(order: RunOrder, before?: BeforeAcceptance): Promise<{ run: RunUuid }>;
  /** A transition straight to a stable state. Throws NodeLocked. */
  move(order: { node: OrderedNode; event: Event; asked: RunAudit }): Promise<void>;
  /** Sends a message to the node's run; stored until Temporal takes it. Throws NodeLocked if no run waits. */
  send(order: MessageOrder): Promise<void>;
  /** Throws RunNotFound, Conflict (wrong state, or the run has moved on), EngineUnavailable. */
  operate(order: ActOrder): Promise<Delivered>;
  /**
   * Notifies the node's run of a contact or of the end of a freeze; stored until Temporal takes it. No effect if the run does not await it.
   * Never throws if Temporal does not respond.
   */
  agentContact(contact: { readonly node: NodeUuid; readonly kind: ContactKind }): Promise<void>;
  /** Performs one act and returns its result. Throws the act's error, NodeLocked, NodeNotFound, EngineUnavailable, CallTimeout. */
  call(order: CallOrder): Promise<unknown>;
  /** Reads from Temporal, one second per source. Never throws if Temporal does not respond. */
  look(run: RunUuid): Promise<LiveRun>;
};

export type Recovered = {
  readonly recovery: Recovery | null;
  readonly lines: readonly string[];
};
