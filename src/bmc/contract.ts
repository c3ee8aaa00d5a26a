/** What a driver is to the rest: acts on a node, a lane key, and the hands it is given. */
import type { NodeUuid, RunUuid } from '../model/ids';
import type { ActOutcome, Timing } from '../model/runs';
import type { ActName } from '../model/steps';

/** A node as a driver sees it: secrets of driver_info resolved, nothing else of the store. */
export type BmcNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Last recorded; what the BMC says counts. The fake driver has nothing else to look at. */
  readonly power_state: string | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
};

/** What an act did before it did it: survives the worker, so that the next attempt looks before it acts. */
export type Intent = {
  readonly act: ActName;
  /** ISO time at which the command was about to be sent. */
  readonly sent_at: string;
  /** Whatever the driver needs to recognise the effect: desired state, ETag, task or session URI. Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
};

export type ActContext = {
  readonly run: RunUuid;
  readonly attempt: number;
  /** Aborts when the activity must stop: cancelled, timed out, or the worker is going away. Passed to every request. */
  readonly signal: AbortSignal;
  /** Says "still alive", with what an operator may read (no secrets). Cheap; call it in every loop. */
  readonly beat: (details?: Readonly<Record<string, unknown>>) => void;
  readonly intents: {
    /** The last intent of this act of this step in this run, whatever worker wrote it. */
    last(): Promise<Intent | undefined>;
    /** Must be awaited before the command is sent. */
    record(detail: Readonly<Record<string, unknown>>): Promise<void>;
  };
  readonly timing: Timing;
  readonly log: Log;
};

export type Log = {
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
};

/**
 * One act. Safe to repeat: looks, acts only if needed, waits until a look agrees. Throws errors of the list
 * (BmcAuthFailed, BmcUnreachable, BmcServerError, BmcBusy with facts.retryAfterMs, BmcRejected, BmcUnsupported,
 * BmcTlsFailed, BmcTimeout, StepRejected, StepOutcomeUnknown) with facts {node, bmc}; never one with a secret in it.
 */
export type Act = (node: BmcNode, args: Readonly<Record<string, unknown>>, context: ActContext) => Promise<ActOutcome>;

export type Driver = {
  readonly name: string;
  /** What one lane is for: all systems behind one BMC address share it. Null: no lane needed. */
  laneKey(node: BmcNode): string | null;
  readonly acts: Readonly<Partial<Record<ActName, Act>>>;
  /** Gives up sessions and sockets. */
  close(): Promise<void>;
};

export type DriverHands = {
  readonly log: Log;
  /** Networks in which BMCs may live, CIDR notation; checked after name resolution, at every connection. Empty: any. */
  readonly networks: readonly string[];
  /** For tests: replaces the system's name resolution. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** How long connecting and one answer may take; default 30 s and 60 s. Tests pass small ones. */
  readonly limits?: { readonly connectMs?: number; readonly answerMs?: number };
};
