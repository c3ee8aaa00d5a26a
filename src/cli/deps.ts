/** Environment of the command, injected so that tests can replace it. */
import type { DhcpOptions } from '../model/boot/dhcp';
import type { DiskFormat, ImageValues } from '../model/boot/images';
import type { RamdiskValues } from '../model/boot/ramdisks';

/** Additional trust beyond the system's certificates. */
export type Trust = { readonly caFile?: string; readonly insecure?: boolean };

/** `fault` is the mismatch with this build. */
export type Replayed = { readonly events: number; readonly fault: string | null };

/** Facts that find a run's history. */
export type RunName = { readonly uuid: string; readonly node_uuid: string; readonly verb: string };

/** Result of one check. `todo` advises the operator. */
export type Finding =
  | { readonly is: 'ok' | 'skipped'; readonly says: string }
  | { readonly is: 'failed'; readonly says: string; readonly todo: string };
export type DoctorCheck = { readonly name: string; find(): Promise<Finding> };

export type KeyUse = { readonly key_id: string; readonly count: number };

/** Sealed secrets, opened with the rights of a BMC worker. */
export type SecretsTool = {
  keys(): Promise<readonly KeyUse[]>;
  reseal(): Promise<{
    readonly counts: Readonly<Record<'kept' | 'sealed' | 'foreign' | 'unused', number>>;
    readonly keys: readonly KeyUse[];
  }>;
  /** Finds credentials that would move; undefined if none would. */
  findMove(node: string): Promise<{ readonly from: string; readonly to: string; make(): Promise<void> } | undefined>;
  close(): Promise<void>;
};

/** A kernel with its initramfs, or an image of both. */
type RamdiskFiles =
  | { readonly kernel: string; readonly initrd: string; readonly arch: string }
  | { readonly iso: string };

/** Result of an import or a dry run: counts per kind, and a line per deviation. */
export type ImportReport = {
  readonly dry_run: boolean;
  readonly counts: Readonly<
    Record<string, Readonly<Record<'new' | 'changed' | 'same' | 'kept' | 'refused', number>> | undefined>
  >;
  readonly lines: readonly {
    readonly kind: string;
    readonly uuid: string | null;
    readonly name: string | null;
    readonly is: string;
    readonly reason: string;
  }[];
  readonly not_taken: readonly { readonly what: string; readonly count: number; readonly instead: string }[];
};

/** Work on the host of a process, with its settings. */
export type Installation = {
  /** Checks of the processes' settings, if the environment has them. */
  checks(): readonly DoctorCheck[];
  /** Replays a run against this build; a text is a workflow's id. */
  replay(of: RunName | string): Promise<Replayed>;
  /** A new key pair, each half in base64. */
  newKeys(): { readonly public: string; readonly private: string };
  /** `dir` defaults to the settings. @returns values of its record. Throws CliFault */
  storeRamdisk(given: RamdiskFiles & { readonly dir?: string }): Promise<Omit<RamdiskValues, 'name' | 'arch' | 'args'>>;
  /** `dir` defaults to the settings. @returns values of its record. Throws CliFault */
  storeImage(given: {
    readonly file: string;
    readonly dir?: string;
  }): Promise<Pick<ImageValues, 'sha256' | 'bytes'> & { readonly disk_format?: DiskFormat }>;
  /** `dir` defaults to the settings. @returns path of dnsmasq's configuration. Throws CliFault */
  prepareDhcp(given: DhcpOptions & { readonly dir?: string }): Promise<string>;
  /** Throws CliFault (usage). */
  secrets(): SecretsTool;
  /** Needs the settings of an API process. Throws CliFault (usage, refused). */
  importIronic(given: {
    readonly url: string | undefined;
    readonly dryRun: boolean;
    readonly only?: ReadonlySet<string>;
    readonly ironicStopped?: boolean;
  }): Promise<ImportReport>;
};

export type CliDeps = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  fetchWith(trust: Trust): typeof fetch;
  /** Returns undefined if there is no such file. */
  readFile(path: string): string | undefined;
  /** Replaces the text of an existing file. */
  writeFile(path: string, text: string): void;
  /** Writes a file that only its user can read, and makes its folder. */
  keepSecret(path: string, text: string): void;
  removeFile(path: string): void;
  /** Files directly in a folder; undefined if it is no folder. */
  filesIn(path: string): readonly string[] | undefined;
  readonly home: string;
  out(text: string): void;
  /** The terminal of `out`; absent for a file or a pipe. */
  readonly terminal?: NodeJS.WriteStream;
  err(text: string): void;
  /** Streams for a command that connects them with a node. */
  readonly keyboard?: NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly screen?: NodeJS.WritableStream;
  /** Prompts the user; undefined without a terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Aborts when the command must end. */
  readonly signal: AbortSignal;
  /** Absent in the client package. */
  readonly installation?: Installation;
};
