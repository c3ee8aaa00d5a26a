/** Answer schemas of policy decisions and of the audit trail. */
import { z } from 'zod';
import { count, document, list, maybe, type Person, pageOf, text, time, trueOrFalse, typed } from './parts';

/** One check of a rule's text, with its verdict. */
type ExplainedPart = {
  readonly text: string;
  readonly verdict: string;
  readonly compared?: { readonly caller: readonly string[]; readonly wanted: string | null };
  readonly parts?: readonly ExplainedPart[];
};

export type Explanation = {
  readonly rule: string;
  readonly verdict: 'allowed' | 'refused';
  readonly answer: 'allowed' | 'refused' | 'missing';
  readonly rule_set: string;
  readonly why?: string;
  readonly tree: ExplainedPart | null;
};

export const explanation = typed<Explanation>(
  z.looseObject({
    rule: text,
    verdict: z.enum(['allowed', 'refused']),
    answer: z.enum(['allowed', 'refused', 'missing']),
    rule_set: text,
  }),
);

type ShadowDifference = {
  readonly rule: string;
  readonly would: 'allow' | 'refuse';
  readonly scope: string;
  readonly roles: readonly string[];
  readonly count: number;
  readonly last: string;
};

/** Decisions in which a second policy differs. */
export const shadow = z.strictObject({
  hash: text,
  since: text,
  decisions: count,
  left_out: count,
  differences: list(typed<ShadowDifference>(document)),
});
export type ShadowReport = z.output<typeof shadow>;

/** `text` is present only if the query names a hash. */
export const policyHistory = pageOf(
  'history',
  z.strictObject({
    digest: text,
    rule_set: text,
    set: text,
    mode: text,
    first_at: time,
    files: list(z.strictObject({ path: text, sha256: text, rules: count.nullable(), text: z.string().optional() })),
  }),
);
export type PolicyHistory = z.output<typeof policyHistory>;

export type AuditEntry = {
  readonly seq: number;
  readonly at: string;
  readonly action: string;
  readonly verdict: string;
  readonly who: Person & {
    readonly project_id?: string | null;
    readonly project_name?: string | null;
    readonly system_scope?: string | null;
    readonly roles?: readonly string[];
  };
  readonly address?: string | null;
  readonly request_id?: string | null;
  readonly rule: string | null;
  readonly rule_set?: string | null;
  readonly code?: string | null;
  readonly times?: number;
  readonly node_uuid?: string | null;
  /** At present; null for nodes that the caller does not see. */
  readonly node_name?: string | null;
  readonly resource: string | null;
  readonly resource_id: string | null;
  readonly run_uuid: string | null;
  readonly data?: unknown;
};

export const audit = pageOf(
  'audit',
  typed<AuditEntry>(z.looseObject({ seq: count, at: time, action: text, verdict: text, who: document })),
);

const canAnswer = z.strictObject({ rule: text, allowed: trueOrFalse, reason: maybe });
export type CanAnswer = z.output<typeof canAnswer>;

/** In the order of the questions. */
export const canAnswers = z.strictObject({ answers: list(canAnswer) });
