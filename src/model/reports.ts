/** Divisions and bounds of reports of ended runs. */

export const runReportsBy = ['verb', 'cause', 'runbook'] as const;
export type RunReportBy = (typeof runReportsBy)[number];

/** In UTC. */
export const reportBuckets = ['hour', 'day', 'month'] as const;
export type ReportBucket = (typeof reportBuckets)[number];

/** The longest time of one report, and of one whose buckets are hours. */
export const mostReportDays = { hour: 31, day: 400, month: 400 } as const satisfies Record<ReportBucket, number>;

/** A chart shows no more. */
export const mostReportValues = 20;
