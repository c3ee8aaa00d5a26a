/** A read of a node's BMC for a waiting caller. Without lock and fence, it must not change anything. */
import { randomUUID } from 'node:crypto';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { ActContext } from '../bmc/contract';
import { hideTexts } from '../model/access/secrets';
import { raise } from '../model/errors';
import type { RunUuid } from '../model/ids';
import { actRow } from '../model/lifecycle/steps';
import type { LookInput } from '../model/runs/calls';
import type { ActOutcome } from '../model/runs/runs';
import { type Beating, beatAndLog, startBeating } from './act-context';
import { hiddenError } from './act-outcome';
import { performerOf } from './attempt';
import type { BmcDeps } from './bmc-deps';
import { guarded } from './failures';
import { inLane } from './lease';
import { unlocked } from './secrets';

export type LookActivities = ReturnType<typeof lookActivities>;

/** Bytes; the result goes into the history. */
const longestAnswer = 64 * 1024;

export const lookActivities = (deps: BmcDeps) => {
  const holder = randomUUID();
  return {
    /** Returns the result, or the power state if there is no other. Updates stored details. */
    look: guarded(async (input: LookInput): Promise<unknown> => {
      const beating = startBeating(activityInfo());
      try {
        const outcome = await looked(input, deps, { holder, beating });
        await keepSeen(input, outcome, deps);
        return bounded(outcome.value ?? outcome.seen?.power_state ?? null, input);
      } finally {
        beating.stop();
      }
    }),
  };
};

type During = { readonly holder: string; readonly beating: Beating };

const looked = async (input: LookInput, deps: BmcDeps, { holder, beating }: During): Promise<ActOutcome> => {
  const found = (await deps.inventory.calls.node(input.node_uuid)) ?? raise('NodeNotFound', { node: input.node_uuid });
  const { effect, by, says } = actRow(input.act);
  const what = `to ${says}`;
  if (effect !== 'read' || by === 'agent') raise('DriverUnsupported', { driver: found.driver, what });
  const { driver, perform } = performerOf(found.driver, input.act, what, deps);
  const { node, texts } = await unlocked(found, undefined, deps);
  const limit = AbortSignal.timeout(input.withinMs);
  const signal = AbortSignal.any([cancellationSignal(), limit]);
  const lane = driver.laneKey(node);
  let entered = false;
  const work = () => {
    entered = true;
    return perform(node, input.args, {
      ...contextOf(input, signal),
      ...beatAndLog(beating.say, deps, { node_uuid: input.node_uuid, act: input.act }, texts),
    });
  };
  try {
    return hideTexts(await inLane(deps, { lane, holder, signal }, work), texts);
  } catch (thrown) {
    // The lane may be held for minutes; the error names that instead of the timeout.
    if (limit.aborted && !entered) raise('BmcLeaseHeld', { bmc: lane });
    throw hiddenError(thrown, texts);
  }
};

const contextOf = ({ timing }: LookInput, signal: AbortSignal): Omit<ActContext, 'beat' | 'log'> => ({
  run: randomUUID() as RunUuid, // no run; only log lines use it
  attempt: activityInfo().attempt,
  signal,
  // A read announces no command.
  intents: { last: async () => undefined, record: async () => {}, renew: async () => {} },
  mayStillSend: () => true, // it sends no command
  timing,
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
