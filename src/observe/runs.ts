/** Metrics of runs, steps and background passes. */
import { kindsWith } from '../model/resources/event-kinds';
import type { Metrics } from './metrics';

type Event = {
  readonly kind: string;
  readonly verb: string | null;
  readonly run_ms: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};

const ends: readonly string[] = kindsWith('ends');
// An API process may write other kinds. Only plain words become labels.
const plain = /^[a-z_.]{1,40}$/;

export const eventCounter =
  ({ events, runs, attempts }: Metrics) =>
  ({ kind, verb, run_ms, data }: Event): void => {
    events.inc({ kind: plain.test(kind) ? kind : 'other' });
    const outcome = ends.includes(kind) ? kind.slice('run.'.length) : undefined;
    if (outcome && verb !== null && run_ms !== null) runs.observe({ verb, outcome }, run_ms / 1_000);
    if (kind === 'step.tried')
      attempts.inc({ step: String(data.step ?? 'unknown'), code: String(data.code ?? 'unknown') });
  };

export const noticeCounter =
  ({ notices }: Pick<Metrics, 'notices'>) =>
  (outcome: string): void =>
    notices.inc({ outcome });

type Execution = { readonly activity: string; readonly work: () => Promise<unknown> };

const add = (counter: Metrics['relayed'], did: string, count: unknown): void => {
  if (typeof count === 'number' && count > 0) counter.inc({ did }, count);
};

export const relayCounter =
  ({ relayed }: Metrics) =>
  (pass: { readonly started: number; readonly sent: number }): void => {
    add(relayed, 'started', pass.started);
    add(relayed, 'sent', pass.sent);
  };

export const reconcileCounter =
  ({ reconciled }: Pick<Metrics, 'reconciled'>) =>
  ({ started, ended }: { readonly started?: number; readonly ended?: number }): void => {
    add(reconciled, 'started', started);
    add(reconciled, 'ended', ended);
  };

export const allocationCounter =
  ({ allocations }: Metrics) =>
  ({ outcome, seconds }: { readonly outcome: string; readonly seconds: number }): void =>
    allocations.observe({ outcome }, seconds);

/** An operator can trigger `reconcile`, whose result is counted too. */
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
