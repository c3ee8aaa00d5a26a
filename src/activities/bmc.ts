/** The one activity that touches machines: an act of a step, under the fence, in the BMC's lane, safe to be killed anywhere. */
import { randomUUID } from 'node:crypto';
import { activityInfo, cancellationSignal, heartbeat, type Info } from '@temporalio/activity';
import type { Act, ActContext, AgentContact, BmcNode, Driver } from '../bmc/contract';
import { createSendWindow } from '../bmc/send-window';
import type { Inventory } from '../inventory';
import type { ActLock } from '../inventory/fence';
import type { ActedNode, ActKey } from '../inventory/runs/run-steps';
import { fetchedBy, requireFetched } from '../model/access/origins';
import { hideTexts, maskSecrets, maskText, resolveSecrets, secretTexts } from '../model/access/secrets';
import { isTemperError, raise, TemperError } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { type ActName, actRow, nameOf } from '../model/lifecycle/steps';
import type { Story } from '../model/lifecycle/verbs';
import type { ActOutcome, Lock, RunObserved, Timing } from '../model/runs/runs';
import type { BmcHands } from './bmc-deps';
import { guarded, toFailure } from './failures';
import { applyInspectionRules } from './inspection-rules';
import { withLease } from './lease';
import { whileOneRamdisk } from './one-ramdisk';
import { searched, startTalk, type Talk } from './ramdisk-silence';
import { lookActivities } from './read';
import { openSecrets } from './secrets';

export type RunActInput = {
  readonly lock: Lock;
  readonly step: PlannedStep;
  readonly act: ActName;
  /** Whether the step is done when this act is. */
  readonly last: boolean;
  readonly timing: Timing;
  readonly story: Story;
  /** Which act of its execution this is, counted from 1; absent where an older worker asked for it. */
  readonly nth?: number;
};

/** What one attempt works under: all that it writes names its token. */
type Attempted = RunActInput & { readonly lock: ActLock };

export type BmcActivities = ReturnType<typeof createBmcActivities>;

const defaultLeaseMs = 15_000;

// Often enough for the shortest heartbeat timeout that is of use; the SDK sends only what is needed.
const beatEveryMs = 1_000;

/** @returns the activities of a conductor group's queue */
export const createBmcActivities = (hands: BmcHands) => {
  const holder = randomUUID();
  return {
    ...lookActivities(hands),
    /** Looks, acts if needed, waits until a look agrees. @returns a small outcome; the store has the rest */
    runAct: guarded(async (given: RunActInput): Promise<ActOutcome> => {
      const info = activityInfo();
      const input: Attempted = { ...given, lock: { ...given.lock, token: randomUUID() } };
      const key = keyOf(input, info);
      const beating = startBeating(info);
      const began = performance.now();
      const observed = (code: string) =>
        hands.observe?.act(nameOf(input.step), input.act, code, performance.now() - began);
      try {
        const outcome = await attempt(input, key, hands, holder, beating);
        observed('done');
        return outcomeForEngine(outcome);
      } catch (thrown) {
        observed(isTemperError(thrown) ? thrown.code : 'Unexpected');
        await noteFailure(input, key, thrown, hands);
        throw toFailure(thrown, { attempt: info.attempt });
      } finally {
        beating.stop();
      }
    }),
  };
};

const keyOf = ({ step, act, nth }: RunActInput, info: Info): ActKey => ({
  index: step.index,
  act,
  attempt: info.attempt,
  execution: info.workflowExecution!.runId,
  activity: info.activityId,
  ...(nth !== undefined && { nth }),
  asked_at: info.currentAttemptScheduledTimestampMs,
});

/** The part of an outcome that the workflow goes on with; everything else stands in the store. */
const outcomeForEngine = ({ note, rest, follows, reported }: ActOutcome): ActOutcome => ({
  is: 'done',
  ...(note && { note: maskText(note) }),
  ...(rest && { rest }),
  ...(follows && { follows }),
  ...(reported && { reported }),
});

type Beating = { readonly say: (details?: unknown) => void; readonly stop: () => void };

