/** Runs recorded cases of oslo.policy against this implementation. */

import { isTemperError } from '../../model/errors';
import { readPolicy } from '../engine/read';
import { createRuleSet, type RuleSetOptions, type Verdict } from '../engine/ruleset';
import type { Mode, RegisteredRule, Scope } from '../types';

type Deprecated = { readonly name: string; readonly check_str: string };

export type Case = {
  readonly id: string;
  readonly group: string;
  readonly tier: 'core' | 'edge' | 'exotic';
  readonly kind?: 'enforce' | 'yaml';
  readonly rule?: unknown;
  readonly rules?: Readonly<Record<string, unknown>>;
  readonly canonical?: string;
  readonly text?: string;
  readonly enforce?: string;
  readonly method?: 'authorize' | 'enforce';
  readonly doRaise?: boolean;
  readonly conf?: { readonly enforce_new_defaults?: boolean };
  readonly registered?: readonly {
    readonly name: string;
    readonly check_str: string;
    readonly scope_types?: readonly Scope[];
    readonly deprecated_rule?: Deprecated;
  }[];
  readonly file?: Readonly<Record<string, unknown>>;
  readonly http?: { readonly body?: string; readonly timeout?: boolean };
  readonly httpUrl?: string;
  readonly target: Readonly<Record<string, unknown>>;
  readonly creds: Readonly<Record<string, unknown>>;
  readonly expected: boolean | 'error';
  readonly errorType?: string;
};

export type ConformanceFile = { readonly cases: readonly Case[] };

const registeredOf = (row: Case): RegisteredRule[] =>
  (row.registered ?? []).map(({ name, check_str, scope_types, deprecated_rule }) => ({
    name,
    check: check_str,
    scopes: scope_types ?? null,
    ...(deprecated_rule ? { deprecated: { name: deprecated_rule.name, check: deprecated_rule.check_str } } : {}),
  }));

const asked = 'asked';

const optionsOf = (row: Case, calls: string[]): RuleSetOptions => {
  const { http } = row;
  const remote = http && {
    remote: ({ url }: { url: string }): string => {
      calls.push(url);
      if (http.timeout) throw new Error('timed out');
      return http.body ?? '';
    },
  };
  if (row.kind === 'yaml') return { registered: [], ...readPolicy(row.text ?? '', 'policy.yaml') };
  const newDefaults = row.conf?.enforce_new_defaults ?? true;
  if (row.kind === 'enforce')
    return { registered: registeredOf(row), overrides: row.file ?? {}, newDefaults, ...remote };
  return { registered: [], overrides: { ...row.rules, [asked]: row.rule }, ...remote };
};

/** Names of oslo.policy's exceptions. */
const errorTypes: Readonly<Record<string, string>> = {
  scope: 'InvalidScope',
  check: 'PolicyNotAuthorized',
  unknown: 'PolicyNotAuthorized',
  unregistered: 'PolicyNotRegistered',
};

export const refusedAtLoad = 'refused at load';

/** A verdict, the name of a distinguished error, 'error', or 'refused at load'. */
type Outcome = boolean | string;

const outcomeOf = (verdict: Verdict, row: Case): Outcome => {
  if (verdict.is === 'allowed') return true;
  if (verdict.why === 'fault') return 'error';
  return row.doRaise || verdict.why === 'unregistered' ? errorTypes[verdict.why]! : false;
};

export type Ran = { readonly outcome: Outcome; readonly calls: readonly string[]; readonly reason?: string };

export const runCase = (row: Case, mode: Mode): Ran => {
  const calls: string[] = [];
  try {
    const set = createRuleSet({ ...optionsOf(row, calls), mode });
    const verdict = set.decide({
      rule: row.enforce ?? asked,
      credentials: row.creds,
      target: row.target,
      registeredOnly: row.method === 'authorize',
    });
    return { outcome: outcomeOf(verdict, row), calls };
  } catch (thrown) {
    if (!isTemperError(thrown, 'PolicyInvalid')) throw thrown;
    return { outcome: refusedAtLoad, calls, reason: String(thrown.facts.reason) };
  }
};

const distinguished = new Set(['InvalidScope', 'PolicyNotAuthorized', 'PolicyNotRegistered']);

/** In `compat`: oslo.policy's answer, or a refusal at load if the case accepts that. */
const asReference = ({ expected, errorType = '', tier }: Case): readonly Outcome[] => {
  if (expected !== 'error') return tier === 'exotic' ? [expected, refusedAtLoad] : [expected];
  return distinguished.has(errorType) ? [errorType] : ['error', refusedAtLoad];
};

/** In `strict`, traps may be closed or refused, never opened. References to undefined rules are refused. */
const acceptable = (row: Case, mode: Mode, { reason = '' }: Ran): readonly Outcome[] => {
  const same = asReference(row);
  if (mode === 'compat') return same;
  if (row.tier !== 'core') return [...same, false, refusedAtLoad];
  return /which nothing defines/.test(reason) ? [...same, refusedAtLoad] : same;
};

export type CaseResult = {
  readonly id: string;
  readonly passed: boolean;
  readonly expected: Case['expected'];
  readonly outcome: Outcome;
  /** The outcome differs from oslo.policy's and is permitted. */
  readonly stricter: boolean;
  readonly reason?: string;
};

export const judgeCase = (row: Case, mode: Mode): CaseResult => {
  const ran = runCase(row, mode);
  const called = !row.http || mode === 'strict' || ran.calls.join() === (row.httpUrl ?? '');
  const passed = called && acceptable(row, mode, ran).includes(ran.outcome);
  return {
    id: row.id,
    passed,
    expected: row.expected,
    outcome: ran.outcome,
    stricter: passed && !asReference(row).includes(ran.outcome),
    ...(ran.reason === undefined ? {} : { reason: ran.reason }),
  };
};
