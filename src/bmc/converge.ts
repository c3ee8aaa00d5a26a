/**
 * Loop of every act that sets a state: look, act only if needed, wait until looks show the state.
 *
 * An intent is recorded before a command is sent. An attempt that finds a young intent only waits and reads: the BMC may still carry
 * out the command or report an old state. So a worker's death costs a few looks, and never a second command for the same transition.
 */
import { isTemperError, raise, type TemperError } from '../model/errors';
import { type Announced, announcements, refuseIfOutcomeUnknown } from './announce';
import type { ActContext, BmcNode } from './contract';
import { backOff, pause } from './wait';

/** `unknown`: no answer or a meaningless one; only a later read can show the effect. */
export type Sent =
  | { readonly is: 'accepted' }
  | {
      readonly is: 'refused';
      readonly error: TemperError;
      /** The same command may succeed a little later. */
      readonly transient: boolean;
      readonly reply?: { readonly status: number };
    }
  | { readonly is: 'unknown'; readonly error: TemperError };

/** Part of a driver's client that the loop needs. */
export type Converging = {
  readonly node: Pick<BmcNode, 'uuid'>;
  readonly context: ActContext;
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
};

export type Goal<State> = {
  /** Text for errors and operators, like `power on`. */
  readonly what: string;
  /** Recorded with the intent. An intent with another value does not count. No secrets. */
  readonly desired: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly look: () => Promise<State>;
  readonly reached: (state: State, announced: Announced | undefined) => boolean;
  readonly act: (state: State) => Promise<Sent>;
  /** For operators and the intent's `before`; without secrets. */
  readonly show: (state: State) => string;
  /** Direction of a transition under way. */
  readonly moving?: (state: State, announced: Announced | undefined) => 'towards' | 'elsewhere' | undefined;
  /** Number of equal looks in a row that prove the state; default 1. */
  readonly proof?: number;
  /**
   * Condition for a second command when the first shows no effect after the settle window. `next attempt`: not if this attempt had it
   * accepted. `now`: at once. `never`: a repeat may do harm.
   */
  readonly again: 'next attempt' | 'now' | 'never';
  /** The first timeout ends the act, as a second command would take as long. */
  readonly endsInTime?: boolean;
  /** An accepted command reaches the goal, as the effect shows only at the next boot. */
  readonly trusts?: boolean;
};

export type Reached<State> = { readonly state: State; readonly sent: boolean };

const passing: readonly string[] = ['BmcUnreachable', 'BmcServerError', 'BmcBusy'];

/** A later look may mend these errors. */
const isPassing = (error: unknown): error is TemperError => isTemperError(error) && passing.includes(error.code);

type Convergence<State> = {
  readonly client: Converging;
  readonly goal: Goal<State>;
  readonly intents: ReturnType<typeof announcements>;
  readonly deadline: number;
  readonly nextPause: () => number;
  announced: Announced | undefined;
  acceptedNow: boolean;
  sent: boolean;
  movingSince: number | undefined;
  /** State shown by the last successful read. */
  seen: string;
  trouble: TemperError | undefined;
  /** Error of a command whose effect is awaited. Unlike `trouble`, a good look does not clear it. */
  unanswered: TemperError | undefined;
};

type AttemptProgress = Pick<Convergence<unknown>, 'client' | 'seen'> & { readonly goal: Pick<Goal<unknown>, 'what'> };

const beatAs = ({ client, goal, seen }: AttemptProgress, doing: string) =>
  client.context.beat({ what: goal.what, doing, seen });

/** Undefined after a passing failure. The first read throws instead, as Temporal's retries space it better. */
const readState = async <State>(attempt: Convergence<State>): Promise<{ state: State } | undefined> => {
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

const mayAct = <State>(attempt: Convergence<State>, state: State): boolean => {
  const { goal, announced } = attempt;
  const settled = (since: number) => performance.now() - since >= attempt.client.context.timing.settleMs;
  // A transition that outlasts the goal's timeout no longer counts as progress.
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
  attempt: Convergence<State>,
  refusal: Extract<Sent, { is: 'refused' }>,
): Promise<void> => {
  await attempt.intents.withdraw();
  attempt.announced = undefined;
  // The BMC may refuse because the state is already there.
  const now = await readState(attempt);
  if (now && attempt.goal.reached(now.state, undefined)) return;
  const isLast = performance.now() >= attempt.deadline;
  if (!refusal.transient || refusal.reply?.status === 503 || isLast) throw refusal.error;
  await pause(attempt.nextPause(), attempt.client.context.signal);
};

const sendCommand = async <State>(attempt: Convergence<State>, state: State): Promise<void> => {
  const { client, goal, intents } = attempt;
  const { signal, log } = client.context;
  signal.throwIfAborted();
  if (goal.again === 'never') refuseIfOutcomeUnknown(client);
  attempt.announced = await intents.announce(goal.show(state));
  beatAs(attempt, 'sending');
  const outcome = await goal.act(state).catch(async (error: unknown) => {
    // An error means that nothing was sent, unless the signal aborted midway: then the intent stays.
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
      attempt.unanswered = outcome.error;
      log.warn('a command got no answer', { node_uuid: client.node.uuid, what: goal.what, why: outcome.error.message });
  }
};

const isThere = <State>({ goal, announced }: Convergence<State>, state: State): boolean =>
  goal.reached(state, announced) || (goal.trusts === true && announced?.accepted === true);

const lastSeen = ({ seen, unanswered }: Pick<Convergence<unknown>, 'seen' | 'unanswered'>): string =>
  unanswered ? `${seen}; error of the command: ${unanswered.message.replace(/\.$/, '')}` : seen;

/** Throws BmcTimeout, BmcStuck if an earlier attempt failed too, StepOutcomeUnknown, or the BMC's refusal. */
export const converge = async <State>(client: Converging, goal: Goal<State>): Promise<Reached<State>> => {
  const { timing, signal } = client.context;
  const intents = announcements(client.context, goal.desired);
  const deadline = performance.now() + goal.timeoutMs;
  const attempt: Convergence<State> = {
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
    unanswered: undefined,
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
    const { trouble } = attempt;
    if (performance.now() >= deadline)
      throw trouble ?? raise(late, client.facts({ what: goal.what, seen: lastSeen(attempt) }));
    await pause(agreeing > 0 ? timing.pollMs : attempt.nextPause(), signal);
  }
};
