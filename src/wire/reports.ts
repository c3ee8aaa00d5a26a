/** Answer schemas of reports. */
import { z } from 'zod';
import { reportBuckets, runReportsBy } from '../model/reports';
import { count, id, list, maybe, pageOf, text, time } from './parts';

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

const ofMonth = { month: text, since: time, until: time };
const used = { project: text, leases: count, seconds: count };

const nodeUsage = z.strictObject({ ...used, node_uuid: id, node_name: maybe, resource_class: maybe });
export type NodeUsage = z.output<typeof nodeUsage>;
const projectUsage = z.strictObject({ ...used, nodes: count });
export type ProjectUsage = z.output<typeof projectUsage>;

/** Time under lease within the month: of one project by node, or of all by project. */
export const usage = z.union([
  pageOf('usage', nodeUsage).extend({ project: text, ...ofMonth }),
  pageOf('usage', projectUsage).extend({ project: z.null(), ...ofMonth }),
]);
