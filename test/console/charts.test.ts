/** Charts: what they draw of numbers, and what reports make of runs. */
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { failingIn, stateOfNode, usedIn } from '../../src/console/pages/node-standing';
import { failuresOf, lately, pointsOf, usualSeconds } from '../../src/console/pages/run-reports';
import { GanttBar, PartsBar, Sparkline, StackedDays, stretchOf } from '../../src/console/parts/charts';
import type { NodeView } from '../../src/console/views';
import type { RunReport } from '../../src/wire/reports';

const day = (at: number): string => new Date(Date.UTC(2026, 10, at)).toISOString();
const row = (at: number, value: string | null, counts: object = {}) => ({ at: day(at), value, runs: 1, succeeded: 0, failed: 1, aborted: 0, median_s: null, ...counts }); // biome-ignore format: one row
const reportOf = (report: readonly ReturnType<typeof row>[], left_out = 0): RunReport => ({
  by: 'cause',
  bucket: 'day',
  since: day(10),
  until: new Date(Date.UTC(2026, 10, 24, 13)).toISOString(),
  report,
  left_out,
});

const numbersIn = (node: unknown, attribute: string): number[] =>
  [...renderToString(node as VNode).matchAll(new RegExp(`<rect[^>]* ${attribute}="([\\d.]+)%?"`, 'g'))].map(([, text]) => Number(text)); // biome-ignore format: one row

test('every day of a report has its point, also those without runs', () => {
  const points = pointsOf(reportOf([row(12, 'bmc_silent', { failed: 3 })]), (rows) => rows.reduce((all, { failed }) => all + failed, 0)); // biome-ignore format: one row
  expect(points).toHaveLength(15);
  expect(points.filter(({ value }) => value !== 0)).toEqual([{ at: new Date(day(12)), value: 3 }]);
});

test('the last week is told from the one before', () => {
  const report = reportOf([row(10, 'a'), row(11, 'b'), row(17, 'c'), row(18, 'd'), row(24, 'e')]);
  const [now, before] = lately(report, 7);
  expect(now.map(({ value }) => value)).toEqual(['d', 'e']);
  expect(before.map(({ value }) => value)).toEqual(['b', 'c']);
});

test('what is usual follows the days with most runs, and is unknown without a success', () => {
  const rows = [row(10, 'active', { succeeded: 9, median_s: 100 }), row(11, 'active', { succeeded: 1, median_s: 200 })];
  expect(usualSeconds(rows)).toBe(110);
  expect(usualSeconds([row(10, 'active')])).toBeNull();
});

test('causes beyond the fourth are one, and no run is lost', () => {
  const causes = ['bmc_silent', 'job_failed', 'no_effect', 'image', 'bmc_error', 'aborted', null];
  const { series, days, total } = failuresOf(reportOf(causes.map((cause, at) => row(12, cause, { runs: 7 - at }))));
  expect(series.map(({ key }) => key)).toEqual(['bmc_silent', 'job_failed', 'no_effect', 'image', 'rest']);
  expect(total).toBe(28);
  expect(days.flatMap(({ counts }) => Object.values(counts)).reduce((all, one) => all + one, 0)).toBe(28);
  expect(failuresOf(reportOf([])).series).toEqual([]);
});

test('stacked columns are as high as their counts, one on another', () => {
  const at = new Date(day(12));
  const series = [{ key: 'a', label: 'a' }, { key: 'b', label: 'b' }]; // biome-ignore format: one row
  const chart = StackedDays({ days: [{ at, counts: { a: 1, b: 3 } }], series, label: 'x' });
  const [low, high] = numbersIn(chart, 'height');
  expect(high! + 1).toBeCloseTo(3 * (low! + 1));
  const [lowTop, highTop] = numbersIn(chart, 'y');
  expect(highTop! + high! + 1).toBeCloseTo(lowTop!);
});

test('parts of a whole fill it, and an empty whole draws nothing', () => {
  const parts = [{ label: 'a', tone: 'good', value: 1 }, { label: 'b', tone: 'bad', value: 3 }] as const; // biome-ignore format: one row
  expect(numbersIn(PartsBar({ parts, label: 'x' }), 'width')).toEqual([25, 75]);
  expect(numbersIn(PartsBar({ parts: [], label: 'x' }), 'width')).toEqual([]);
});

test('a sparkline leaves a gap where nothing is known', () => {
  const points = [1, null, 2].map((value, at) => ({ at: new Date(day(at + 1)), value }));
  expect(renderToString(Sparkline({ points, label: 'x' })).match(/class="line" d="M[^"]*M/)).not.toBeNull();
  expect(renderToString(Sparkline({ points: [], label: 'x' }))).toContain('class="line"');
});

test('bars of runs stand on one scale, which neither a run of days nor a long estimate stretches', () => {
  const bar = { tone: 'busy', from: -4, usual: 6, says: 'x' } as const;
  expect(stretchOf([bar])).toEqual([-4, 2]);
  expect(stretchOf([bar, { ...bar, from: -5000 }, { ...bar, usual: 500 }])).toEqual([-60, 30]);
  expect(stretchOf([])).toEqual([-2, 0]);
  const [usual, taken] = numbersIn(GanttBar({ bar, stretch: [-4, 2] }), 'width');
  expect([usual, taken]).toEqual([99, 66]);
});

test.each([
  [{ provision_state: 'active' }, 'good', 'in use'],
  [{ provision_state: 'available' }, 'idle', 'free'],
  [{ provision_state: 'available', maintenance: true }, 'wait', 'maintenance'],
  [{ provision_state: 'active', maintenance: true, fault: 'power failure' }, 'bad', 'no answer'],
  [{ provision_state: 'clean failed', maintenance: true, fault: 'clean failure' }, 'bad', 'clean failed'],
  [{ provision_state: 'clean hold', maintenance: true }, 'wait', 'clean hold'],
  [{ provision_state: 'service wait' }, 'busy', 'service wait'],
])('%j is shown as %s: %s', (node, tone, word) => {
  expect(stateOfNode({ maintenance: false, fault: null, ...node } as NodeView)).toEqual({ tone, word });
});

test('a failed run leaves a state and a fault, which count once', () => {
  const counts = {
    count: 20,
    provision_state: { active: 3, servicing: 1, 'clean failed': 4, 'deploy failed': 2 },
    fault: { 'clean failure': 3, 'power failure': 5 },
    maintenance: 0,
  };
  expect(failingIn(counts)).toBe(11);
  expect(failingIn({ ...counts, count: 8 })).toBe(8);
  expect(usedIn(counts)).toBe(4);
});
