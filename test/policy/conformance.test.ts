/** Runs every case that was recorded from the reference engine. */

import { parse } from 'yaml';
import { isTemperError } from '../../src/model/errors';
import { printCheck } from '../../src/policy/language/check';
import { parseRule } from '../../src/policy/language/parse';
import type { RegisteredRule, Scope } from '../../src/policy/merge';
import { createRuleSet, type RuleSetOptions, type Verdict } from '../../src/policy/ruleset';
import type { Mode } from '../../src/policy/types';
import { readData } from './support';

type Case = {
  id: string;
  group: string;
  tier: 'core' | 'edge' | 'exotic';
  kind?: 'enforce' | 'yaml';
  rule?: unknown;
  rules?: Record<string, unknown>;
  canonical?: string;
  text?: string;
  enforce?: string;
  method?: 'authorize';
  doRaise?: boolean;
  conf?: { enforce_new_defaults?: boolean };
  registered?: { name: string; check_str: string; scope_types?: Scope[]; deprecated_rule?: Deprecated }[];
  file?: Record<string, unknown>;
  http?: { body?: string; timeout?: boolean };
  httpUrl?: string;
  target: Record<string, unknown>;
  creds: Record<string, unknown>;
  expected: boolean | 'error';
  errorType?: string;
};
type Deprecated = { name: string; check_str: string };

const { cases } = readData<{ cases: Case[] }>('policy-conformance.json');

const registeredOf = (row: Case): RegisteredRule[] =>
  (row.registered ?? []).map(({ name, check_str, scope_types, deprecated_rule }) => ({
    name,
    check: check_str,
    scopes: scope_types ?? null,
    ...(deprecated_rule ? { deprecated: { name: deprecated_rule.name, check: deprecated_rule.check_str } } : {}),
  }));

/** The file as a dictionary. Old YAML, because that is what the reference reads. */
const readYaml = (text: string): Record<string, unknown> => {
  const read: unknown = parse(text, { version: '1.1', uniqueKeys: false, logLevel: 'error' });
  if (read === null) return {};
  if (typeof read !== 'object' || Array.isArray(read)) throw new Error('a policy file holds names and rules');
  return read as Record<string, unknown>;
};

const asked = 'asked';

const optionsOf = (row: Case, calls: string[]): RuleSetOptions => {
  const remote = row.http && {
    remote: ({ url }: { url: string }): string => {
      calls.push(url);
      if (row.http?.timeout) throw new Error('timed out');
      return row.http?.body ?? '';
    },
  };
  if (row.kind === 'yaml') return { registered: [], overrides: readYaml(row.text ?? '') };
  if (row.kind === 'enforce')
    return {
      registered: registeredOf(row),
      overrides: row.file ?? {},
      newDefaults: row.conf?.enforce_new_defaults ?? true,
    };
  return { registered: [], overrides: { ...row.rules, [asked]: row.rule }, ...remote };
};

/** What the reference's exceptions are called here. */
const errorTypes: Record<string, string | undefined> = {
  scope: 'InvalidScope',
  check: 'PolicyNotAuthorized',
  unknown: 'PolicyNotAuthorized',
  unregistered: 'PolicyNotRegistered',
};

const outcomeOf = (verdict: Verdict, row: Case): boolean | string => {
  if (verdict.is === 'allowed') return true;
  if (verdict.why === 'fault') return 'error';
  return row.doRaise || verdict.why === 'unregistered' ? errorTypes[verdict.why]! : false;
};

const run = (row: Case, mode: Mode): { outcome: boolean | string; calls: string[] } => {
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
    // Refused at load: the file (YAML or content) never becomes a set.
    if (row.kind !== 'yaml' && !isTemperError(thrown, 'PolicyInvalid')) throw thrown;
    return { outcome: 'refused at load', calls };
  }
};

const distinguished = new Set(['InvalidScope', 'PolicyNotAuthorized', 'PolicyNotRegistered']);

/** Outcomes that count as the reference's. */
const acceptable = (row: Case): (boolean | string)[] => {
  if (row.expected !== 'error') return row.tier === 'exotic' ? [row.expected, 'refused at load'] : [row.expected];
  return distinguished.has(row.errorType ?? '') ? [row.errorType!] : ['error', 'refused at load'];
};

const title = (row: Case): string =>
  `${row.id} ${row.group}: ${JSON.stringify(row.rule ?? row.text ?? row.enforce)} for ${JSON.stringify(row.creds)}`;

test('the recorded cases are all here', () => {
  expect(cases).toHaveLength(268);
});

test.each(cases.map((row) => [title(row), row] as const))('in compat mode, %s answers as the reference', (_, row) => {
  const { outcome, calls } = run(row, 'compat');
  expect(acceptable(row)).toContain(outcome);
  if (row.http) expect(calls).toEqual(row.httpUrl === undefined ? [] : [row.httpUrl]);
});

test('only the number formats of another language are refused where the reference answers', () => {
  const refused = cases.filter((row) => row.expected !== 'error' && run(row, 'compat').outcome === 'refused at load');
  expect(refused.map(({ id, rule }) => [id, rule])).toEqual([
    ['P176', 'project_id:%(x)d'],
    ['P183', 'project_id:%(x)5s'],
  ]);
});

test.each(cases.filter((row) => row.canonical !== undefined).map((row) => [row.id, row] as const))(
  '%s prints as the reference prints it',
  (_, row) => {
    const { check, refused } = parseRule(row.rule);
    if (refused.length === 0) expect(printCheck(check)).toBe(row.canonical);
    else expect(row.tier).toBe('exotic');
  },
);

test('strict mode passes nobody whom compat mode would refuse', () => {
  const opened = cases.filter((row) => run(row, 'strict').outcome === true && run(row, 'compat').outcome !== true);
  expect(opened.map(title)).toEqual([]);
});

test('of the traps of the language, strict mode admits somebody only where the text says so', () => {
  const open = cases.filter((row) => row.tier === 'edge' && run(row, 'strict').outcome === true);
  expect(open.map(({ id }) => id)).toEqual([
    'P092', // "role:50%%": a doubled percent sign is one percent sign
    'P117', // "not project_id:%(node.owner)s": whoever does not own
    'P236', // an old name that points to the new one
    'P244', // the same with old defaults
    'P258', // a key given twice: the last counts; who reads the YAML refuses it
    'P263', // a text without quotes, which YAML reads as text
  ]);
});
