/** Answer schemas of policy decisions and of the audit trail. */
import { z } from 'zod';
import { count, document, maybe, pageOf, text, time, trueOrFalse } from './parts';

export const explanation = z.looseObject({
  rule: text,
  verdict: z.enum(['allowed', 'refused']),
  answer: z.enum(['allowed', 'refused', 'missing']),
  rule_set: text,
});

/** Decisions in which a second policy differs. */
export const shadow = z.strictObject({
  hash: text,
  since: text,
  decisions: count,
  left_out: count,
  differences: z.array(document),
});

/** `text` is present only if the query names a hash. */
export const policyHistory = pageOf(
  'history',
  z.strictObject({
    digest: text,
    rule_set: text,
    set: text,
    mode: text,
    first_at: time,
    files: z.array(z.strictObject({ path: text, sha256: text, rules: count.nullable(), text: z.string().optional() })),
  }),
);

export const audit = pageOf(
  'audit',
  z.looseObject({ seq: count, at: time, action: text, verdict: text, who: document }),
);

/** In the order of the questions. */
export const canAnswers = z.strictObject({
  answers: z.array(z.strictObject({ rule: text, allowed: trueOrFalse, reason: maybe })),
});
