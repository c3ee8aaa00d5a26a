/** Runs every case that was recorded from the reference engine. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printCheck } from '../../src/policy/language/check';
import { parseRule } from '../../src/policy/language/parse';
import {
  type Case,
  type ConformanceFile,
  judgeCase,
  refusedAtLoad,
  runCase,
} from '../../src/policy/reports/conformance';
import { readData } from './support';

const { cases } = readData<ConformanceFile>('policy-conformance.json');

const title = (row: Case): string =>
  `${row.id} ${row.group}: ${JSON.stringify(row.rule ?? row.text ?? row.enforce)} for ${JSON.stringify(row.creds)}`;

test('the recorded cases are all here', () => {
  expect(cases).toHaveLength(268);
});

test.each(cases.map((row) => [title(row), row] as const))('in compat mode, %s answers as the reference', (_, row) => {
  const { passed, outcome, expected } = judgeCase(row, 'compat');
  expect({ passed, outcome, expected }).toMatchObject({ passed: true });
  if (row.http) expect(runCase(row, 'compat').calls).toEqual(row.httpUrl === undefined ? [] : [row.httpUrl]);
});

test('a remote question that goes elsewhere is a failure in compat mode, where the reference shows whom it asks', () => {
  const row = cases.find(({ http, expected, tier }) => http !== undefined && expected === true && tier === 'core')!;
  const elsewhere = { ...row, httpUrl: `${row.httpUrl}/elsewhere` };
  const passed = (of: Case, mode: 'compat' | 'strict') => judgeCase(of, mode).passed;
  expect([passed(row, 'compat'), passed(elsewhere, 'compat')]).toEqual([true, false]);
  expect([passed(row, 'strict'), passed(elsewhere, 'strict')]).toEqual([true, true]);
});

test('only the number formats of another language are refused where the reference answers', () => {
  const refused = cases.filter((row) => row.expected !== 'error' && runCase(row, 'compat').outcome === refusedAtLoad);
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

describe('strict mode', () => {
  test('passes no caller whom compat mode would refuse', () => {
    const opened = cases.filter(
      (row) => runCase(row, 'strict').outcome === true && runCase(row, 'compat').outcome !== true,
    );
    expect(opened.map(title)).toEqual([]);
  });

  test('answers every core row as the reference, but for references that lead nowhere', () => {
    const other = cases.filter((row) => row.tier === 'core').map((row) => judgeCase(row, 'strict'));
    expect(other.filter(({ passed }) => !passed)).toEqual([]);
    expect(other.filter(({ stricter }) => stricter).map(({ id, outcome }) => [id, outcome])).toEqual([
      ['P096', refusedAtLoad],
      ['P097', refusedAtLoad],
      ['P098', refusedAtLoad],
    ]);
  });

  test('closes or refuses what it answers otherwise at the edges, where core rows may not be', () => {
    const edges = cases.filter((row) => row.tier !== 'core');
    const judged = edges.map((row) => [judgeCase(row, 'strict'), row] as const);
    expect(judged.filter(([{ passed }]) => !passed)).toEqual([]);
    const closed = judged.filter(([{ stricter, outcome }]) => stricter && outcome === false);
    expect(closed.length).toBeGreaterThan(0);
    for (const [, row] of closed) expect(judgeCase({ ...row, tier: 'core' }, 'strict').passed).toBe(false);
    const [, shut] = judged.find(([{ outcome }]) => outcome === false)!;
    expect(judgeCase({ ...shut, expected: true }, 'strict')).toMatchObject({ passed: true, stricter: true });
    const [, open] = judged.find(([{ outcome }]) => outcome === true)!;
    expect(judgeCase({ ...open, expected: false }, 'strict').passed).toBe(false);
  });

  test('answers every edge row as the committed file says', () => {
    const words = (outcome: boolean | string): string =>
      outcome === true ? 'allow' : outcome === false || outcome === 'error' ? 'deny' : 'refuse at load';
    const verdicts = cases
      .filter(({ tier }) => tier !== 'core')
      .map((row) => {
        const { outcome } = runCase(row, 'strict');
        const text = JSON.stringify(row.rule ?? row.text ?? row.file ?? row.enforce);
        const reference = row.expected === 'error' ? 'error' : row.expected ? 'allow' : 'deny';
        return `${row.id}  ${words(outcome).padEnd(14)}  ${reference.padEnd(9)}  ${text}`;
      });
    const committed = readFileSync(join(__dirname, 'data', 'strict-verdicts.txt'), 'utf8');
    const body = committed.split('\n').filter((line) => line.startsWith('P'));
    expect(verdicts).toEqual(body);
  });
});
