/** The contract of a driver: acts on a node, a lane key, and the dependencies it is given. */

import type { NodeUuid, RunUuid } from '../model/ids';
import type { ActName } from '../model/lifecycle/steps';
import type { Log } from '../model/log';
import type { ActOutcome, Timing } from '../model/runs/runs';

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
  readonly boot_interface?: string | null;
  readonly instance_info?: Readonly<Record<string, unknown>>;
  readonly target_raid_config?: Readonly<Record<string, unknown>> | null;
  /** The node's ports, as the ramdisk's commands want them. */
  readonly ports?: readonly { readonly address: string; readonly pxe_enabled: boolean }[];
  /** The ramdisk on the node, once it has called back; its token resolved. */
  readonly agent?: AgentContact;
  /** The image record that its instance names, and where the worker asks the boot service for it; absent for any other image. */
  readonly served_image?: { readonly name: string; readonly url: string };
};

/** How to reach a ramdisk. */
export type AgentContact = {
  readonly url: string;
  readonly token: string;
  readonly version: string | null;
  /** PEM of the certificate it showed with its heartbeat; the only one that is accepted. */
  readonly verify_ca: string | null;
};

/** What an act did before it did it: survives the worker, so that the next attempt looks before it acts. */
export type Intent = {
  readonly act: ActName;
  /** ISO time at which the command was about to be sent, by the store's clock; for people, never compared with another clock. */
  readonly sent_at: string;
  /** The same moment in milliseconds of this process's monotonic clock (`performance.now()`), from the age that the store measured. */
  readonly at: number;
  /** Whatever the driver needs to recognise the effect: desired state, ETag, task or session URI. Never a secret. */
  readonly detail: Readonly<Record<string, unknown>>;
};

export type ActContext = {
  readonly run: RunUuid;
  readonly attempt: number;
  /** Index and name of the step that the act belongs to. */
  readonly step?: { readonly index: number; readonly interface: string; readonly step: string };
  /** What the run does: clean, service, deploy ... */
  readonly story?: string;
  /** Aborts when the activity must stop: cancelled, timed out, or the worker is going away. Passed to every request. */
  readonly signal: AbortSignal;
  /** Says "still alive", with what an operator may read (no secrets). Cheap; call it in every loop. */
  readonly beat: (details?: Readonly<Record<string, unknown>>) => void;
  /** The ramdisk has answered a request: it is not silent. */
  readonly answered?: () => void;
  readonly intents: {
    /** The last intent of this act of this step in this run, whatever worker wrote it. */
    last(): Promise<Intent | undefined>;
    /** Must be awaited before the command is sent. */
    record(detail: Readonly<Record<string, unknown>>): Promise<void>;
    /** Announces once more what was announced last: another request of the same command is to leave, and none has taken effect. */
    renew(): Promise<void>;
  };
  /** The command may have left in an attempt of which the record knows nothing, for it was set back to a backup. */
  readonly doubted?: boolean;
  /** The run has no other step of this name, so that a command of this kind which the node shows can only be this step's. */
  readonly unrepeated?: boolean;
  /** Whether a command that was announced may still leave; asked right before it is written to the wire. */
  readonly mayStillSend: () => boolean;
  readonly timing: Timing;
  readonly log: Log;
};

/**
 * One act. Safe to repeat: looks, acts only if needed, waits until a look agrees. Throws errors of the list
 * (BmcAuthFailed, BmcUnreachable, BmcServerError, BmcBusy with facts.retryAfterMs, BmcRejected, BmcUnsupported,
 * BmcTlsFailed, BmcTimeout, StepRejected, StepOutcomeUnknown) with facts {node, bmc}; never one with a secret in it.
 */
export type Act = (node: BmcNode, args: Readonly<Record<string, unknown>>, context: ActContext) => Promise<ActOutcome>;

/** A node's serial line while it is open. Its bytes are for the reader alone: they belong into no log. */
export type SerialLine = {
  readonly output: NodeJS.ReadableStream;
  /** Resolves when the BMC or its program has ended it. */
  readonly ended: Promise<void>;
  /** False where the line takes no more until `drained` calls back. */
  write(bytes: Uint8Array): boolean;
  drained(resume: () => void): void;
  /** Gives the line back at the BMC. */
  close(): Promise<void>;
};

export type Driver = {
  readonly name: string;
  /** What one lane is for: all systems behind one BMC address share it. Null: no lane needed. */
  laneKey(node: BmcNode): string | null;
  readonly acts: Readonly<Partial<Record<ActName, Act>>>;
  /** The most looks of power sync at once in one worker, where each costs more than a request, such as a process; any number when absent. */
  readonly looksAtOnce?: number;
  /** Opens the node's serial line; absent where the driver has none. Throws DriverInfoInvalid, BmcUnreachable, ProgramMissing. */
  openSerialLine?(node: BmcNode): Promise<SerialLine>;
  /** Gives up sessions and sockets. */
  close(): Promise<void>;
};

/** How gently a BMC has to be treated; durations in milliseconds. */
export type Pacing = {
  /** From the start of one request to the start of the next. */
  readonly spacingMs: number;
  /** From the answer to a write to the start of the next request. */
  readonly afterWriteMs: number;
  /** From one login to the next. */
  readonly loginSpacingMs: number;
  /** Reads at the same time; a write is always alone. */
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
  /** Networks in which BMCs may live, CIDR notation; checked after name resolution, at every connection. Empty: any. */
  readonly networks: readonly string[];
  /** The same for ramdisks; those of the BMCs when absent. */
  readonly agentNetworks?: readonly string[];
  /** Origins that images may come from; only of these does a worker read the first bytes of an image. */
  readonly imageOrigins?: readonly string[];
  /** How long acts of fake-hardware take where a node does not say; default 0. */
  readonly fakeDelayMs?: number;
  /** For tests: replaces the system's name resolution. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
  /** How long connecting and one answer may take; default 30 s and 60 s. Tests pass small ones. */
  readonly limits?: {
    readonly connectMs?: number;
    readonly answerMs?: number;
    /** Instead of what the vendor's row says. */
    readonly courtesy?: Partial<Pacing>;
  };
  readonly observe?: BmcObserver;
  /** Path of the ipmitool program; looked for where systems keep programs when absent. */
  readonly ipmitool?: string;
};
