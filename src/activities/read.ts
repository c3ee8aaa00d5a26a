/** A read of a node's BMC for a waiting caller. Without lock and fence, it must not change anything. */
import { randomUUID } from 'node:crypto';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { Act, ActContext, BmcNode, Driver } from '../bmc/contract';
import type { CalledNode } from '../inventory/runs/calls';
import { hideTexts, resolveSecrets, secretTexts } from '../model/access/secrets';
import { isTemperError, raise, TemperError } from '../model/errors';
import type { RunUuid } from '../model/ids';
import { actRow } from '../model/lifecycle/steps';
import type { LookInput } from '../model/runs/calls';
import type { ActOutcome } from '../model/runs/runs';
import type { BmcDeps } from './bmc-deps';
import { guarded } from './failures';
import { inLane } from './lease';
import { openSecrets } from './secrets';

export type LookActivities = ReturnType<typeof lookActivities>;

/** Bytes; the result goes into the history. */
const longestAnswer = 64 * 1024;
const beatEveryMs = 2_000;

export const lookActivities = (deps: BmcDeps) => {
  const holder = randomUUID();
  return {
    /** Returns the result, or the power state if there is no other. Updates stored details. */
    look: guarded(async (input: LookInput): Promise<unknown> => {
      const beating = setInterval(() => heartbeat(), beatEveryMs);
      try {
        const outcome = await attempt(input, deps, holder);
        await keepSeen(input, outcome, deps);
        return bounded(outcome.value ?? outcome.seen?.power_state ?? null, input);
      } finally {
        clearInterval(beating);
      }
    }),
  };
};

const attempt = async (input: LookInput, deps: BmcDeps, holder: string): Promise<ActOutcome> => {
  const found = (await deps.inventory.calls.node(input.node_uuid)) ?? raise('NodeNotFound', { node: input.node_uuid });
  const { driver, perform } = performerOf(found, input, deps);
  const { node, texts } = await unlocked(found, deps);
  const limit = AbortSignal.timeout(input.withinMs);
  const signal = AbortSignal.any([cancellationSignal(), limit]);
  const lane = driver.laneKey(node);
  let entered = false;
  const work = () => {
    entered = true;
    return perform(node, input.args, contextOf(input, signal, deps, texts));
  };
  try {
    return hideTexts(await inLane(deps, { lane, holder, signal }, work), texts);
  } catch (thrown) {
    // The lane may be held for minutes; the error names that instead of the timeout.
    if (limit.aborted && !entered) raise('BmcLeaseHeld', { bmc: lane });
    throw isTemperError(thrown)
      ? new TemperError(thrown.code, hideTexts(thrown.facts, texts))
      : withoutTexts(thrown, texts);
  }
};

const withoutTexts = (thrown: unknown, texts: readonly string[]): unknown => {
  if (thrown instanceof Error && thrown.name !== 'CancelledFailure' && !(thrown instanceof DOMException))
    thrown.message = hideTexts(thrown.message, texts);
  return thrown;
};

const performerOf = (node: CalledNode, { act }: LookInput, deps: BmcDeps): { driver: Driver; perform: Act } => {
  const { effect, says } = actRow(act);
  const driver = deps.driverOf(node.driver);
  const perform = effect === 'read' ? driver?.acts[act] : undefined;
  if (!driver || !perform) return raise('DriverUnsupported', { driver: node.driver, what: `to ${says}` });
  return { driver, perform };
};

/** Resolves secrets, which must not leave the worker. */
const unlocked = async (found: CalledNode, deps: BmcDeps): Promise<{ node: BmcNode; texts: readonly string[] }> => {
  const values = await openSecrets(found, undefined, deps);
  const driver_info = resolveSecrets(found.driver_info, values) as Record<string, unknown>;
  return { node: { ...found, driver_info }, texts: secretTexts(values.values()) };
};

const contextOf = (
  { node_uuid, act, timing }: LookInput,
  signal: AbortSignal,
  { log }: BmcDeps,
  texts: readonly string[],
): ActContext => ({
  run: randomUUID() as RunUuid, // no run; only log lines use it
  attempt: activityInfo().attempt,
  signal,
  beat: (details) => heartbeat(hideTexts(details, texts)),
  // A read announces no command.
  intents: { last: async () => undefined, record: async () => {}, renew: async () => {} },
  mayStillSend: () => true, // it sends no command
  timing,
  log: {
    info: (message, facts) => log.info(message, { ...hideTexts(facts, texts), node_uuid, act }),
    warn: (message, facts) => log.warn(message, { ...hideTexts(facts, texts), node_uuid, act }),
  },
});

const keepSeen = async ({ node_uuid }: LookInput, { seen }: ActOutcome, { inventory }: BmcDeps): Promise<void> => {
  if (seen?.bios || seen?.firmware)
    await inventory.details.write(node_uuid, { bios: seen.bios, firmware: seen.firmware });
};

const bounded = (value: unknown, { act }: LookInput): unknown => {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > longestAnswer)
    raise('StepRejected', { step: act, reason: `the BMC's answer holds ${bytes} bytes, more than ${longestAnswer}` });
  return value;
};
