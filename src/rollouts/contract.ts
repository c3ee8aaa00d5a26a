/** Types and dependencies of rollouts. */
import type { Inventory } from '../inventory';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import type { Json } from '../model/document';
import type { NodeUuid } from '../model/ids';
import type { Log } from '../model/log';
import type { FirmwareBaseline } from '../model/resources/firmware-baselines';
import type { PowerWork } from '../model/rollouts/spec';
import type { Requester } from '../model/runs/runs';
import type { RunOrder, Runs } from '../runs/contract';
import type { VoteContext } from './approvals';
import type { Gates } from './gates';

/** This revision runs, but the current runbook decides who may run it. */
export type PinnedRunbook = { readonly uuid: string; readonly name: string; readonly revision: number };

/** A verb, possibly with a runbook or a firmware baseline. */
export type Work = {
  readonly verb: string;
  readonly runbook: PinnedRunbook | null;
  readonly power?: PowerWork;
  readonly baseline?: readonly FirmwareBaseline[];
  /** None is secret. */
  readonly parameters?: Readonly<Record<string, Json>>;
};

/** `code` is one of model/runs/verdicts. */
export type Refused = { readonly code: string; readonly rule?: string; readonly reason: string };

export type Prepared = {
  readonly order: RunOrder;
  readonly power_cycles: number;
  readonly erases: boolean;
  readonly also_nodes: readonly NodeUuid[];
  /** Median and 95th percentile on similar nodes; null without a history. */
  readonly expected_ms: number | null;
  readonly p95_ms: number | null;
};

/**
 * The checks of a single run's admission; writes nothing. A plan wants every refusal, an admission the first.
 * `prepared` is present exactly if nothing refuses.
 */
export type Prepare = (asked: {
  readonly who: Caller;
  readonly requester: Requester;
  readonly work: Work;
  readonly node: NodeRow;
  readonly want: 'first' | 'every';
}) => Promise<{ readonly refusals: readonly Refused[]; readonly prepared?: Prepared }>;

/** Reads the data of the checks for a batch. It becomes stale, so the batch must be small. */
export type PrepareFor = (nodes: readonly { readonly uuid: NodeUuid }[]) => Promise<Prepare>;

/**
 * `lost`: a role or the user is gone, or no check is possible and the last act of an operator is too old.
 * `waits`: the identity service does not respond; `silent`: it has not responded for too long.
 */
export type Authority = (granted: Caller, granted_at: Date) => Promise<'holds' | 'lost' | 'waits' | 'silent'>;

export type RolloutDeps = VoteContext & {
  readonly inventory: Inventory;
  readonly runs: Pick<Runs, 'start' | 'operate'>;
  readonly prepareFor: PrepareFor;
  readonly authority: Authority;
  /** Reason for beginning no targets here; undefined if there is none. */
  readonly unready?: () => Promise<string | undefined>;
  /** If absent, every gate is inconclusive. */
  readonly gates?: Gates;
  readonly log: Log;
};
