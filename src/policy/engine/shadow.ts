/** A second policy beside the one in force: asked the same, without effect, and its different answers counted. */

import { type Caller, scopeOf } from '../../model/access/callers';
import { isTemperError } from '../../model/errors';
import type { Policy, Target } from '../types';

/** Decisions that fell otherwise: one row for a rule, a direction, and a kind of caller. No ids of callers. */
type ShadowRow = {
  readonly rule: string;
  /** What the second policy would have done. */
  readonly would: 'allow' | 'refuse';
  readonly scope: 'system' | 'domain' | 'project';
  readonly roles: readonly string[];
  readonly count: number;
  readonly first: string;
  readonly last: string;
};

export type ShadowReport = {
  /** Of the second policy. */
  readonly hash: string;
  readonly since: string;
  readonly decisions: number;
  /** Kinds of differences that were not counted, because there were too many. */
  readonly left_out: number;
  readonly differences: readonly ShadowRow[];
};

type ShadowOptions = {
  readonly now: () => Date;
  /** Called the first time a row appears. */
  readonly onNew?: (row: ShadowRow) => void;
  /** Called for every difference. */
  readonly onDifference?: (rule: string, would: ShadowRow['would']) => void;
};

/** Rows at most: roles are the callers' words, and must not fill the memory. */
const mostRows = 1_000;

type CountedRow = { -readonly [Key in keyof ShadowRow]: ShadowRow[Key] };

/** The differences by kind, counted; `leftOut` of kinds beyond the bound. */
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

/** Undefined where a decision needs an identity service that does not answer: that is no reason to hold a request up. */
const decisionOf = (policy: Policy, rule: string, who: Caller, target: Target | undefined): boolean | undefined => {
  try {
    return policy.allows(rule, who, target);
  } catch (thrown) {
    if (isTemperError(thrown, 'IdentityUnavailable')) return undefined;
    throw thrown;
  }
};

/** What two policies answered differently. */
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

  /** The policy in force, answering as it does, and compared. Filters of lists are not: they decide rows, not requests. */
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
