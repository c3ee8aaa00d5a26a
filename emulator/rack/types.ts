/** The shapes that the rack's files share: a BMC, what it remembers, one request to it and the rows that answer. */

import type { z } from 'zod';
import type { Gate } from '../agent/gate';
import type { Fault } from './fault-kinds';
import type { Profile } from './profiles';
import type { TrafficCounter } from './traffic';

export type Doc = Record<string, unknown>;

export type PowerState = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff';

/** Durations of the emulated hardware, all in milliseconds. */
export type Timing = {
  powerOnMs: number;
  powerOffMs: number;
  /** How long the operating system takes to shut down when asked politely. */
  gracefulOffMs: number;
  /** From power on until the operating system runs. */
  postMs: number;
  bmcResetMs: number;
  volumeTaskMs: number;
  firmwareTaskMs: number;
  sessionTimeoutMs: number;
};

export type Medium = {
  image: string | null;
  inserted: boolean;
  writeProtected: boolean;
  userName: string | null;
  transferProtocol: string | null;
};

export type Volume = {
  id: string;
  name: string;
  raidType: string;
  capacityBytes: number;
  /** Drive ids of the same controller. */
  drives: string[];
};

/** What a task does to its BMC when it ends; plain data, so that it survives a restart of the rack. */
export type TaskWork =
  | { is: 'create-volume'; controller: string; volume: Volume }
  | { is: 'delete-volume'; controller: string; volume: string }
  | { is: 'initialize-volume'; controller: string; volume: string }
  | { is: 'firmware'; component: FirmwareComponent; version: string }
  /** The version alone, where it comes after everything else. */
  | { is: 'version'; component: FirmwareComponent; version: string };

export type FirmwareComponent = 'bios' | 'bmc' | 'nic';

export type Task = {
  id: string;
  name: string;
  work: TaskWork;
  startedAt: number;
  /** When it ends by itself; null while it waits for the host to boot. */
  endsAt: number | null;
  /** Set while the task ends only after a boot of the host. */
  needsBoot: boolean;
  endedAt: number | null;
  failed: boolean;
  /** Ended as Completed, and badly all the same. */
  critical?: boolean;
  rebootPending?: boolean;
};

/** What a task that has ended will change: at its time, or null for the next boot. */
export type LateWork = { at: number | null; work: TaskWork };

/** Who is told of events, as it was asked for. */
export type Subscription = {
  id: string;
  destination: string;
  context: string;
  protocol: string;
  types: string[];
  headers: unknown[];
};

export type Session = { id: string; user: string; tokenHash: string; createdAt: number };

/** Everything a BMC remembers. Plain JSON with absolute times in epoch milliseconds: a restart changes nothing. */
export type BmcState = {
  power: { shows: PowerState; coming: { shows: PowerState; at: number }[]; onSince: number | null };
  indicator: { led: 'Off' | 'Lit' | 'Blinking'; assetTag: string };
  boot: {
    target: string;
    enabled: 'Disabled' | 'Once' | 'Continuous';
    mode: 'UEFI' | 'Legacy';
    pendingMode: 'UEFI' | 'Legacy' | null;
    httpBootUri: string | null;
    /** What the host booted from last, for agents that want to follow it. */
    last: { at: number; target: string; mode: string; image: string | null } | null;
    boots: number;
  };
  bios: {
    attributes: Record<string, string | number | boolean>;
    pending: Record<string, string | number | boolean>;
    resetPending: boolean;
    appliedAt: number | null;
  };
  secureBoot: { enable: boolean; current: boolean; mode: 'SetupMode' | 'UserMode' };
  media: Record<string, Medium>;
  volumes: Record<string, Volume[]>;
  tasks: Task[];
  late?: LateWork[];
  firmware: Record<FirmwareComponent, string>;
  manager: { downUntil: number | null; lastResetAt: number | null; clockOffsetMs: number; localOffset: string };
  sessions: Session[];
  subscriptions?: Subscription[];
  /** Never reused, so that ids stay unique over deletions. */
  lastId: number;
};

export type Bmc = {
  readonly index: number;
  readonly name: string;
  readonly profile: Profile;
  readonly uuid: string;
  readonly serial: string;
  readonly macs: readonly string[];
  readonly username: string;
  readonly password: string;
  readonly timing: Timing;
  state: BmcState;
  faults: ActiveFault[];
  /** Shared with the ramdisk on its host. */
  readonly gate: Gate;
  /** Epoch milliseconds of each session's last use; not worth remembering over a restart. */
  readonly sessionUse: Map<string, number>;
  /** Requests answered since start, by method. */
  readonly requests: Record<string, number>;
  readonly traffic: TrafficCounter;
  /** Draws how long an answer takes, in ms; at once when absent. */
  readonly latencyMs?: () => number;
};

/** How dangerous a repeat is: `read` changes nothing, `converge` is harmless twice, `once` may harm. */
export type Effect = 'converge' | 'once';

export type Subject =
  | 'power'
  | 'boot'
  | 'bios'
  | 'secure-boot'
  | 'media'
  | 'storage'
  | 'firmware'
  | 'bmc'
  | 'indicator'
  | 'clock'
  | 'task'
  | 'session'
  | 'events'
  | 'unknown';

export type Exchange = {
  readonly bmc: Bmc;
  readonly now: number;
  readonly method: string;
  /** Without the address prefix: always begins with /redfish. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Doc;
  readonly hasBody: boolean;
};

export type Answer = {
  status: number;
  body?: Doc;
  headers?: Record<string, string> /** Instead of a body. */;
  html?: string;
};

export type Write = {
  readonly subject: Subject | ((x: Exchange) => Subject);
  readonly effect: Effect | ((x: Exchange) => Effect);
  readonly act: (x: Exchange) => Answer;
};

/** One resource: where it is, how it looks, what may be done to it. */
export type Row = {
  readonly path: string;
  /** Readable without credentials. */
  readonly open?: true;
  /** Only on BMCs of these profiles. */
  readonly when?: (profile: Profile) => boolean;
  readonly get?: (x: Exchange) => Doc;
  /** Instead of 200 with the document, for the few that answer otherwise. */
  readonly read?: (x: Exchange) => Answer;
  readonly patch?: Write;
  readonly post?: Write;
  readonly delete?: Write;
};

export type ActiveFault = z.output<typeof Fault> & {
  readonly id: number;
  /** Epoch milliseconds; null when only the count ends it. */
  readonly until: number | null;
  readonly matcher: RegExp | null;
  struck: number;
};

export type Recorder = (bmc: Bmc, entry: Omit<JournalEntry, 'seq' | 'time' | 'bmc'>, now: number) => void;

export type JournalEntry = {
  seq: number;
  /** ISO 8601. */
  time: string;
  bmc: number;
  /** `control` for what was done at the machine itself, such as its power button. */
  source: 'client' | 'control';
  method: string;
  path: string;
  /** The request's body, passwords masked. */
  content: unknown;
  subject: Subject;
  effect: Effect;
  accepted: boolean;
  /** What was answered, or would have been. */
  status: number;
  /** Logins and logouts, for readers who want to leave them out. */
  session: boolean;
  /** The fault that got in the way. */
  fault?: string;
  /** False when the client never saw the answer. */
  answered: boolean;
};
