/** Handling of refusals: an admission ends with the first, a plan collects all. */
import type { Caller } from '../model/access/callers';
import { isTemperError } from '../model/errors';
import { type Refusal, refusalOf } from '../model/runs/verdicts';
import type { Policy, Target } from '../policy';

export type Checks = {
  /** @returns undefined after a collected refusal */
  try<T>(check: () => T): T | undefined;
  /** As `try`, for a check that reads the database. */
  ask<T>(check: () => Promise<T>): Promise<T | undefined>;
  /** Evaluates one rule. Throws PolicyDenied unless refusals are collected. */
  rule(policy: Policy, rule: string, who: Caller, target: Target): void;
};

/** Checks that throw the first refusal. */
export const firstRefusal: Checks = {
  try: (check) => check(),
  ask: (check) => check(),
  rule: (policy, rule, who, target) => policy.require(rule, who, target),
};

/** A refusal, and its rule's target if a rule refused. */
export type CollectedRefusal = Refusal & { readonly target?: Target };

/** Checks that collect refusals, in the order of an admission and without repeats. */
export type CollectingChecks = Checks & { readonly refusals: readonly CollectedRefusal[] };

/** Collects refusals. Other errors, such as a missing object or a lost database, are rethrown. */
export const everyRefusal = (): CollectingChecks => {
  const refusals: CollectedRefusal[] = [];
  const known = new Set<string>();
  const collect = (thrown: unknown, target?: Target): undefined => {
    const refusal = isTemperError(thrown) ? refusalOf(thrown) : undefined;
    if (!refusal) throw thrown;
    const key = `${refusal.code} ${refusal.reason}`;
    if (!known.has(key)) refusals.push({ ...refusal, ...(target && { target }) });
    known.add(key);
    return undefined;
  };
  return {
    refusals,
    try: (check) => {
      try {
        return check();
      } catch (thrown) {
        return collect(thrown);
      }
    },
    ask: async (check) => {
      try {
        return await check();
      } catch (thrown) {
        return collect(thrown);
      }
    },
    rule: (policy, rule, who, target) => {
      try {
        policy.require(rule, who, target);
      } catch (thrown) {
        collect(thrown, target);
      }
    },
  };
};
