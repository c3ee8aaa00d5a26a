/** Contract of a driver: acts, lane key and dependencies. */

import type { NodeUuid, RunUuid } from '../model/ids';
import type { ActName } from '../model/lifecycle/steps';
import type { Log } from '../model/log';
import type { ActOutcome, Timing } from '../model/runs/runs';

/** A node as drivers see it. The secrets of driver_info are resolved. */
export type BmcNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly driver_info: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Last recorded state. The BMC's answer has precedence; the fake driver has only the record. */
  readonly power_state: string | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly boot_interface?: string | null;
  readonly instance_info?: Readonly<Record<string, unknown>>;
  readonly target_raid_config?: Readonly<Record<string, unknown>> | null;
  readonly ports?: readonly { readonly address: string; readonly pxe_enabled: boolean }[];
  /** Absent until the ramdisk has called back; its token is resolved. */
  readonly agent?: AgentContact;
  /** The image record of the instance, with its URL at the boot service; absent for other images. */
  readonly served_image?: { readonly name: string; readonly url: string };
};

export type AgentContact = {
  readonly url: string;
  readonly token: string;
  readonly version: string | null;
  /** PEM of the only accepted certificate, from the ramdisk's heartbeat. */
  readonly verify_ca: string | null;
};

/** Record of a command before it is sent. It outlives the worker, so the next attempt looks first. */
export type Intent = {
  readonly act: ActName;
  /** Time of the command in ISO form by PostgreSQL's clock. For display only: never compare it with another clock. */
  readonly sent_at: string;
  /** The same by this process's `performance.now()`, computed from the age that PostgreSQL measured. */
  readonly at: number;
  /** Data to recognise the effect: desired state, ETag, task or session URI. Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
};

export type ActContext = {
  readonly run: RunUuid;
  readonly attempt: number;
  readonly step?: { readonly index: number; readonly interface: string; readonly step: string };
  /** Kind of the run, like clean, service or deploy. */
  readonly kind?: string;
  /** Passed to every request. Aborts when the activity is cancelled, times out or its worker stops. */
  readonly signal: AbortSignal;
  /** Heartbeat with details for operators (no secrets). Call it in every loop. */
  readonly beat: (details?: Readonly<Record<string, unknown>>) => void;
  /** Called when the ramdisk has answered a request. */
  readonly answered?: () => void;
  readonly intents: {
    /** The last intent of this act, step and run, by any worker. */
    last(): Promise<Intent | undefined>;
    /** Must be awaited before the command is sent. */
    record(detail: Readonly<Record<string, unknown>>): Promise<void>;
    /** Records the last intent with a new time, before another request of the same command. Earlier ones must have had no effect. */
    renew(): Promise<void>;
  };
  /** The command may have been sent after the backup that the database was restored from. */
  readonly doubted?: boolean;
  /** No other step of the run has this name, so a command of this kind on the node is this step's. */
  readonly unrepeated?: boolean;
  /** False if the announced command must not be sent any more. Checked right before the write. */
  readonly mayStillSend: () => boolean;
  readonly timing: Timing;
  readonly log: Log;
};

/**
 * An idempotent act: it looks, acts only if needed, and waits until a look shows the goal. Throws errors with facts {node, bmc} and
 * without secrets: BmcAuthFailed, BmcUnreachable, BmcServerError, BmcBusy with facts.retryAfterMs, BmcRejected, BmcUnsupported,
 * BmcTlsFailed, BmcTimeout, StepRejected, StepOutcomeUnknown.
 */
export type Act = (node: BmcNode, args: Readonly<Record<string, unknown>>, context: ActContext) => Promise<ActOutcome>;

/** A node's open serial line. Its bytes must not be logged. */
export type SerialLine = {
  readonly output: NodeJS.ReadableStream;
  /** Resolves when the BMC or its program has ended it. */
  readonly ended: Promise<void>;
  /** False if the line takes no more until `drained` calls back. */
  write(bytes: Uint8Array): boolean;
  drained(resume: () => void): void;
  /** Ends the serial session at the BMC. */
  close(): Promise<void>;
};

export type Driver = {
  readonly name: string;
  /** All systems behind one BMC address share a lane. Null: no lane. */
  laneKey(node: BmcNode): string | null;
  readonly acts: Readonly<Partial<Record<ActName, Act>>>;
  /** Limit on concurrent looks of power sync, for looks that cost a process each; unlimited when absent. */
  readonly looksAtOnce?: number;
  /** Absent without a serial line. Throws DriverInfoInvalid, BmcUnreachable, ProgramMissing. */
  openSerialLine?(node: BmcNode): Promise<SerialLine>;
  /** Ends sessions and closes sockets. */
  close(): Promise<void>;
};

/** Limits on requests to a BMC; durations in milliseconds. */
export type Pacing = {
  /** From the start of one request to the start of the next. */
  readonly spacingMs: number;
  /** From the answer to a write to the start of the next request. */
  readonly afterWriteMs: number;
  readonly loginSpacingMs: number;
  /** Concurrent reads; a write is always alone. */
  readonly reads: number;
};

export type BmcRequestKind = 'read' | 'write' | 'login' | 'logout';

/** Metrics of all requests. */
export type BmcObserver = {
  /** @param ms from sending to the last byte of the answer @param status 0 without an answer @param bmc its address */
  request(kind: BmcRequestKind, ms: number, status: number, bmc: string): void;
};

export type DriverDeps = {
  readonly log: Log;
  /** Allowed networks in CIDR notation, checked after name resolution at every connection. Empty: any. */
  readonly networks: readonly string[];
  /** For ramdisks; `networks` when absent. */
  readonly agentNetworks?: readonly string[];
  /** A worker reads the first bytes only of images from these origins. */
  readonly imageOrigins?: readonly string[];
  /** For nodes without fake_delay_ms; default 0. */
  readonly fakeDelayMs?: number;
  /** For tests. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** Limits for connecting and one answer; default 30 s and 60 s. */
  readonly limits?: {
    readonly connectMs?: number;
    readonly answerMs?: number;
    /** Overrides the vendor's row. */
    readonly courtesy?: Partial<Pacing>;
  };
  readonly observe?: BmcObserver;
  /** Path of ipmitool; searched in the usual directories when absent. */
  readonly ipmitool?: string;
};
