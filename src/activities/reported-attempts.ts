/** Reports of further attempts to the run's workflow, for its query and Temporal's UI. */
import { activityInfo } from '@temporalio/activity';
import type { RunActInput } from './act-context';
import type { BmcDeps } from './bmc-deps';

const eachUpTo = 10;
const spacedMs = 10_000;

/**
 * In a long series of quick attempts, as behind a held lease, only each tenth is reported. Temporal accepts at most
 * 10,000 signals per execution, and an abort needs one (temporalio/temporal: `history.maximumSignalsPerExecution`).
 * @param attempt counted from 1
 * @param sinceMs from the first attempt's schedule to this one's, by Temporal's clock
 */
export const isReported = (attempt: number, sinceMs: number): boolean =>
  attempt > 1 && (attempt <= eachUpTo || attempt % eachUpTo === 0 || sinceMs / (attempt - 1) >= spacedMs);

/** Not awaited, so that a slow Temporal does not delay the attempt. */
export const reportAttempt = ({ lock, nth }: RunActInput, { reportAttempt: report, log }: BmcDeps): void => {
  const {
    attempt,
    workflowExecution,
    currentAttemptScheduledTimestampMs: now,
    scheduledTimestampMs: then,
  } = activityInfo();
  if (!report || !workflowExecution || !isReported(attempt, now - then)) return;
  const { workflowId, runId } = workflowExecution;
  report(workflowId, runId, { operationId: lock.run, nth, attempt }).catch((thrown: unknown) =>
    log.warn('an attempt could not be reported to its workflow', { run: lock.run, reason: String(thrown) }),
  );
};
