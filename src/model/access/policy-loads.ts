/** A load of the policy by a process, as the audit trail keeps it: what was read, who wrote it, and what came of it. */

type PolicyFileText = {
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** When the file was changed last; ISO time. */
  readonly modified_at: string;
  /** The account that owns the file. */
  readonly uid: number;
  /** How many rules it holds; null where it could not be read as rules. */
  readonly rules: number | null;
};

export type PolicyLoad = {
  readonly at: Date;
  readonly set: string;
  readonly mode: string;
  /** The hash of the rules that came into force; null where the load was refused. */
  readonly rule_set: string | null;
  /** Why it was refused. */
  readonly reason: string | null;
  readonly files: readonly PolicyFileText[];
};

/** A text that was in force, and when it was first loaded. */
export type PolicyTexts = {
  readonly digest: string;
  readonly rule_set: string;
  readonly set: string;
  readonly mode: string;
  readonly first_at: Date;
  readonly files: readonly Pick<PolicyFileText, 'path' | 'text' | 'sha256' | 'rules'>[];
};
