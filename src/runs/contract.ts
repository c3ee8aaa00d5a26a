/** Interface of runs for the API: accept, move at once, send a message, read. */

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
/** The node as the handler read it. Acceptance compares it, and a change in between is a 409. */
export type OrderedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly provision_state: ProvisionState;
  /** Revision of the row that the rules were checked on. A change in between is a 409, so that no outdated permission is used. */
  readonly revision?: string;
};

/** Requester and rule of a request, for the audit row of the acceptance. */
export type RunAudit = {
  readonly requester: Requester;
  /** Network origin of the request. */
  readonly origin?: Origin;
  readonly rule: string;
  readonly rule_set: string;
  /** Reason, if a rule requires one; recorded in the audit trail. */
  readonly reason?: string;
};

/** One run to be accepted. It does not change any more. Step arguments still hold secrets; acceptance seals them. */
export type RunOrder = {
  readonly node: OrderedNode;
  readonly verb: Verb | 'power' | 'call';
  readonly story: RunKind;
  /** Event that moves the node into its working state; null for power, which leaves the provision state alone. */
  readonly event: Event | null;
  readonly ends: Event | null;
  readonly target: ProvisionState | null;
  readonly fault: Fault | null;
  readonly steps: readonly PlannedStep[];
  /** Ramdisk settings, if the plan uses one. */
  readonly ramdisk?: Omit<Plan, 'steps'>;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  /** `updated_at` as it was read: a change or deletion of the runbook in between is a 409. */
  readonly runbook: {
    readonly uuid: RunbookUuid;
    readonly name: string;
    readonly updated_at?: Date | null;
    /** Pinned: the run uses this revision instead of the newest. */
    readonly revision?: number;
    /** The revision that the plan was made from. */
    readonly read_revision?: number;
  } | null;
  /** Parameters of the runbook with secret values masked. In the step arguments they are already resolved. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  /** Limits how many runs of a class work at once; the others wait. */
  readonly limit?: RunInput['limit'];
  /** Ends the run that holds the node; this run continues after that. */
  readonly takesOver?: true;
  /** The node's new instance_info; it still holds secrets. */
  readonly instance_info?: Readonly<Record<string, unknown>>;
  /** Becomes the lessee of a node without one, until it is undeployed. */
  readonly lessee?: ProjectId;
  /** The failed run that this one resumes, and the step it resumes from. */
  readonly resumes?: { readonly run: RunUuid; readonly from: number };
  /** The rollout that the run is part of. */
  readonly batch?: RolloutUuid;
};

/** Runs first in the transaction of an acceptance. If it throws, the run is refused and all is rolled back. */
export type BeforeAcceptance = (store: Queries, run: RunUuid) => Promise<void>;

/** A message to the run that waits on the node. */
export type MessageOrder = { readonly node: OrderedNode; readonly kind: 'abort' | 'unhold'; readonly asked: RunAudit };

/**
 * Outcome of an act. `taken`: the run has it. `kept`: Temporal is away, and it is delivered later.
 * If Temporal had no open workflow, the run was `restarted` from its record and the act takes effect there, or it was `ended`.
 */
export type Delivered = 'taken' | 'kept' | 'restarted' | 'ended';

/** An act of an operator on a run. `reason` is recorded in the audit trail. */
export type ActOrder = {
  readonly run: RunUuid;
  readonly act: RunAct;
  /** The step that the operator saw. A run that has moved on refuses. */
  readonly cursor: number;
  readonly reason: string;
  /** With `retry`: new arguments for the step. They are checked and still hold secrets. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
};

/** Facts about a run that only Temporal has. */
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

/** One act on a node's BMC. A read takes no lock; any other act is a run of one step. */
export type CallOrder = {
  readonly node: OrderedNode;
  readonly act: ActName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  /** The caller does not wait for the result. */
  readonly background?: true;
};

export type Runs = {
  /** Compares PostgreSQL, Temporal and BMCs (read only) during a recovery. With `yes` it performs the actions and ends the recovery. */
  recover(yes: boolean): Promise<Recovered>;
  /**
   * Accepts a run in one transaction, then starts its workflow. If Temporal is away, the relay starts it.
   * Throws NodeLocked (held, or moved meanwhile), NodeNotFound.
   */
  start(order: RunOrder, before?: BeforeAcceptance): Promise<{ run: RunUuid }>;
  /** A transition without work, straight to a stable state. Throws NodeLocked. */
  move(order: { node: OrderedNode; event: Event; asked: RunAudit }): Promise<void>;
  /** Delivers a message to the run that holds the node; stored until Temporal takes it. Throws NodeLocked if no run waits. */
  send(order: MessageOrder): Promise<void>;
  /** Performs an operator's act on a run. Throws RunNotFound, Conflict (wrong state, or the run has moved on), EngineUnavailable. */
  operate(order: ActOrder): Promise<Delivered>;
  /**
   * Notifies the run that holds a node of an outside event: the ramdisk called back, or a freeze has ended.
   * Stored until Temporal takes it. No effect if the run does not await such an event. Never throws if Temporal does not respond.
   */
  agentContact(contact: { readonly node: NodeUuid; readonly kind: ContactKind }): Promise<void>;
  /**
   * Performs one act and returns its result. Throws the error of the act, NodeLocked, NodeNotFound, EngineUnavailable,
   * and CallTimeout if the result does not come in time.
   */
  call(order: CallOrder): Promise<unknown>;
  /** Reads the state of a run from Temporal with a deadline of a second per source. Never throws if Temporal does not respond. */
  look(run: RunUuid): Promise<LiveRun>;
};

export type Recovered = {
  readonly recovery: Recovery | null;
  /** One line per action, planned or done. */
  readonly lines: readonly string[];
};
