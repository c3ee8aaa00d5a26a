/** The activity that changes hardware, under the fence and in the BMC's lane. It may be killed at any point. */
import { randomUUID } from 'node:crypto';
import { activityInfo, type Info } from '@temporalio/activity';
import type { ActKey } from '../inventory/runs/run-steps';
import { maskSecrets } from '../model/access/secrets';
import { isTemperError } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { ActOutcome } from '../model/runs/runs';
import { type Attempted, type RunActInput, startBeating } from './act-context';
import { outcomeForEngine } from './act-outcome';
import { attempt } from './attempt';
import type { BmcDeps } from './bmc-deps';
import { guarded, toFailure } from './failures';
import { lookActivities } from './read';

export type { RunActInput } from './act-context';
export type BmcActivities = ReturnType<typeof createBmcActivities>;

export const createBmcActivities = (deps: BmcDeps) => {
  const holder = randomUUID();
  return {
    ...lookActivities(deps),
    /** Reads, acts if necessary, waits for the result. */
    runAct: guarded(async (given: RunActInput): Promise<ActOutcome> => {
      const info = activityInfo();
      const input: Attempted = { ...given, lock: { ...given.lock, token: randomUUID() } };
      const key = actKey(input, info);
      const beating = startBeating(info);
      const began = performance.now();
      const observed = (code: string) =>
        deps.observe?.act(nameOf(input.step), input.act, code, performance.now() - began);
      try {
        const outcome = await attempt(input, key, deps, holder, beating);
        observed('done');
        return outcomeForEngine(outcome);
      } catch (thrown) {
        observed(isTemperError(thrown) ? thrown.code : 'Unexpected');
        await noteFailure(input, key, thrown, deps);
        throw toFailure(thrown, { attempt: info.attempt });
      } finally {
        beating.stop();
      }
    }),
  };
};

const actKey = ({ step, act, nth }: RunActInput, info: Info): ActKey => ({
  index: step.index,
  act,
  attempt: info.attempt,
  execution: info.workflowExecution!.runId,
  activity: info.activityId,
  nth,
  asked_at: info.currentAttemptScheduledTimestampMs,
});

// Not failures of the act: the run has lost its node, or must wait.
const unrecorded: ReadonlySet<string> = new Set(['StaleOperation', 'NodeFrozen', 'RecoveryPending']);

/** False for a permanent failure, and after the step's last attempt. */
const mayRetry = (failure: Error, step: PlannedStep, { attempt }: ActKey): boolean =>
  (failure as { nonRetryable?: boolean | null }).nonRetryable !== true &&
  attempt < (step.attempts ?? Number.POSITIVE_INFINITY);

// Best effort: the row shows the failure while Temporal does not respond.
const noteFailure = async (
  { lock, step, act }: Attempted,
  key: ActKey,
  thrown: unknown,
  { inventory, log }: BmcDeps,
): Promise<void> => {
  const failure = toFailure(thrown, { attempt: key.attempt });
  const code = isTemperError(thrown) ? thrown.code : failure.name;
  log.warn('act failed', {
    node_uuid: lock.node_uuid,
    run: lock.run,
    step: nameOf(step),
    act,
    attempt: key.attempt,
    code,
    reason: failure.message,
    ...(isTemperError(thrown) && { facts: maskSecrets(thrown.facts) }),
  });
  if (unrecorded.has(code)) return;
  try {
    await inventory.runSteps.tried(lock, key, { error: failure.message, code, again: mayRetry(failure, step, key) });
  } catch (again) {
    log.warn('could not record the failure', { run: lock.run, reason: String(again) });
  }
};
