/** Overview: reports of the runs of the last two weeks, and what follows from them. */
import { utcDay } from 'd3-time';
import type { RunReport } from '../../wire/reports';
import type { ListedRun } from '../../wire/runs';
import type { DayCounts, Point, Series } from '../parts/charts';
import type { Remembered } from '../server/remembered';

type ReportRow = RunReport['report'][number];
export type Reports = Readonly<Record<'cause' | 'verb' | 'runbook', RunReport | undefined>>;

export const reportsOf = async (memory: Remembered): Promise<Reports> => {
  const asked = (by: string) => memory.report<RunReport>('/temper/v1/reports/runs', { by });
  const [cause, verb, runbook] = await Promise.all([asked('cause'), asked('verb'), asked('runbook')]);
  return { cause, verb, runbook };
};

const dayKey = (at: string | Date): string => new Date(at).toISOString().slice(0, 10);

/** Every day of a report, also those without runs. */
const daysOf = ({ since, until }: RunReport): Date[] => utcDay.range(utcDay.floor(new Date(since)), new Date(until));

const sum = (rows: readonly ReportRow[], countOf: (row: ReportRow) => number): number =>
  rows.reduce((all, row) => all + countOf(row), 0);

/** A value for each day; null for days of which `of` knows none. */
export const pointsOf = (report: RunReport, of: (rows: readonly ReportRow[]) => number | null): Point[] =>
  daysOf(report).map((at) => ({ at, value: of(report.report.filter((row) => dayKey(row.at) === dayKey(at))) }));

export const failedOf = (rows: readonly ReportRow[]): number => sum(rows, ({ failed }) => failed);
export const endedOf = (rows: readonly ReportRow[]): number => sum(rows, ({ runs }) => runs);
export const succeededOf = (rows: readonly ReportRow[]): number => sum(rows, ({ succeeded }) => succeeded);

/** Of medians of days, by the number of runs: the API has no median of all. */
export const usualSeconds = (rows: readonly ReportRow[]): number | null => {
  const known = rows.filter(
    (row): row is ReportRow & { median_s: number } => row.median_s !== null && row.succeeded > 0,
  );
  const weight = succeededOf(known);
  return weight === 0 ? null : known.reduce((all, { median_s, succeeded }) => all + median_s * succeeded, 0) / weight;
};

/** The rows of the last days, and of the days before. */
export const lately = ({ report, until }: RunReport, days: number): readonly [now: readonly ReportRow[], before: readonly ReportRow[]] => {
  const from = utcDay.offset(utcDay.floor(new Date(until)), 1 - days);
  const earlier = utcDay.offset(from, -days);
  const at = (row: ReportRow): Date => new Date(row.at);
  return [report.filter((row) => at(row) >= from), report.filter((row) => at(row) < from && at(row) >= earlier)];
}; // biome-ignore format: one row

/** Of runs like this one. */
export const usualMinutes = ({ verb, runbook }: Reports, run: ListedRun): number | undefined => {
  const [report, value] = run.runbook === null ? [verb, run.verb] : [runbook, run.runbook];
  const seconds = usualSeconds(report?.report.filter((row) => row.value === value) ?? []);
  return seconds === null ? undefined : seconds / 60;
};

/** As the API's documentation explains them, in fewer words. */
const causeSays: Readonly<Record<string, string>> = {
  bmc_silent: 'BMC did not answer',
  bmc_access: 'BMC refused access',
  bmc_error: 'BMC had an error',
  bmc_refused: 'BMC refused the command',
  no_effect: 'BMC did not obey',
  job_failed: 'BMC job failed',
  effect_unknown: 'effect unknown',
  ramdisk_silent: 'ramdisk did not answer',
  ramdisk_error: 'ramdisk failed',
  image: 'image missing',
  installation: 'Temper failed',
  aborted: 'aborted',
  no_attempt: 'no attempt',
  other: 'other errors',
};

/** A chart has no more colors; the other causes are one. */
const mostCauses = 4;

export type Failures = {
  readonly series: readonly Series[];
  readonly days: readonly DayCounts[];
  readonly total: number;
};

/** The most frequent causes first. */
export const failuresOf = (report: RunReport): Failures => {
  const totals: Record<string, number> = {};
  for (const { value, runs } of report.report) totals[value ?? 'other'] = (totals[value ?? 'other'] ?? 0) + runs;
  const causes = Object.keys(totals).toSorted((one, other) => totals[other]! - totals[one]! || one.localeCompare(other));
  const own = causes.slice(0, causes.length > mostCauses + 1 ? mostCauses : undefined);
  const rest = causes.length > own.length ? [{ key: 'rest', label: 'other causes' }] : [];
  const keyOf = (value: string | null): string => (own.includes(value ?? 'other') ? (value ?? 'other') : 'rest');
  const days = daysOf(report).map((at) => {
    const counts: Record<string, number> = {};
    for (const row of report.report.filter((one) => dayKey(one.at) === dayKey(at)))
      counts[keyOf(row.value)] = (counts[keyOf(row.value)] ?? 0) + row.runs;
    return { at, counts };
  });
  const series = [...own.map((key) => ({ key, label: causeSays[key] ?? key })), ...rest];
  return { series, days, total: endedOf(report.report) };
}; // biome-ignore format: short lines
