/** What rollouts are made of, and what this room is given by the process that wires it. */
import type { Inventory } from '../inventory';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { Caller } from '../model/access/callers';
import type { Json } from '../model/document';
import type { NodeUuid } from '../model/ids';
import type { PowerTarget } from '../model/lifecycle/states';
import type { Log } from '../model/log';
import type { FirmwareBaseline } from '../model/resources/firmware-baselines';
import type { Amount } from '../model/rollouts/amounts';
import type { ConsentTerms } from '../model/rollouts/consent';
import type { Gate } from '../model/rollouts/gates';
import type { Limits } from '../model/rollouts/layout';
import type { Requester } from '../model/runs/runs';
import type { RunOrder, Runs } from '../runs/contract';
import type { Gates } from './gates';

/** One revision of a runbook: what runs, while the runbook as it is now says who may run it. */
export type PinnedRunbook = { readonly uuid: string; readonly name: string; readonly revision: number };

/** A change of power, as a single request asks for it. */
type PowerWork = { readonly target: PowerTarget; readonly timeout_ms?: number };

/** What is done on each node: a verb, by a runbook where the verb takes one, or by what differs from a baseline of firmware. */
export type Work = {
  readonly verb: string;
  readonly runbook: PinnedRunbook | null;
  readonly power?: PowerWork;
  readonly baseline?: readonly FirmwareBaseline[];
  /** Values of the runbook's parameters, by name; none of them is secret. */
  readonly parameters?: Readonly<Record<string, Json>>;
};

/** What keeps a run from being accepted on a node, by a code of model/runs/verdicts. */
export type Refused = { readonly code: string; readonly rule?: string; readonly reason: string };

export type Prepared = {
  readonly order: RunOrder;
  readonly power_cycles: number;
  readonly erases: boolean;
  /** The other nodes that its steps run on. */
  readonly also_nodes: readonly NodeUuid[];
  /** The median of what its steps took before on nodes of its kind, and what 95 of 100 took at most; null where one has no past. */
  readonly expected_ms: number | null;
  readonly p95_ms: number | null;
};

/**
 * The checks of a single run's admission, asked for one node of a rollout in the name of a caller; writes nothing. A plan wants
 * every refusal, an admission the first. `prepared` is there exactly where nothing refuses.
 */
export type Prepare = (asked: {
  readonly who: Caller;
  readonly requester: Requester;
  readonly work: Work;
  readonly node: NodeRow;
  readonly want: 'first' | 'every';
}) => Promise<{ readonly refusals: readonly Refused[]; readonly prepared?: Prepared }>;

/** The checks of these nodes together: what each asks is read for all at once, as it is now. Of use for as long as a few of them take. */
export type PrepareFor = (nodes: readonly { readonly uuid: NodeUuid }[]) => Promise<Prepare>;

/**
 * Whether a person still has the rights in whose name targets are begun: `lost` where a role or the person is gone, or where nothing
 * can be asked and the last act of a person is too long ago; `waits` where what knows does not answer now, `silent` where it has not for
 * too long.
 */
export type Authority = (granted: Caller, granted_at: Date) => Promise<'holds' | 'lost' | 'waits' | 'silent'>;

export type RolloutDeps = {
  readonly inventory: Inventory;
  readonly runs: Pick<Runs, 'start' | 'operate'>;
  readonly prepareFor: PrepareFor;
  readonly authority: Authority;
  /** Whether votes for the plan of a rollout that begins by itself count now; `away` where what knows that does not answer. Absent, none does. */
  readonly approved?: (rollout: RolloutRow) => Promise<'yes' | 'no' | 'away'>;
  /** The hash of the policy by which a rule admits a caller to a node; undefined where it does not. Absent, none admits. */
  readonly admitted?: (rule: string, who: Caller, node: NodeRow) => string | undefined;
  /** Why this process must not begin targets now; undefined where it may. */
  readonly unready?: () => Promise<string | undefined>;
  /** Absent where this process asks none: then a gate is inconclusive. */
  readonly gates?: Gates;
  readonly log: Log;
};

/** Which nodes: by name or by what they are, less those of other rollouts, and of these a part. */
type Selection = {
  readonly nodes?: readonly string[];
  readonly query?: Readonly<Record<string, readonly string[]>>;
  readonly exclude_rollouts?: readonly string[];
  readonly limit?: number;
  readonly percent?: Amount;
};

/** A rollout as it was asked for; parsed and with defaults. */
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
  /** Asked before nodes are begun. */
  readonly guard?: Gate;
  /** Nodes are taken beyond disruption budgets where rule temper:rollout:override_budget admits, for this reason. */
  readonly override_budgets?: { readonly reason: string };
};
