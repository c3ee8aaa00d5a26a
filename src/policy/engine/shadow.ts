/** Shadow policy: evaluates a second policy on the same requests without effect, and counts differences. */

import { type Caller, scopeOf } from '../../model/access/callers';
import { isTemperError } from '../../model/errors';
import type { Policy, Target } from '../types';

/** Count per rule, direction and kind of caller, without ids of callers. */
type ShadowRow = {
  readonly rule: string;
  /** Decision of the second policy. */
  readonly would: 'allow' | 'refuse';
  readonly scope: 'system' | 'domain' | 'project';
  readonly roles: readonly string[];
  readonly count: number;
  readonly first: string;
  readonly last: string;
};

export type ShadowReport = {
  /** Hash of the second policy. */
  readonly hash: string;
  readonly since: string;
  readonly decisions: number;
  /** Number of uncounted kinds of differences beyond the limit. */
  readonly left_out: number;
  readonly differences: readonly ShadowRow[];
};

type ShadowOptions = {
  readonly now: () => Date;
  /** Called when a row first appears. */
  readonly onNew?: (row: ShadowRow) => void;
  readonly onDifference?: (rule: string, would: ShadowRow['would']) => void;
};

/** Callers choose their role names, which must not fill the memory. */
const mostRows = 1_000;

type CountedRow = { -readonly [Key in keyof ShadowRow]: ShadowRow[Key] };

/** `leftOut` counts kinds beyond the limit. */
const createDifferences = ({ now, onNew, onDifference }: ShadowOptions) => {
  const rows = new Map<string, CountedRow>();
  let leftOut = 0;
  return {
    note(rule: string, who: Caller, would: ShadowRow['would']): void {
      onDifference?.(rule, would);
      const scope = scopeOf(who);
      const roles = [...who.roles].sort();
      const key = JSON.stringify([rule, would, scope, roles]);
      const last = now().toISOString();
      const row = rows.get(key);
      if (row) {
        row.count += 1;
        row.last = last;
      } else if (rows.size >= mostRows) leftOut += 1;
      else {
        const made = { rule, would, scope, roles, count: 1, first: last, last };
        rows.set(key, made);
        onNew?.(made);
      }
    },
    report: () => ({
      left_out: leftOut,
      differences: [...rows.values()].sort((one, other) => other.count - one.count),
    }),
  };
};

/** Undefined if Keystone does not answer: the shadow must not fail the request. */
const decisionOf = (policy: Policy, rule: string, who: Caller, target: Target | undefined): boolean | undefined => {
  try {
    return policy.allows(rule, who, target);
  } catch (thrown) {
    if (isTemperError(thrown, 'IdentityUnavailable')) return undefined;
    throw thrown;
  }
};

export const createShadow = (second: Policy, options: ShadowOptions) => {
  const differences = createDifferences(options);
  const since = options.now().toISOString();
  let decisions = 0;

  const compare = (rule: string, who: Caller, target: Target | undefined, may: boolean): void => {
    const would = decisionOf(second, rule, who, target);
    if (would === undefined) return;
    decisions += 1;
    if (would !== may) differences.note(rule, who, would ? 'allow' : 'refuse');
  };

  /** Compares each decision. Filters of lists decide rows, not requests, and are not compared. */
  const beside = (first: Policy): Policy => {
    const allows: Policy['allows'] = (rule, who, target) => {
      const may = first.allows(rule, who, target);
      compare(rule, who, target, may);
      return may;
    };
    return {
      ...first,
      allows,
      require: (rule, who, target) => {
        compare(rule, who, target, first.allows(rule, who, target));
        first.require(rule, who, target);
      },
    };
  };

  const report = (): ShadowReport => ({ hash: second.hash, since, decisions, ...differences.report() });

  return { beside, report };
};

export type Shadow = ReturnType<typeof createShadow>;
