/** How the checks of a request go on at a refusal: an admission ends with the first, a plan collects all of them. */
import type { Caller } from '../../model/access/callers';
import { isTemperError } from '../../model/errors';
import { type Refusal, refusalOf } from '../../model/runs/verdicts';
import type { Policy, Target } from '../../policy';

export type Checks = {
  /** Makes one check. @returns undefined where it refused and the checks go on */
  try<T>(check: () => T): T | undefined;
  /** As `try`, for a check that asks the store. */
  ask<T>(check: () => Promise<T>): Promise<T | undefined>;
  /** Asks one rule. Where the first refusal ends the checks: throws PolicyDenied. */
  rule(policy: Policy, rule: string, who: Caller, target: Target): void;
};

/** Throws the first refusal, as a request is answered. */
export const firstRefusal: Checks = {
  try: (check) => check(),
  ask: (check) => check(),
  rule: (policy, rule, who, target) => policy.require(rule, who, target),
};

/** A refusal, and the target of its rule where one refused. */
export type CollectedRefusal = Refusal & { readonly target?: Target };

/** Checks that go on to the end, and what they refused: each reason once, in the order of an admission. */
export type CollectingChecks = Checks & { readonly refusals: readonly CollectedRefusal[] };

/**
 * Checks that collect. What is no word about node and request (a missing object, a store that does not answer) is thrown on.
 */
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
