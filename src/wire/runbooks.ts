/** Answer schemas of runbooks under /temper/v1. */
import { z } from 'zod';
import type { Change } from '../model/json-diff';
import type { RunbookStep } from '../model/resources/runbook-steps';
import { count, document, list, maybe, pageOf, person, text, time, trueOrFalse, typed } from './parts';

export const runbookCheck = z.strictObject({
  errors: count,
  warnings: count,
  findings: list(
    z.strictObject({
      severity: z.enum(['error', 'warning']),
      index: count.nullable(),
      step: maybe,
      node: maybe,
      says: text,
    }),
  ),
});
export type RunbookCheck = z.output<typeof runbookCheck>;

const runbookParameter = z.strictObject({
  name: text,
  description: text.optional(),
  schema: document,
  default: z.unknown().optional(),
  secret: trueOrFalse.optional(),
});

export const runbookParameters = z.strictObject({ revision: count, parameters: list(runbookParameter) });
export type RunbookParameters = z.output<typeof runbookParameters>;

const runbookRevisionHead = {
  revision: count,
  newest: trueOrFalse,
  digest: text,
  name: text,
  owner: maybe,
  public: trueOrFalse,
  traits: list(text),
  disable_ramdisk: trueOrFalse,
  parameters: list(runbookParameter),
  author: person.nullable(),
  created_at: time,
  withdrawn: z.strictObject({ at: time, by: person.nullable(), reason: text }).nullable(),
};

const listedRevision = z.strictObject(runbookRevisionHead);
export type ListedRevision = z.output<typeof listedRevision>;

/** Newest first. */
export const runbookRevisions = pageOf('revisions', listedRevision);
export const runbookRevision = z.strictObject({ ...runbookRevisionHead, steps: list(typed<RunbookStep>(document)) });
export type RunbookRevision = z.output<typeof runbookRevision>;

const revisionNamed = z.strictObject({ revision: count, digest: text });

/** The patch is a JSON Patch (RFC 6902). */
export const runbookDiff = z.strictObject({
  from: revisionNamed,
  to: revisionNamed,
  patch: list(typed<Change>(document)),
});
export type RunbookDiff = z.output<typeof runbookDiff>;
