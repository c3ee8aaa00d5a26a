/** Audit record of a policy load by a process: the file, its owner and the result. */

type PolicyFileText = {
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** Modification time of the file, ISO. */
  readonly modified_at: string;
  /** The account that owns the file. */
  readonly uid: number;
  /** Number of rules; null if the file is not valid. */
  readonly rules: number | null;
};

export type PolicyLoad = {
  readonly at: Date;
  readonly set: string;
  readonly mode: string;
  /** The hash of the rules that came into force; null for a refused load. */
  readonly rule_set: string | null;
  /** The reason of a refusal. */
  readonly reason: string | null;
  readonly files: readonly PolicyFileText[];
};

/** A policy text that was in force, and its first load. */
export type PolicyTexts = {
  readonly digest: string;
  readonly rule_set: string;
  readonly set: string;
  readonly mode: string;
  readonly first_at: Date;
  readonly files: readonly Pick<PolicyFileText, 'path' | 'text' | 'sha256' | 'rules'>[];
};
