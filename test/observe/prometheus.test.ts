/** Recording rules and alerts: every expression asks for metrics that exist, by labels and values that they have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readLevels } from '../../src/observe/levels';
import { counterRows, createMetrics, gaugeRows, histogramRows } from '../../src/observe/metrics';

type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly annotations?: Readonly<Record<string, string>>;
};
const text = readFileSync(join(__dirname, '../../deploy/prometheus/temper-rules.yaml'), 'utf8');
const groups = (parse(text) as { groups: { name: string; rules: Rule[] }[] }).groups;
const rules = groups.flatMap((group) => group.rules);
const named = rules.map((rule) => [rule.record ?? rule.alert ?? 'without a name', rule] as const);

type Row = { readonly name: string; readonly labels?: readonly string[] };
const rowsOf = (table: Readonly<Record<string, Row>>): Row[] => Object.values(table);
const series = new Map([
  ...rowsOf(histogramRows).flatMap((row) =>
    ['_count', '_bucket', '_sum'].map((end) => [`${row.name}${end}`, row] as const),
  ),
  ...[...rowsOf(counterRows), ...rowsOf(gaugeRows)].map((row) => [row.name, row] as const),
]);

test('names are unique, and there are rules of both kinds', () => {
  const names = named.map(([name]) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(rules.filter(({ record }) => record).length).toBeGreaterThan(4);
  expect(rules.filter(({ alert }) => alert).length).toBeGreaterThan(4);
});

test.each(named)('%s asks for metrics and labels that exist', (_, { expr }) => {
  const metrics = expr.match(/\btemper_\w+/g) ?? [];
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((name) => !series.has(name))).toEqual([]);
  // Prometheus adds the first, and every bucket has the second.
  const labels = new Set([...metrics.flatMap((name) => series.get(name)?.labels ?? []), 'instance', 'le']);
  const asked = [
    ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/,\s*/)),
    ...[...expr.matchAll(/[{,](\w+)[=!]/g)].map((match) => match[1]!),
  ];
  expect(asked.filter((label) => !labels.has(label))).toEqual([]);
});

test.each(named.filter(([, { alert }]) => alert))('%s waits a while, and says what to do', (_, rule) => {
  expect(rule.for).toMatch(/^\d+m$/);
  expect(rule.annotations?.summary?.length).toBeGreaterThan(10);
  expect(rule.annotations?.description?.length).toBeGreaterThan(10);
});

test('levels are of this moment: what is there no more is not shown at its last number', async () => {
  const metrics = createMetrics('test');
  const node = { state: 'active', fault: 'none', maintenance: false, count: 3 };
  await readLevels(
    { nodes: async () => [node], runs: async () => [{ verb: 'clean', state: 'retrying', count: 2, retrying_s: 901 }] },
    metrics,
  );
  const told = await metrics.registry.metrics();
  expect(told).toContain('temper_nodes{state="active",fault="none",maintenance="false",process="test"} 3');
  expect(told).toContain('temper_runs_open{verb="clean",state="retrying",process="test"} 2');
  expect(told).toContain('temper_runs_retrying_longest_seconds{process="test"} 901');
  await readLevels({ nodes: async () => [], runs: async () => [] }, metrics);
  expect(await metrics.registry.metrics()).toContain('temper_runs_retrying_longest_seconds{process="test"} 0');
  expect(await metrics.registry.metrics()).not.toMatch(/^temper_(nodes|runs_open)\{.* [1-9]/m);
});

test('an installation without a node still reports nodes, for the alert on control workers asks whether they do', async () => {
  expect(rules.find(({ alert }) => alert === 'TemperNoControlWorker')?.expr).toBe('absent(temper_nodes)');
  const metrics = createMetrics('test');
  await readLevels({ nodes: async () => [], runs: async () => [] }, metrics);
  expect(await metrics.registry.metrics()).toContain(
    'temper_nodes{state="enroll",fault="none",maintenance="false",process="test"} 0',
  );
});
