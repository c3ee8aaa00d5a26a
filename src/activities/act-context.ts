/** What an attempt of an act is given: its intents, its heartbeat, its log, all without secrets and under its own token. */
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
  /** Whether the step is done when this act is. */
  readonly last: boolean;
  readonly timing: Timing;
  readonly story: RunKind;
  /** Which act of its execution this is, counted from 1. */
  readonly nth: number;
};

/** What one attempt works under: all that it writes names its token. */
export type Attempted = RunActInput & { readonly lock: ActLock };

// Often enough for the shortest heartbeat timeout that is of use; the SDK sends only what is needed.
const beatEveryMs = 1_000;

export type Beating = { readonly say: (details?: unknown) => void; readonly stop: () => void };

// The timer repeats the newest details an act gave, so that a long wait inside a library call does not look like death.
export const startBeating = (info: Info): Beating => {
  if (!info.heartbeatTimeoutMs) return { say: () => {}, stop: () => {} };
  // Where no answer ever comes, the last heartbeat is what shows how often it was tried.
  let latest = { ...(info.heartbeatDetails as object | undefined), attempt: info.attempt };
  heartbeat(latest);
  const timer = setInterval(() => heartbeat(latest), beatEveryMs);
  return {
    say(details) {
      latest = { ...(details as object | undefined), attempt: info.attempt };
      heartbeat(latest);
    },
    stop: () => clearInterval(timer),
  };
};

/** An act's intents, written under its attempt, and for how long what they announce may leave. */
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

export const contextOf = (
  { lock, step, act, timing, story }: Attempted,
  key: ActKey,
  { inventory, log }: BmcDeps,
  beating: Beating,
  texts: readonly string[],
): ActContext => ({
  run: lock.run,
  attempt: key.attempt,
  ...announcing({ lock, act, timing }, key, inventory),
  step: { index: step.index, interface: step.interface, step: step.step },
  story,
  signal: cancellationSignal(),
  beat: (details) => beating.say(hideTexts(details, texts)),
  timing,
  log: {
    info: (message, facts) =>
      log.info(message, { ...hideTexts(facts, texts), node_uuid: lock.node_uuid, run: lock.run, step: nameOf(step) }),
    warn: (message, facts) =>
      log.warn(message, { ...hideTexts(facts, texts), node_uuid: lock.node_uuid, run: lock.run, step: nameOf(step) }),
  },
});

/** The context, and whether a command was announced in it: a store that was set back meanwhile has no record of that. */
export const announcedIn = (given: ActContext): { readonly context: ActContext; readonly announced: () => boolean } => {
  let announced = false;
  const record: ActContext['intents']['record'] = async (detail) => {
    announced = announced || detail.withdrawn !== true;
    await given.intents.record(detail);
  };
  return { context: { ...given, intents: { ...given.intents, record } }, announced: () => announced };
};
