/** Pace of requests to one BMC: few reads at a time, single writes, spacing and pauses. */
import { TemperError } from '../../../model/errors';
import type { BmcRequestKind, Pacing } from '../../contract';
import { courtesyFor } from '../../quirks';
import { pause } from '../../wait';

export type Pace = {
  /** Throws the signal's reason if it aborts the wait. */
  turn<T>(kind: BmcRequestKind, signal: AbortSignal, request: () => Promise<T>): Promise<T>;
  learn(vendor: string): void;
  /** Starts a pause that the BMC requested. */
  rest(ms: number): void;
  restingMs(): number;
};

type Waiter = { readonly alone: boolean; readonly go: () => void };

/** First come, first served. A write waits until it is alone. */
const createGate = (reads: () => number) => {
  const waiting: Waiter[] = [];
  let inside = 0;
  let alone = false;

  const fits = (wantsAlone: boolean) => !alone && (wantsAlone ? inside === 0 : inside < reads());
  const admit = (): void => {
    while (waiting[0] && fits(waiting[0].alone)) {
      const next = waiting.shift()!;
      inside += 1;
      alone = next.alone;
      next.go();
    }
  };
  return {
    enter: (wantsAlone: boolean, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const leave = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(signal.reason);
          admit();
        };
        const waiter: Waiter = {
          alone: wantsAlone,
          go: () => {
            signal.removeEventListener('abort', leave);
            resolve();
          },
        };
        waiting.push(waiter);
        signal.addEventListener('abort', leave, { once: true });
        admit();
      }),
    leave: (): void => {
      inside -= 1;
      alone = false;
      admit();
    },
  };
};

/** @param given overrides the vendor's row */
export const createPace = (given: Partial<Pacing> = {}): Pace => {
  let vendor: string | undefined;
  let courtesy: Pacing = { ...courtesyFor(vendor), ...given };
  let next = 0;
  let nextLogin = 0;
  let restUntil = 0;
  const gate = createGate(() => courtesy.reads);

  /** Concurrent callers get different times. @returns the time to wait */
  const reserve = (kind: BmcRequestKind): number => {
    const now = performance.now();
    const at = Math.max(now, next, kind === 'login' ? nextLogin : 0);
    next = at + courtesy.spacingMs;
    if (kind === 'login') nextLogin = at + courtesy.loginSpacingMs;
    return at - now;
  };

  return {
    async turn(kind, signal, request) {
      signal.throwIfAborted();
      await gate.enter(kind !== 'read', signal);
      try {
        const wait = reserve(kind);
        if (wait > 0) await pause(wait, signal);
        return await request();
      } finally {
        if (kind === 'write') next = Math.max(next, performance.now() + courtesy.afterWriteMs);
        gate.leave();
      }
    },
    learn(name) {
      if (vendor !== undefined) return;
      vendor = name;
      courtesy = { ...courtesyFor(name), ...given };
    },
    rest(ms) {
      restUntil = Math.max(restUntil, performance.now() + ms);
    },
    restingMs: () => Math.max(restUntil - performance.now(), 0),
  };
};

export const restingError = (pace: Pace, facts: { node: string; bmc: string; what: string }): TemperError =>
  new TemperError('BmcBusy', {
    ...facts,
    status: 'pause',
    reason: 'it asked to be left alone for a while',
    retryAfterMs: pace.restingMs(),
  });
