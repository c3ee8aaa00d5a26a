/** Further attempts of an act, reported to its run's workflow: it cannot see them, and its query and the engine's UI show them. */
import { activityInfo } from '@temporalio/activity';
import type { RunActInput } from './act-context';
import type { BmcDeps } from './bmc-deps';

const eachUpTo = 10;
const spacedMs = 10_000;

/**
 * Whether an attempt is reported. Each is, unless they follow each other in seconds for long, as behind another worker's lease of
 * the BMC: then each tenth, for the engine takes no more than 10,000 signals of one execution (temporalio/temporal:
 * `history.maximumSignalsPerExecution`), and an abort is one too.
 * @param attempt counted from 1
 * @param sinceMs from the first attempt's schedule to this one's, by the engine's clock
 */
export const isReported = (attempt: number, sinceMs: number): boolean =>
  attempt > 1 && (attempt <= eachUpTo || attempt % eachUpTo === 0 || sinceMs / (attempt - 1) >= spacedMs);

/** Not waited for: an engine that is slow to take it must not hold the attempt up. */
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