// The timer repeats the newest details an act gave, so that a long wait inside a library call does not look like death.
const startBeating = (info: Info): Beating => {
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

const attempt = async (
  input: Attempted,
  key: ActKey,
  hands: BmcHands,
  holder: string,
  beating: Beating,
): Promise<ActOutcome> => {
  const { lock, step, act, last } = input;
  const row = actRow(act);
  if (row.effect !== 'read') await refuseFrozen(input, key, hands);
  const before = await hands.inventory.runSteps.endedBefore(
    { run: lock.run, node_uuid: lock.node_uuid, fence: lock.fence },
    key,
  );
  if (before) return before;
  const found = await hands.inventory.runSteps.begin(lock, key, step);
  if (!found) return raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  const driver =
    hands.driverOf(found.driver) ??
    raise('DriverUnsupported', { driver: found.driver, what: 'anything here: no such driver on this worker' });
  const byAgent = row.by === 'agent' ? hands.agentActs?.[act] : undefined;
  const perform: Act =
    byAgent ?? driver.acts[act] ?? raise('DriverUnsupported', { driver: found.driver, what: nameOf(step) });
  const { node, args, texts } = await unlocked(found, step, hands);
  // Once more with the secrets in place: a URL that carries a password was sealed before it could be checked.
  for (const one of fetchedBy(act, step, args, node.instance_info ?? {})) requireFetched(hands.imageOrigins ?? [], one);
  const talk = startTalk(() => hands.inventory.agents.answered(lock.node_uuid));
  const { doubted } = found;
  const context = { ...contextOf(input, key, hands, beating, texts), answered: talk.answered, doubted };
  const lane = byAgent ? null : driver.laneKey(node);
  const at = `${step.index}.${act}`;
  const work = () =>
    row.by === 'agent'
      ? whileOneRamdisk(hands, { lock, at, node: found.name ?? found.uuid }, context, (watched) =>
          perform(node, args, watched),
        )
      : perform(node, args, context);
  const outcome = await hands.lanes
    .run(lane, context.signal, () =>
      lane === null
        ? work()
        : withLease(hands.inventory.bmcLeases, lane, holder, hands.leaseMs ?? defaultLeaseMs, work),
    )
    .then(
      (done) => hiddenOutcome(done, texts),
      async (thrown: unknown) => {
        const why =
          row.by === 'agent'
            ? await lostRamdisk(thrown, { input, hands, holder, driver, node, context, talk })
            : thrown;
        throw hiddenError(why, texts);
      },
    );
  await keep(lock, outcome, { ends: row.endsAgent === true, boots: bootsRamdisk(step, act), at }, hands);
  const stepDone = (last && outcome.follows === undefined) || outcome.rest === 'skip';
  if (!(await hands.inventory.runSteps.end(lock, key, outcome, stepDone)))
    raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  return outcome;
};

type Lost = {
  readonly input: Attempted;
  readonly hands: BmcHands;
  readonly holder: string;
  readonly driver: Driver;
  readonly node: BmcNode;
  readonly context: ActContext;
  readonly talk: Talk;
};

/** Why an act of the ramdisk failed, once its host was looked for through the BMC where it has been silent for long. */
const lostRamdisk = async (thrown: unknown, { input, hands, holder, driver, node, context, talk }: Lost) => {
  if (context.signal.aborted) return thrown;
  const { inventory, lanes, leaseMs = defaultLeaseMs } = hands;
  const { story: _, ...rest } = context;
  const nothing = { last: async () => undefined, record: async () => {}, renew: async () => {} };
  const look = async (): Promise<RunObserved | undefined> => {
    const lane = driver.laneKey(node);
    const work = async () => (await driver.acts.verify?.(node, {}, { ...rest, intents: nothing }))?.seen;
    const inLane = () => (lane === null ? work() : withLease(inventory.bmcLeases, lane, holder, leaseMs, work));
    return lanes.run(lane, context.signal, inLane).catch((error: unknown) => {
      context.log.warn('a silent ramdisk could not be looked for', { reason: String(error) });
      return undefined;
    });
  };
  const { step, act, timing } = input;
  return searched(thrown, { agents: inventory.agents, node, step, act, timing, talk, look });
};

/**
 * What an operator's freeze of the node, or a recovery of all nodes, holds back: no command leaves meanwhile. An act that was
 * under way before a recovery is asked for anew after it, so that what an earlier attempt may have sent is noted here. Throws
 * NodeFrozen, RecoveryPending.
 */
const refuseFrozen = async ({ lock, act }: Attempted, key: ActKey, { inventory }: BmcHands): Promise<void> => {
  const recovery = await inventory.recovery.current();
  if (recovery && recovery.side !== 'engine' && key.attempt > 1 && actRow(act).effect === 'once')
    await inventory.runSteps.doubt(lock, key);
  if (recovery)
    raise('RecoveryPending', {
      node: (await inventory.runs.find(lock.run))?.node_name ?? lock.node_uuid,
      reason: recovery.reason,
    });
  const freeze = await inventory.freezes.active(lock.node_uuid);
  if (freeze)
    raise('NodeFrozen', {
      node: (await inventory.runs.find(lock.run))?.node_name ?? lock.node_uuid,
      who: freeze.requester.user_name ?? freeze.requester.user_id ?? 'an unnamed caller',
      until: freeze.until ? `until ${freeze.until.toISOString()}` : 'until an operator ends it',
      reason: freeze.reason,
      freeze: freeze.id,
    });
};

/** Whether a ramdisk is expected once this act has ended: the last of those that boot it. */
const bootsRamdisk = (step: PlannedStep, act: ActName): boolean => step.awaits !== undefined && act === 'power_on';

type OfRamdisk = { readonly ends: boolean; readonly boots: boolean; readonly at: string };

const detailed = ['properties', 'macs', 'bios', 'firmware', 'raid_config', 'inventory'] as const;
const hasDetails = (seen: RunObserved | undefined): boolean =>
  seen !== undefined && detailed.some((name) => seen[name] !== undefined);

/** What an act saw and did, kept before it counts as done: a repeat writes the same. */
const keep = async (
  lock: ActLock,
  { seen, reported }: ActOutcome,
  { ends, boots, at }: OfRamdisk,
  { inventory, log }: BmcHands,
): Promise<void> => {
  if (!hasDetails(seen) && !reported && !ends && !boots) return;
  const contested = await inventory.transaction(async (store) => {
    // Under the fence: a worker that comes late must not forget the ramdisk of the run after it.
    if (!(await store.runs.held(lock))) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
    if (seen) await store.sightings.write(lock, seen);
    if (seen?.inventory) await applyInspectionRules(store, lock, log);
    if (reported) await store.details.report(lock.node_uuid, reported);
    if (boots) await store.ramdiskBoots.expect(lock);
    if (!ends) return false;
    await store.agents.forget(lock.node_uuid);
    return store.ramdiskBoots.end(lock, at);
  });
  if (contested) raise('RamdiskConflict', { node: lock.node_uuid });
};

/** The outcome without them; states come from a closed list, and a password that reads like one must not alter it. */
const hiddenOutcome = ({ seen, rest, follows, ...told }: ActOutcome, texts: readonly string[]): ActOutcome => {
  const { power_state, boot_mode, secure_boot, health, ...found } = seen ?? {};
  const states = { power_state, boot_mode, secure_boot, health };
  const known = Object.fromEntries(Object.entries(states).filter(([, value]) => value !== undefined));
  return {
    ...hideTexts(told, texts),
    ...(rest && { rest }),
    ...(follows && { follows }),
    ...(seen && { seen: { ...known, ...hideTexts(found, texts) } }),
  };
};

/** The error without the secrets of this act: a BMC may quote in its refusal what it was sent. */
const hiddenError = (thrown: unknown, texts: readonly string[]): unknown => {
  if (isTemperError(thrown)) return new TemperError(thrown.code, hideTexts(thrown.facts, texts));
  if (!(thrown instanceof Error) || thrown.name === 'CancelledFailure') return thrown;
  thrown.message = hideTexts(thrown.message, texts);
  return thrown;
};

/** The node and arguments with their secrets in place; nothing of this leaves the worker. */
const unlocked = async (
  found: ActedNode,
  step: PlannedStep,
  hands: BmcHands,
): Promise<{ node: BmcNode; args: Record<string, unknown>; texts: readonly string[] }> => {
  const { doubted: _, ...known } = found;
  const { driver_info, instance_info, agent } = known;
  const values = await openSecrets(found, step.args, hands);
  return {
    node: {
      ...known,
      driver_info: resolveSecrets(driver_info, values) as Record<string, unknown>,
      instance_info: resolveSecrets(instance_info, values) as Record<string, unknown>,
      agent: agent ? (resolveSecrets(agent, values) as AgentContact) : undefined,
    },
    args: resolveSecrets(step.args, values) as Record<string, unknown>,
    texts: secretTexts(values.values(), [found.name, found.uuid]),
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

const contextOf = (
  { lock, step, act, timing, story }: Attempted,
  key: ActKey,
  { inventory, log }: BmcHands,
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

// Neither is a failure of the act: the run has lost its node, or waits until it may go on.
const unrecorded: ReadonlySet<string> = new Set(['StaleOperation', 'NodeFrozen', 'RecoveryPending']);

/** Whether the engine tries again: not what is marked as final, nor beyond the attempts that the caller gave the step. */
const mayRetry = (failure: Error, step: PlannedStep, { attempt }: ActKey): boolean =>
  (failure as { nonRetryable?: boolean | null }).nonRetryable !== true &&
  attempt < (step.attempts ?? Number.POSITIVE_INFINITY);

// Best effort: the engine has the failure anyway, the row only makes it readable where the engine does not answer.
const noteFailure = async (
  { lock, step, act }: Attempted,
  key: ActKey,
  thrown: unknown,
  { inventory, log }: BmcHands,
): Promise<void> => {
  const failure = toFailure(thrown);
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
