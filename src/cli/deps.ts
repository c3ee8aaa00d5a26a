/** What the command is given: the world it runs in, so that tests can give it another. */
import type { DhcpOptions } from '../model/boot/dhcp';
import type { DiskFormat, ImageValues } from '../model/boot/images';
import type { RamdiskValues } from '../model/boot/ramdisks';

/** How a server is trusted beyond the system's own certificates. */
export type Trust = { readonly caFile?: string; readonly insecure?: boolean };

/** A history's replay: how many events there were, and what did not fit this build. */
export type Replayed = { readonly events: number; readonly fault: string | null };

/** A run as replay must know it to find its history. */
export type RunName = { readonly uuid: string; readonly node_uuid: string; readonly verb: string };

/** How one thing was found. `todo` says what to do about it. */
export type Finding =
  | { readonly is: 'ok' | 'skipped'; readonly says: string }
  | { readonly is: 'failed'; readonly says: string; readonly todo: string };
export type DoctorCheck = { readonly name: string; find(): Promise<Finding> };

/** How many secrets are sealed to which keys. */
export type KeyUse = { readonly key_id: string; readonly shared: boolean; readonly count: number };

/** Sealed secrets, as a BMC worker may open them. */
export type SecretsTool = {
  keys(): Promise<readonly KeyUse[]>;
  reseal(): Promise<{
    readonly counts: Readonly<Record<'kept' | 'sealed' | 'foreign' | 'unused', number>>;
    readonly keys: readonly KeyUse[];
  }>;
  /** What of a node's credentials would go elsewhere; undefined where nothing would. */
  findMove(node: string): Promise<{ readonly from: string; readonly to: string; make(): Promise<void> } | undefined>;
  close(): Promise<void>;
};

/** The files of a ramdisk: a kernel with its initramfs, or an image that holds both. */
type RamdiskFiles =
  | { readonly kernel: string; readonly initrd: string; readonly arch: string }
  | { readonly iso: string };

/** What became of an import, or would: how many of each kind, and line by line what was not taken as it is. */
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

export type CliDeps = {
  readonly env: Readonly<Record<string, string | undefined>>;
  fetchWith(trust: Trust): typeof fetch;
  /** The text of a file, or undefined where there is none. */
  readFile(path: string): string | undefined;
  /** Replaces the text of a file that is there. */
  writeFile(path: string, text: string): void;
  /** Names of the files directly in a folder, or undefined where it is none. */
  filesIn(path: string): readonly string[] | undefined;
  readonly home: string;
  out(text: string): void;
  /** The terminal that `out` writes to; absent where it is a file or a pipe. */
  readonly terminal?: NodeJS.WriteStream;
  err(text: string): void;
  /** Where bytes come from and go to for a command that connects both with a node; absent where there is neither. */
  readonly keyboard?: NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly screen?: NodeJS.WritableStream;
  /** Asks the user; undefined where there is no terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Aborts when the command is asked to end. */
  readonly signal: AbortSignal;
  /** Checks of what the processes' own settings name, where the environment holds them. */
  checks(): readonly DoctorCheck[];
  /** Replays a run against this build; the text is a workflow's id. */
  replay(of: RunName | string): Promise<Replayed>;
  /** A new pair of keys, each half in base64. */
  newKeys(): { readonly public: string; readonly private: string };
  /** Makes and stores a boot image in a folder, that of the settings when absent. @returns what its record holds. Throws CliFault */
  storeRamdisk(given: RamdiskFiles & { readonly dir?: string }): Promise<Omit<RamdiskValues, 'name' | 'arch' | 'args'>>;
  /** Stores an image's file in a folder, that of the settings when absent. @returns what its record holds. Throws CliFault */
  storeImage(given: {
    readonly file: string;
    readonly dir?: string;
  }): Promise<Pick<ImageValues, 'sha256' | 'bytes'> & { readonly disk_format?: DiskFormat }>;
  /** Makes the folder that dnsmasq serves a boot network from, that of the settings when absent. @returns its configuration's path. Throws CliFault */
  prepareDhcp(given: DhcpOptions & { readonly dir?: string }): Promise<string>;
  /** Opens the store of sealed secrets as the environment's settings say. Throws CliFault (usage). */
  secrets(): SecretsTool;
  /** Imports an Ironic database, with the settings of an API process. Throws CliFault (usage, refused). */
  importIronic(given: {
    readonly url: string | undefined;
    readonly dryRun: boolean;
    readonly only?: ReadonlySet<string>;
    readonly ironicStopped?: boolean;
  }): Promise<ImportReport>;
};
