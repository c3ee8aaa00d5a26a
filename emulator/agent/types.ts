/** The shapes that the emulated ramdisk's files share: a machine, how long things take, a command, what was done. */

/** What an agent knows of the machine it runs on. */
export type Machine = {
  /** The first one names it. */
  readonly macs: readonly string[];
  /** Given to the lookup, for nodes without ports. */
  readonly nodeUuid?: string;
  readonly bootMode?: 'uefi' | 'bios';
  readonly bmcAddress?: string;
  /** What the kernel arguments of the image said that it was booted from. */
  readonly boot?: { readonly apiUrl: string; readonly token?: string; readonly inspectionUrl?: string };
  /** Boots again whenever it goes down or is turned away: for nodes whose power nobody emulates. */
  readonly endless?: boolean;
};

/** Durations, in milliseconds. */
export type AgentTiming = {
  /** From boot to the first lookup. */
  bootMs: number;
  /** First pause between lookups; doubles up to 60 s. */
  lookupRetryMs: number;
  /** Pause after a heartbeat that was not accepted, up to twice that. */
  beatRetryMs: number;
  /** Longest pause between heartbeats; the API's word when absent. */
  beatMs?: number;
  stepMs: number;
  imageMs: number;
  bootloaderMs: number;
  powerOffMs: number;
};

export type CommandStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CLEAN_VERSION_MISMATCH';

/** As the wire shows it; parameters are not part of it. */
export type WireCommand = {
  readonly id: string;
  /** Without the extension. */
  readonly command_name: string;
  command_status: CommandStatus;
  command_error: Record<string, unknown> | null;
  command_result: Record<string, unknown> | null;
};

/** One command that an agent took. */
export type AgentEntry = {
  readonly seq: number;
  /** ISO 8601. */
  readonly time: string;
  /** First MAC address of the machine. */
  readonly mac: string;
  readonly node_uuid: string | null;
  readonly id: string;
  /** With the extension. */
  readonly command: string;
  /** `interface.step` of a step command. */
  readonly step: string | null;
  /** Names of the parameters that came with a value; the values may be secrets. */
  readonly given: readonly string[];
  /** `disk_format` of the image that is to be written; a raw one is streamed, every other one is kept in memory first. */
  readonly format?: string;
  /** Whether doing it twice may harm. */
  readonly destructive: boolean;
  /** How it ended; null while it runs, and for ever when the machine went down. */
  status: CommandStatus | null;
};
