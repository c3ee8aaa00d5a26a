/** Answer schemas of runbooks under /temper/v1. */
import { z } from 'zod';
import { count, document, maybe, pageOf, text, time, trueOrFalse } from './parts';

export const runbookCheck = z.strictObject({
  errors: count,
  warnings: count,
  findings: z.array(
    z.strictObject({
      severity: z.enum(['error', 'warning']),
      index: count.nullable(),
      step: maybe,
      node: maybe,
      says: text,
    }),
  ),
});

const runbookParameter = z.strictObject({
  name: text,
  description: text.optional(),
  schema: document,
  default: z.unknown().optional(),
  secret: trueOrFalse.optional(),
});

export const runbookParameters = z.strictObject({ revision: count, parameters: z.array(runbookParameter) });

const runbookRevisionHead = {
  revision: count,
  newest: trueOrFalse,
  digest: text,
  name: text,
  owner: maybe,
  public: trueOrFalse,
  traits: z.array(text),
  disable_ramdisk: trueOrFalse,
  parameters: z.array(runbookParameter),
  author: document.nullable(),
  created_at: time,
  withdrawn: z.strictObject({ at: time, by: document.nullable(), reason: text }).nullable(),
};

/** Newest first. */
export const runbookRevisions = pageOf('revisions', z.strictObject(runbookRevisionHead));
export const runbookRevision = z.strictObject({ ...runbookRevisionHead, steps: z.array(document) });

const revisionNamed = z.strictObject({ revision: count, digest: text });

/** The patch is a JSON Patch (RFC 6902). */
export const runbookDiff = z.strictObject({ from: revisionNamed, to: revisionNamed, patch: z.array(document) });
