/** Counts of ended runs by time, and by verb, cause or runbook. */
import type { Predicate } from '../model/predicates';
import { mostReportValues, type ReportBucket, type RunReportBy } from '../model/reports';
import { type Cause, causesByCode } from '../model/runs/causes';
import { type Db, textArray } from './database';
import { conditionOf } from './predicates';
import { runsWithNodes } from './runs/list';

export type RunReportRow = {
  readonly at: Date;
  /** Null for runs without a runbook. */
  readonly value: string | null;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly aborted: number;
  /** Of those that succeeded, in seconds. */
  readonly median_s: number | null;
};

export type RunReportSelection = {
  /** As in the list of runs. */
  readonly visible: Predicate;
  readonly by: RunReportBy;
  readonly bucket: ReportBucket;
  /** Inclusive. */
  readonly since: Date;
  /** Exclusive. */
  readonly until: Date;
};

type Counted = RunReportRow & { readonly total: number };

const [codes, causes] = [causesByCode.map(([code]) => code), causesByCode.map(([, cause]) => cause)];
const [aborted, untold, unlisted] = ['aborted', 'no_attempt', 'other'] as const satisfies readonly Cause[];

/** Succeeded runs have no cause. */
const dividedBy = (sql: Db, by: RunReportBy) => {
  if (by === 'verb') return sql`verb`;
  if (by === 'runbook') return sql`runbook_name`;
  const listed = sql`(${textArray(sql, causes)}::text[])[array_position(${textArray(sql, codes)}::text[], error_code)]`;
  return sql`case when state = 'aborted' then ${aborted}::text when error_code is null then ${untold}::text
    else coalesce(${listed}, ${unlisted}::text) end`;
};

export const runReports = (sql: Db) => ({
  /** Of the most frequent values alone, in the order of time; `left_out` counts the runs of all others. */
  async page({
    visible,
    by,
    bucket,
    since,
    until,
  }: RunReportSelection): Promise<{ rows: RunReportRow[]; left_out: number }> {
    const ended = sql`and r.finished_at >= ${since} and r.finished_at < ${until} ${by === 'cause' ? sql`and r.state <> 'succeeded'` : sql``}`;
    const columns = sql`r.finished_at, r.started_at, r.state, r.verb, r.runbook_name, r.error_code`;
    const rows = await sql<Counted[]>`
      with counted as (
        select date_trunc(${bucket}, finished_at at time zone 'UTC') at time zone 'UTC' as at, ${dividedBy(sql, by)} as value, count(*) as runs,
          count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'failed') as failed,
          count(*) filter (where state = 'aborted') as aborted,
          percentile_disc(0.5) within group (order by extract(epoch from finished_at - started_at)) filter (where state = 'succeeded')::float8 as median_s
        from (${runsWithNodes(sql, visible, columns, ended)}) seen where ${conditionOf(sql, visible, 'seen')} group by 1, 2
      ), ranked as (
        select value, row_number() over (order by sum(runs) desc, value) as place from counted group by value
      )
      select at, counted.value, runs, succeeded, failed, aborted, median_s, (select sum(runs)::bigint from counted) as total
      from counted join ranked on ranked.value is not distinct from counted.value
      where place <= ${mostReportValues} order by at, place`;
    const shown = rows.reduce((all, { runs }) => all + runs, 0);
    return { rows: rows.map(({ total: _, ...row }) => row), left_out: (rows[0]?.total ?? 0) - shown };
  },
});
