/** The dashboard: every query asks for metrics that exist, by labels that they have, and every metric of ours is asked for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { counterRows, createMetrics, gaugeRows, histogramRows } from '../../src/observe/metrics';

type Target = { readonly expr: string; readonly legendFormat: string };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly Target[];
};
const dashboard = JSON.parse(readFileSync(join(__dirname, '../../deploy/grafana/temper.json'), 'utf8')) as {
  panels: Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => [title, target] as const));

type Row = { readonly name: string; readonly labels?: readonly string[] };
const rowsOf = (table: Readonly<Record<string, Row>>): Row[] => Object.values(table);
const histograms = rowsOf(histogramRows);
const levels = [...rowsOf(counterRows), ...rowsOf(gaugeRows)];
const series = new Map([
  ...histograms.flatMap((row) => ['_count', '_bucket', '_sum'].map((end) => [`${row.name}${end}`, row] as const)),
  ...levels.map((row) => [row.name, row] as const),
]);
const byDefault = new Set(
  createMetrics('test')
    .registry.getMetricsAsArray()
    .map(({ name }) => name),
);
const named = (expr: string): string[] => expr.match(/\b(?:temper|temporal|process|nodejs)_\w+/g) ?? [];

test('has panels, each with a query and an id of its own', () => {
  expect(panels.length).toBeGreaterThan(20);
  expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test.each(queries)('%s asks for metrics that exist', (_, { expr }) => {
  const ours = named(expr).filter((name) => !name.startsWith('temporal_'));
  const unknown = ours.filter((name) => !series.has(name) && (name.startsWith('temper_') || !byDefault.has(name)));
  expect(unknown).toEqual([]);
  expect(named(expr)).not.toEqual([]);
});

test.each(queries.filter(([, { expr }]) => /temper_/.test(expr)))(
  '%s asks by labels that the metric has',
  (_, target) => {
    const labels = new Set(named(target.expr).flatMap((name) => series.get(name)?.labels ?? []));
    const always = ['le', 'instance', 'process'];
    const asked = [
      ...[...target.expr.matchAll(/by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/,\s*/)),
      ...[...target.expr.matchAll(/[{,](\w+)[=!]/g)].map((match) => match[1]!),
      ...[...target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]!),
    ];
    expect(asked.filter((label) => !labels.has(label) && !always.includes(label))).toEqual([]);
  },
);

test('every metric of ours is on it', () => {
  const asked = new Set(queries.flatMap(([, { expr }]) => named(expr)));
  const missing = [...histograms, ...levels].filter(
    ({ name }) => !asked.has(name) && !asked.has(`${name}_count`) && !asked.has(`${name}_bucket`),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});
