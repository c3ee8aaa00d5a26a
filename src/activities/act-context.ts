/** Context of an attempt: intents, heartbeat and log, without secrets and under its own token. */
import { cancellationSignal, heartbeat, type Info } from '@temporalio/activity';
import type { ActContext } from '../bmc/contract';
import { createSendWindow } from '../bmc/send-window';
import type { Inventory } from '../inventory';
import type { ActLock } from '../inventory/fence';
import type { ActKey } from '../inventory/runs/run-steps';
import { hideTexts } from '../model/access/secrets';
import { raise } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { type ActName, nameOf } from '../model/lifecycle/steps';
import type { RunKind } from '../model/lifecycle/verbs';
import type { Lock, Timing } from '../model/runs/runs';
import type { BmcDeps } from './bmc-deps';

export type RunActInput = {
  readonly lock: Lock;
  readonly step: PlannedStep;
  readonly act: ActName;
  /** The step is done after this act. */
  readonly last: boolean;
  readonly timing: Timing;
  readonly kind: RunKind;
  /** Number of the act in its execution, from 1. */
  readonly nth: number;
};

/** The token fences all writes of the attempt. */
export type Attempted = RunActInput & { readonly lock: ActLock };

// For the shortest useful heartbeat timeout; the SDK throttles.
const beatEveryMs = 1_000;

export type Beating = { readonly say: (details?: unknown) => void; readonly stop: () => void };

// Repeats the latest details, so that a long wait inside a library call does not time out.
export const startBeating = (info: Info): Beating => {
  if (!info.heartbeatTimeoutMs) return { say: () => {}, stop: () => {} };
  // Without a result, the last heartbeat shows the number of attempts.
  let latest = { ...(info.heartbeatDetails as object | undefined), attempt: info.attempt };
  // Each heartbeat is a write in Temporal; most first attempts end before one is of use.
  let sends = info.attempt > 1;
  const beat = (): void => {
    if (sends) heartbeat(latest);
  };
  beat();
  const timer = setInterval(() => {
    sends = true;
    beat();
  }, beatEveryMs);
  return {
    say(details) {
      latest = { ...(details as object | undefined), attempt: info.attempt };
      beat();
    },
    stop: () => clearInterval(timer),
  };
};

/** Intents under the attempt's token, and the window for sending an announced command. */
const announcing = (
  { lock, act, timing }: Pick<Attempted, 'lock' | 'act' | 'timing'>,
  { index }: ActKey,
  { runSteps }: Inventory,
): Pick<ActContext, 'intents' | 'mayStillSend'> => {
  const window = createSendWindow(timing);
  let announced: Readonly<Record<string, unknown>> | undefined;
  const record = async (detail: Readonly<Record<string, unknown>>): Promise<void> => {
    window.open();
    if (!(await runSteps.recordIntent(lock, index, act, detail)))
      raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    announced = detail.withdrawn === true ? undefined : detail;
    if (!announced) window.drop();
  };
  return {
    mayStillSend: window.isOpen,
    intents: {
      async last() {
        const row = await runSteps.lastIntent(lock.run, index, act);
        return (
          row && { act, sent_at: row.sent_at.toISOString(), at: performance.now() - row.age_ms, detail: row.detail }
        );
      },
      record,
      renew: async () => announced && record(announced),
    },
  };
};

/** Heartbeats and log lines, without secrets. */
export const beatAndLog = (
  beat: Beating['say'],
  { log }: Pick<BmcDeps, 'log'>,
  facts: Readonly<Record<string, unknown>>,
  texts: readonly string[],
): Pick<ActContext, 'beat' | 'log'> => ({
  beat: (details) => beat(hideTexts(details, texts)),
  log: {
    info: (message, more) => log.info(message, { ...hideTexts(more, texts), ...facts }),
    warn: (message, more) => log.warn(message, { ...hideTexts(more, texts), ...facts }),
  },
});

export const contextOf = (
  { lock, step, act, timing, kind }: Attempted,
  key: ActKey,
  deps: BmcDeps,
  beating: Beating,
  texts: readonly string[],
): ActContext => ({
  run: lock.run,
  attempt: key.attempt,
  ...announcing({ lock, act, timing }, key, deps.inventory),
  step: { index: step.index, interface: step.interface, step: step.step },
  kind,
  signal: cancellationSignal(),
  timing,
  ...beatAndLog(beating.say, deps, { node_uuid: lock.node_uuid, run: lock.run, step: nameOf(step) }, texts),
});

/** A flag for announced commands, because a restored database may lack their record. */
export const announcedIn = (given: ActContext): { readonly context: ActContext; readonly announced: () => boolean } => {
  let announced = false;
  const record: ActContext['intents']['record'] = async (detail) => {
    announced = announced || detail.withdrawn !== true;
    await given.intents.record(detail);
  };
  return { context: { ...given, intents: { ...given.intents, record } }, announced: () => announced };
};
