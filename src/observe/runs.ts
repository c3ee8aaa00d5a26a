/** Counts runs, steps and the engine's own errands, from events that are read once and from what activities answer. */
import { kindsWith } from '../model/resources/event-kinds';
import type { Metrics } from './metrics';

type Event = {
  readonly kind: string;
  readonly verb: string | null;
  readonly run_ms: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

const ends: readonly string[] = kindsWith('ends');
// An API may write kinds of its own; what is no plain word is not made a label.
const plain = /^[a-z_.]{1,40}$/;

/** What is reported of every event. */
export const eventCounter =
  ({ events, runs, attempts }: Metrics) =>
  ({ kind, verb, run_ms, data }: Event): void => {
    events.inc({ kind: plain.test(kind) ? kind : 'other' });
    const outcome = ends.includes(kind) ? kind.slice('run.'.length) : undefined;
    if (outcome && verb !== null && run_ms !== null) runs.observe({ verb, outcome }, run_ms / 1_000);
    if (kind === 'step.tried')
      attempts.inc({ step: String(data.step ?? 'unknown'), code: String(data.code ?? 'unknown') });
  };

type Execution = { readonly activity: string; readonly work: () => Promise<unknown> };

const add = (counter: Metrics['relayed'], did: string, count: unknown): void => {
  if (typeof count === 'number' && count > 0) counter.inc({ did }, count);
};

/** What the relay reports after each pass. */
export const relayCounter =
  ({ relayed }: Metrics) =>
  (pass: { readonly started: number; readonly sent: number }): void => {
    add(relayed, 'started', pass.started);
    add(relayed, 'sent', pass.sent);
  };

/** What the reconciler reports after each pass. */
export const reconcileCounter =
  ({ reconciled }: Pick<Metrics, 'reconciled'>) =>
  ({ started, ended }: { readonly started?: number; readonly ended?: number }): void => {
    add(reconciled, 'started', started);
    add(reconciled, 'ended', ended);
  };

/** What the pass over allocations reports of each that it ended. */
export const allocationCounter =
  ({ allocations }: Metrics) =>
  ({ outcome, seconds }: { readonly outcome: string; readonly seconds: number }): void =>
    allocations.observe({ outcome }, seconds);

/** Runs an activity and counts it; a pass of the reconciler that an operator triggered answers what it did. */
export const activityCounter =
  ({ activities, reconciled }: Metrics) =>
  async ({ activity, work }: Execution): Promise<unknown> => {
    const done = activities.startTimer({ activity });
    try {
      const answer = await work();
      done({ outcome: 'done' });
      if (activity === 'reconcile') reconcileCounter({ reconciled })(answer ?? {});
      return answer;
    } catch (thrown) {
      done({ outcome: 'failed' });
      throw thrown;
    }
  };
