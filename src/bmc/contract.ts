/** Contract of a driver: its acts on a node, its lane key and its dependencies. */

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
  /** Last recorded state. The BMC's own answer has precedence; the fake driver has only this. */
  readonly power_state: string | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly boot_interface?: string | null;
  readonly instance_info?: Readonly<Record<string, unknown>>;
  readonly target_raid_config?: Readonly<Record<string, unknown>> | null;
  /** The node's ports, for the ramdisk's commands. */
  readonly ports?: readonly { readonly address: string; readonly pxe_enabled: boolean }[];
  /** The node's ramdisk, once it has called back; its token is resolved. */
  readonly agent?: AgentContact;
  /** The image record that the instance names, and its URL at the boot service; absent for any other image. */
  readonly served_image?: { readonly name: string; readonly url: string };
};

/** Address and credentials of a ramdisk. */
export type AgentContact = {
  readonly url: string;
  readonly token: string;
  readonly version: string | null;
  /** PEM of the certificate that the ramdisk sent with its heartbeat; no other is accepted. */
  readonly verify_ca: string | null;
};

/** Record of a command before it is sent. It outlives the worker, so that the next attempt looks before it acts. */
export type Intent = {
  readonly act: ActName;
  /** ISO time just before the command was sent, by PostgreSQL's clock. For display only: never compare it with another clock. */
  readonly sent_at: string;
  /** The same moment by `performance.now()` of this process, computed from the age that PostgreSQL measured. */
  readonly at: number;
  /** Data to recognise the effect by: desired state, ETag, task or session URI. Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
};

export type ActContext = {
  readonly run: RunUuid;
  readonly attempt: number;
  /** Index and name of the act's step. */
  readonly step?: { readonly index: number; readonly interface: string; readonly step: string };
  /** Kind of the run: clean, service, deploy ... */
  readonly story?: string;
  /** Aborts when the activity is cancelled, times out or its worker stops. Passed to every request. */
  readonly signal: AbortSignal;
  /** Heartbeat with details for operators (no secrets). It is cheap: call it in every loop. */
  readonly beat: (details?: Readonly<Record<string, unknown>>) => void;
  /** Called when the ramdisk has answered a request. */
  readonly answered?: () => void;
  readonly intents: {
    /** The last intent of this act, step and run, by any worker. */
    last(): Promise<Intent | undefined>;
    /** Must be awaited before the command is sent. */
    record(detail: Readonly<Record<string, unknown>>): Promise<void>;
    /**
     * Records the last intent with a new time, before another request of the same command. No earlier request may have had an effect.
     */
    renew(): Promise<void>;
  };
  /** The command may have been sent after the backup that the database was restored from. */
  readonly doubted?: boolean;
  /** No other step of the run has this name. So a command of this kind on the node can only be this step's. */
  readonly unrepeated?: boolean;
  /** Returns false if the announced command must not be sent any more. Checked right before it is written to the socket. */
  readonly mayStillSend: () => boolean;
  readonly timing: Timing;
  readonly log: Log;
};

/**
 * One act. It is idempotent: it looks, acts only if needed, and waits until a look shows the goal. Throws errors with facts {node,
 * bmc} and never with a secret: BmcAuthFailed, BmcUnreachable, BmcServerError, BmcBusy with facts.retryAfterMs, BmcRejected,
 * BmcUnsupported, BmcTlsFailed, BmcTimeout, StepRejected, StepOutcomeUnknown.
 */
export type Act = (node: BmcNode, args: Readonly<Record<string, unknown>>, context: ActContext) => Promise<ActOutcome>;

/** A node's open serial line. Its bytes must not be logged. */
export type SerialLine = {
  readonly output: NodeJS.ReadableStream;
  /** Resolves when the BMC or its program has ended it. */
  readonly ended: Promise<void>;
  /** Returns false if the line takes no more until `drained` calls back. */
  write(bytes: Uint8Array): boolean;
  drained(resume: () => void): void;
  /** Ends the serial session at the BMC. */
  close(): Promise<void>;
};

export type Driver = {
  readonly name: string;
  /** All systems behind one BMC address share a lane. Null: no lane needed. */
  laneKey(node: BmcNode): string | null;
  readonly acts: Readonly<Partial<Record<ActName, Act>>>;
  /** Maximum of concurrent looks of power sync in one worker. For looks that cost a process each; unlimited when absent. */
  readonly looksAtOnce?: number;
  /** Absent if the driver has no serial line. Throws DriverInfoInvalid, BmcUnreachable, ProgramMissing. */
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
  /** From one login to the next. */
  readonly loginSpacingMs: number;
  /** Concurrent reads; a write is always alone. */
  readonly reads: number;
};

export type BmcRequestKind = 'read' | 'write' | 'login' | 'logout';

/** Called for every request to a BMC, for metrics. */
export type BmcObserver = {
  /** @param ms from sending to the last byte of the answer @param status 0 when no answer came @param bmc its address */
  request(kind: BmcRequestKind, ms: number, status: number, bmc: string): void;
};

export type DriverDeps = {
  readonly log: Log;
  /** Allowed networks of BMCs in CIDR notation, checked after name resolution at every connection. Empty: any. */
  readonly networks: readonly string[];
  /** Allowed networks of ramdisks; `networks` when absent. */
  readonly agentNetworks?: readonly string[];
  /** Allowed origins of images. A worker reads the first bytes of an image only from these. */
  readonly imageOrigins?: readonly string[];
  /** Duration of acts of fake-hardware if the node sets none; default 0. */
  readonly fakeDelayMs?: number;
  /** Replaces the system's name resolution in tests. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** Limits for connecting and for one answer; default 30 s and 60 s. */
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
