/**
 * The loop behind every act that sets a state: look, act only if needed, wait until looks agree.
 *
 * A command is announced by an intent before it leaves. An attempt that finds a young intent waits and reads instead of sending:
 * the BMC may still be carrying the command out, or be lying about the state for a while. So a worker that dies between
 * any two lines costs a few looks, never a second command for the same transition.
 */
import { isTemperError, raise, type TemperError } from '../model/errors';
import { type Announced, announcements, refuseDoubted } from './announce';
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

/**
 * Throws BmcTimeout when the state is not reached in time, BmcStuck when it was not in an attempt before this one either,
 * StepOutcomeUnknown, or what the BMC's refusal amounts to.
 */
export const converge = async <State>(client: Converging, goal: Goal<State>): Promise<Reached<State>> => {
  const { timing, signal, beat, log } = client.context;
  const intents = announcements(client.context, goal.desired);
  const deadline = performance.now() + goal.timeoutMs;
  const nextPause = backOff(timing.pollMs);
  let announced = await intents.last();
  const late = announced !== undefined || goal.endsInTime === true ? 'BmcStuck' : 'BmcTimeout';
  let acceptedNow = false;
  let sent = false;
  let agreeing = 0;
  let movingSince: number | undefined;
  let seen = 'nothing';
  let trouble: TemperError | undefined;

  const beatAs = (doing: string) => beat({ what: goal.what, doing, seen });

  /** Undefined when the look failed in passing; the engine's retries space those of the very first look better. */
  const look = async (): Promise<{ state: State } | undefined> => {
    try {
      const state = await goal.look();
      seen = goal.show(state);
      trouble = undefined;
      return { state };
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error) || seen === 'nothing') throw error;
      trouble = error;
      return undefined;
    }
  };

  const settled = (since: number): boolean => performance.now() - since >= timing.settleMs;

  /** What has been on its way for longer than it may take is no longer believed to arrive. */
  const arrives = (): boolean => announced === undefined || performance.now() - announced.sentAt < goal.timeoutMs;

  const mayAct = (state: State): boolean => {
    const moving = goal.moving?.(state, announced);
    if (moving === undefined) movingSince = undefined;
    else movingSince ??= performance.now();
    if ((moving === 'towards' && arrives()) || (movingSince !== undefined && !settled(movingSince))) return false;
    if (acceptedNow && goal.again !== 'now') return false;
    if (announced === undefined) return true;
    if (!settled(announced.sentAt)) return false;
    return goal.again !== 'never' || outcomeUnknown();
  };

  const outcomeUnknown = (): never =>
    raise(
      'StepOutcomeUnknown',
      client.facts({ step: goal.what, reason: `the BMC shows ${seen}, as it would either way` }),
    );

  const refused = async (refusal: Extract<Sent, { is: 'refused' }>): Promise<void> => {
    await intents.withdraw();
    announced = undefined;
    // It may be refused because the state is there already.
    const now = await look();
    if (now && goal.reached(now.state, undefined)) return;
    if (!refusal.transient || refusal.reply?.status === 503 || performance.now() >= deadline) throw refusal.error;
    await pause(nextPause(), signal);
  };

  const send = async (state: State): Promise<void> => {
    signal.throwIfAborted();
    if (goal.again === 'never') refuseDoubted(client);
    announced = await intents.announce(goal.show(state));
    beatAs('sending');
    const outcome = await goal.act(state).catch(async (error: unknown) => {
      // Thrown means that nothing was sent, unless we were stopped in the middle: then the intent must stand.
      if (!signal.aborted) await intents.withdraw();
      throw error;
    });
    sent = true;
    switch (outcome.is) {
      case 'accepted':
        acceptedNow = true;
        if (goal.trusts) announced = await intents.confirm(announced);
        return;
      case 'refused':
        return refused(outcome);
      case 'unknown':
        trouble = outcome.error;
        log.warn('a command got no answer', { node_uuid: client.node.uuid, what: goal.what, why: trouble.message });
    }
  };

  for (;;) {
    const now = await look();
    if (now) {
      agreeing = goal.reached(now.state, announced) || (goal.trusts && announced?.accepted) ? agreeing + 1 : 0;
      if (agreeing >= (goal.proof ?? 1)) return { state: now.state, sent };
      if (agreeing === 0 && mayAct(now.state)) {
        await send(now.state);
        continue;
      }
    }
    beatAs('waiting');
    if (performance.now() >= deadline) throw trouble ?? raise(late, client.facts({ what: goal.what, seen }));
    await pause(agreeing > 0 ? timing.pollMs : nextPause(), signal);
  }
};
