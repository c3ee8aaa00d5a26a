/** Audit record of a process's policy load. */

type PolicyFileText = {
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** ISO. */
  readonly modified_at: string;
  /** Owner of the file. */
  readonly uid: number;
  /** Number of rules; null if the file is invalid. */
  readonly rules: number | null;
};

export type PolicyLoad = {
  readonly at: Date;
  readonly set: string;
  readonly mode: string;
  /** Hash of the rules in force; null for a refused load. */
  readonly rule_set: string | null;
  /** Reason of a refusal. */
  readonly reason: string | null;
  readonly files: readonly PolicyFileText[];
};

/** A text in force, and its first load. */
export type PolicyTexts = {
  readonly digest: string;
  readonly rule_set: string;
  readonly set: string;
  readonly mode: string;
  readonly first_at: Date;
  readonly files: readonly Pick<PolicyFileText, 'path' | 'text' | 'sha256' | 'rules'>[];
};
