/** Report of ended runs: how many a day by verb, cause or runbook. */
import { z } from 'zod';
import { raise } from '../../../model/errors';
import { mostReportDays, type ReportBucket, reportBuckets, runReportsBy } from '../../../model/reports';
import * as shapes from '../../../wire/reports';
import type { ApiContext } from '../../context';
import { csv, wantsCsv } from '../../resource/csv';
import { sinceMoment, untilMoment } from '../../resource/moments';
import { isoTime } from '../../resource/times';
import { type ApiRequest, ok, route } from '../../server/route';
import { runListRule, runTenantColumns } from '../runs/list';

const dayMs = 24 * 3600 * 1000;
const usualDays = 14;

const reportQuery = z.strictObject({
  by: z.enum(runReportsBy, { error: `must be one of ${runReportsBy.join(', ')}` }),
  bucket: z.enum(reportBuckets, { error: `must be one of ${reportBuckets.join(', ')}` }).default('day'),
  since: sinceMoment.optional(),
  until: untilMoment.optional(),
});
type ReportRequest = ApiRequest<unknown, z.output<typeof reportQuery>, unknown>;

type Stretch = { readonly since: Date; readonly until: Date };

/** Throws InvalidInput. */
const checked = ({ since, until }: Stretch, bucket: ReportBucket): Stretch => {
  const days = (until.getTime() - since.getTime()) / dayMs;
  if (days <= 0) raise('InvalidInput', { field: 'since', reason: 'must be before `until`' });
  if (days > mostReportDays[bucket])
    raise('InvalidInput', {
      field: 'since',
      reason: `must be at most ${mostReportDays[bucket]} days before \`until\` for buckets of one ${bucket}`,
    });
  return { since, until };
};

/** By PostgreSQL's clock, which wrote the times of runs. By default, fourteen whole days and the present one. */
const stretchOf = async ({ query }: ReportRequest, ctx: ApiContext): Promise<Stretch> => {
  const until = query.until ?? new Date(await ctx.inventory.clock());
  const earlier = until.getTime() - usualDays * dayMs;
  return checked({ until, since: query.since ?? new Date(earlier - (earlier % dayMs)) }, query.bucket);
};

const reportColumns = ['at', 'value', 'runs', 'succeeded', 'failed', 'aborted', 'median_s'] as const;

const reportRuns = async (request: ReportRequest, ctx: ApiContext) => {
  const { by, bucket } = request.query;
  const stretch = await stretchOf(request, ctx);
  const visible = ctx.policy().filter(runListRule, request.who, runTenantColumns);
  const { rows, left_out } = await ctx.inventory.runReports.page({ visible, by, bucket, ...stretch });
  const report = rows.map((row) => ({ ...row, at: isoTime(row.at) }));
  if (wantsCsv(request)) return csv(reportColumns, report);
  return ok({ by, bucket, since: isoTime(stretch.since), until: isoTime(stretch.until), report, left_out });
};

export const runReportRoutes = [
  route({
    method: 'GET',
    path: '/temper/v1/reports/runs',
    answers: { 200: shapes.runReport },
    csv: true,
    rules: [runListRule, 'baremetal:node:get'],
    query: reportQuery,
    handler: reportRuns,
  }),
];
