/** Answer schemas of reports. */
import { z } from 'zod';
import { reportBuckets, runReportsBy } from '../model/reports';
import { count, list, maybe, time } from './parts';

/** Of ended runs, in the order of time. `left_out` counts the runs of values that are not shown. */
export const runReport = z.strictObject({
  by: z.enum(runReportsBy),
  bucket: z.enum(reportBuckets),
  since: time,
  until: time,
  report: list(
    z.strictObject({
      at: time,
      value: maybe,
      runs: count,
      succeeded: count,
      failed: count,
      aborted: count,
      median_s: z.number().nullable(),
    }),
  ),
  left_out: count,
});
export type RunReport = z.output<typeof runReport>;
