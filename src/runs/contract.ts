/** What the API asks of runs: accept, move at once, send a message, and look. */

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
/** The node as the handler saw it; acceptance compares, so that a change in between is a 409. */
export type OrderedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly provision_state: ProvisionState;
  /** Of the row that the rules were asked about; a change in between is a 409, so that no caller uses yesterday's permission. */
  readonly revision?: string;
};

/** Who asked by which rule; goes into the audit row of the acceptance. */
export type RunAudit = {
  readonly requester: Requester;
  /** Where the request came from. */
  readonly origin?: Origin;
  readonly rule: string;
  readonly rule_set: string;
  /** Why, where a rule wants that said; it stands in the audit trail. */
  readonly reason?: string;
};

/** One run to be accepted. Everything in it is frozen. Step args still hold their secrets; acceptance seals them. */
export type RunOrder = {
  readonly node: OrderedNode;
  readonly verb: Verb | 'power' | 'call';
  readonly story: RunKind;
  /** Event that takes the node into its working state; null for power, which leaves the provision state alone. */
  readonly event: Event | null;
  readonly ends: Event | null;
  readonly target: ProvisionState | null;
  readonly fault: Fault | null;
  readonly steps: readonly PlannedStep[];
  /** How the ramdisk takes part, where it does. */
  readonly ramdisk?: Omit<Plan, 'steps'>;
  readonly power?: { readonly target: PowerTarget; readonly timeoutMs?: number };
  /** `updated_at` as it was read: a runbook that was changed or deleted meanwhile is a 409. */
  readonly runbook: {
    readonly uuid: RunbookUuid;
    readonly name: string;
    readonly updated_at?: Date | null;
    /** Pinned: the run goes by this revision, whatever the runbook's newest is. */
    readonly revision?: number;
    /** The revision that the plan was made of. */
    readonly read_revision?: number;
  } | null;
  /** Of the runbook, as they are shown: secret values masked. Those of the steps' arguments are resolved. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  /** Only so many runs of a class work at once; the others wait their turn. */
  readonly limit?: RunInput['limit'];
  /** The run that holds the node is signalled to end, and this one goes on once it has. */
  readonly takesOver?: true;
  /** The node's instance_info with what this request brings; secrets still in it. */
  readonly instance_info?: Readonly<Record<string, unknown>>;
  /** Becomes the lessee of a node that has none, until it is undeployed. */
  readonly lessee?: ProjectId;
  /** The failed run whose steps are taken up, and from which one. */
  readonly resumes?: { readonly run: RunUuid; readonly from: number };
  /** The rollout that it is a part of. */
  readonly batch?: RolloutUuid;
};

/** Done first in the transaction of an acceptance: what it throws refuses the run, and all is undone. */
export type BeforeAcceptance = (store: Queries, run: RunUuid) => Promise<void>;

/** A message to the run that waits on the node. */
export type MessageOrder = { readonly node: OrderedNode; readonly kind: 'abort' | 'unhold'; readonly asked: RunAudit };

/**
 * What became of an act: `taken` by the run, `kept` for later while the engine is away, or the engine had no open workflow of the
 * run: it was `restarted` from its record, where the act takes effect, or `ended`.
 */
export type Delivered = 'taken' | 'kept' | 'restarted' | 'ended';

/** An act of a person on a run. `reason` stands in the audit trail. */
export type ActOrder = {
  readonly run: RunUuid;
  readonly act: RunAct;
  /** The step that the person saw the run in; a run that has moved on refuses. */
  readonly cursor: number;
  readonly reason: string;
  /** With `retry`: the step is tried again with these; checked, secrets still in them. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
};

/** What Temporal adds to the store's knowledge of one run. */
export type LiveRun = {
  /** Which answered in time. */
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

/** One act on a node's BMC whose caller waits. A read takes no lock; anything else is a run of one step. */
export type CallOrder = {
  readonly node: OrderedNode;
  readonly act: ActName;
  readonly args: Readonly<Record<string, unknown>>;
  readonly asked: RunAudit;
  /** The answer is not waited for: the run goes on by itself. */
  readonly background?: true;
};

export type Runs = {
  /** Compares store, engine and BMCs (which are only read) during a recovery; with `yes` does what it says, and ends the recovery. */
  recover(yes: boolean): Promise<Recovered>;
  /**
   * Takes the node and starts a run in one acceptance transaction; the engine is called afterwards, by the relay if it is away.
   * Throws NodeLocked (held, or moved meanwhile), NodeNotFound.
   */
  start(order: RunOrder, before?: BeforeAcceptance): Promise<{ run: RunUuid }>;
  /** A transition that needs no work: straight to a resting state. Throws NodeLocked. */
  move(order: { node: OrderedNode; event: Event; asked: RunAudit }): Promise<void>;
  /** Delivers a message to the run that holds the node; kept until the engine takes it. Throws NodeLocked where no run waits. */
  send(order: MessageOrder): Promise<void>;
  /**
   * Does what a person asks of a run. Throws RunNotFound, Conflict (the run is not in a state for it, or has moved on),
   * EngineUnavailable.
   */
  operate(order: ActOrder): Promise<Delivered>;
  /**
   * Notifies the run that holds a node of an outside event: the ramdisk called back, or a freeze has ended. Kept until
   * the engine takes it; a node whose run waits for nothing of the kind gets nothing. Never throws for a silent engine.
   */
  agentContact(contact: { readonly node: NodeUuid; readonly kind: ContactKind }): Promise<void>;
  /**
   * Performs one act and answers what a look saw, or what the act has to say of what it made. Throws what the act failed with, NodeLocked, NodeNotFound,
   * EngineUnavailable, and CallTimeout where the answer did not come in time.
   */
  call(order: CallOrder): Promise<unknown>;
  /** Asks Temporal about one run, each source with a deadline of a second. Never throws for a silent engine. */
  look(run: RunUuid): Promise<LiveRun>;
};

export type Recovered = {
  readonly recovery: Recovery | null;
  /** What is done, or was. */
  readonly lines: readonly string[];
};
