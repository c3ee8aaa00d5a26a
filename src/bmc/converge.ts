/**
 * The loop behind every act that sets a state: look, act only if needed, wait until looks agree.
 *
 * A command is announced by an intent before it leaves. An attempt that finds a young intent waits and reads instead of sending:
 * the BMC may still be carrying the command out, or be lying about the state for a while. So a worker that dies between
 * any two lines costs a few looks, never a second command for the same transition.
 */
import { isTemperError, raise, type TemperError } from '../model/errors';
import { type Announced, announcements, refuseIfOutcomeUnknown } from './announce';
import type { ActContext, BmcNode } from './contract';
import { backOff, pause } from './wait';

/** How a command ended. `unknown`: no answer came, or one that says nothing; only a later read can show it. */
export type Sent =
  | { readonly is: 'accepted' }
  | {
      readonly is: 'refused';
      readonly error: TemperError;
      /** The same command may well succeed a little later. */
      readonly transient: boolean;
      readonly reply?: { readonly status: number };
    }
  | { readonly is: 'unknown'; readonly error: TemperError };

/** What the loop needs of a driver's client. */
export type Converging = {
  readonly node: Pick<BmcNode, 'uuid'>;
  readonly context: ActContext;
  /** Facts for an error of this node and BMC. */
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
};

export type Goal<State> = {
  /** What is wanted, for errors and operators: `power on`. */
  readonly what: string;
  /** Recorded with the intent and compared with it: only an intent for the same thing counts. No secrets. */
  readonly desired: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly look: () => Promise<State>;
  readonly reached: (state: State, announced: Announced | undefined) => boolean;
  /** The command, sent when a look shows that it is needed. */
  readonly act: (state: State) => Promise<Sent>;
  /** For operators and as the intent's `before`: readable, without secrets. */
  readonly show: (state: State) => string;
  /** A transition is under way: `towards` what is wanted, or `elsewhere`. */
  readonly moving?: (state: State, announced: Announced | undefined) => 'towards' | 'elsewhere' | undefined;
  /** How many equal looks in a row are proof; default 1. */
  readonly proof?: number;
  /**
   * When to send again what was announced before and shows no effect after the settle window.
   * `next attempt`: not after it was accepted in this one. `now`: at once. `never`: a repeat may harm.
   */
  readonly again: 'next attempt' | 'now' | 'never';
  /** Asking again would only take as long once more: the first timeout is the end. Otherwise a second attempt sends again. */
  readonly endsInTime?: boolean;
  /** The effect shows only later (at the next boot): an accepted command is all there is to wait for. */
  readonly trusts?: boolean;
};

export type Reached<State> = { readonly state: State; readonly sent: boolean };

const passing: readonly string[] = ['BmcUnreachable', 'BmcServerError', 'BmcBusy'];

/** A failed look while waiting says nothing; only one that no later look can mend ends the act. */
const isPassing = (error: unknown): error is TemperError => isTemperError(error) && passing.includes(error.code);

/** How far one attempt at a goal has come. */
type Attempt<State> = {
  readonly client: Converging;
  readonly goal: Goal<State>;
  readonly intents: ReturnType<typeof announcements>;
  readonly deadline: number;
  readonly nextPause: () => number;
  announced: Announced | undefined;
  acceptedNow: boolean;
  sent: boolean;
  movingSince: number | undefined;
  /** What the last read that came through showed. */
  seen: string;
  trouble: TemperError | undefined;
};

/** What an error or a heartbeat says of it. */
type AttemptProgress = Pick<Attempt<unknown>, 'client' | 'seen'> & { readonly goal: Pick<Goal<unknown>, 'what'> };

const beatAs = ({ client, goal, seen }: AttemptProgress, doing: string) =>
  client.context.beat({ what: goal.what, doing, seen });

/** Undefined when the read failed in passing; the engine's retries space those of the very first read better. */
const readState = async <State>(attempt: Attempt<State>): Promise<{ state: State } | undefined> => {
  try {
    const state = await attempt.goal.look();
    attempt.seen = attempt.goal.show(state);
    attempt.trouble = undefined;
    return { state };
  } catch (error) {
    attempt.client.context.signal.throwIfAborted();
    if (!isPassing(error) || attempt.seen === 'nothing') throw error;
    attempt.trouble = error;
    return undefined;
  }
};

const outcomeUnknown = ({ client, goal, seen }: AttemptProgress): never =>
  raise(
    'StepOutcomeUnknown',
    client.facts({ step: goal.what, reason: `the BMC shows ${seen}, as it would either way` }),
  );

const mayAct = <State>(attempt: Attempt<State>, state: State): boolean => {
  const { goal, announced } = attempt;
  const settled = (since: number) => performance.now() - since >= attempt.client.context.timing.settleMs;
  // What has been on its way for longer than it may take is no longer believed to arrive.
  const arrives = announced === undefined || performance.now() - announced.sentAt < goal.timeoutMs;
  const moving = goal.moving?.(state, announced);
  if (moving === undefined) attempt.movingSince = undefined;
  else attempt.movingSince ??= performance.now();
  const { movingSince } = attempt;
  if ((moving === 'towards' && arrives) || (movingSince !== undefined && !settled(movingSince))) return false;
  if (attempt.acceptedNow && goal.again !== 'now') return false;
  if (announced === undefined) return true;
  if (!settled(announced.sentAt)) return false;
  return goal.again !== 'never' || outcomeUnknown(attempt);
};

const afterRefusal = async <State>(
  attempt: Attempt<State>,
  refusal: Extract<Sent, { is: 'refused' }>,
): Promise<void> => {
  await attempt.intents.withdraw();
  attempt.announced = undefined;
  // It may be refused because the state is there already.
  const now = await readState(attempt);
  if (now && attempt.goal.reached(now.state, undefined)) return;
  const isLast = performance.now() >= attempt.deadline;
  if (!refusal.transient || refusal.reply?.status === 503 || isLast) throw refusal.error;
  await pause(attempt.nextPause(), attempt.client.context.signal);
};

const sendCommand = async <State>(attempt: Attempt<State>, state: State): Promise<void> => {
  const { client, goal, intents } = attempt;
  const { signal, log } = client.context;
  signal.throwIfAborted();
  if (goal.again === 'never') refuseIfOutcomeUnknown(client);
  attempt.announced = await intents.announce(goal.show(state));
  beatAs(attempt, 'sending');
  const outcome = await goal.act(state).catch(async (error: unknown) => {
    // Thrown means that nothing was sent, unless we were stopped in the middle: then the intent must stand.
    if (!signal.aborted) await intents.withdraw();
    throw error;
  });
  attempt.sent = true;
  switch (outcome.is) {
    case 'accepted':
      attempt.acceptedNow = true;
      if (goal.trusts) attempt.announced = await intents.confirm(attempt.announced);
      return;
    case 'refused':
      return afterRefusal(attempt, outcome);
    case 'unknown':
      attempt.trouble = outcome.error;
      log.warn('a command got no answer', { node_uuid: client.node.uuid, what: goal.what, why: outcome.error.message });
  }
};

const isThere = <State>({ goal, announced }: Attempt<State>, state: State): boolean =>
  goal.reached(state, announced) || (goal.trusts === true && announced?.accepted === true);

/**
 * Throws BmcTimeout when the state is not reached in time, BmcStuck when it was not in an attempt before this one either,
 * StepOutcomeUnknown, or what the BMC's refusal amounts to.
 */
export const converge = async <State>(client: Converging, goal: Goal<State>): Promise<Reached<State>> => {
  const { timing, signal } = client.context;
  const intents = announcements(client.context, goal.desired);
  const deadline = performance.now() + goal.timeoutMs;
  const attempt: Attempt<State> = {
    client,
    goal,
    intents,
    deadline,
    nextPause: backOff(timing.pollMs),
    announced: await intents.last(),
    acceptedNow: false,
    sent: false,
    movingSince: undefined,
    seen: 'nothing',
    trouble: undefined,
  };
  const late = attempt.announced !== undefined || goal.endsInTime === true ? 'BmcStuck' : 'BmcTimeout';
  let agreeing = 0;
  for (;;) {
    const now = await readState(attempt);
    if (now) {
      agreeing = isThere(attempt, now.state) ? agreeing + 1 : 0;
      if (agreeing >= (goal.proof ?? 1)) return { state: now.state, sent: attempt.sent };
      if (agreeing === 0 && mayAct(attempt, now.state)) {
        await sendCommand(attempt, now.state);
        continue;
      }
    }
    beatAs(attempt, 'waiting');
    const { trouble, seen } = attempt;
    if (performance.now() >= deadline) throw trouble ?? raise(late, client.facts({ what: goal.what, seen }));
    await pause(agreeing > 0 ? timing.pollMs : attempt.nextPause(), signal);
  }
};
