/** Metrics of policy, drivers, lanes and HTTP requests. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { isTemperError } from '../model/errors';
import type { Metrics } from './metrics';

const codeOf = (thrown: unknown): string =>
  isTemperError(thrown) ? thrown.code : thrown instanceof Error ? thrown.name : 'unknown';

type Deciding = {
  allows(...asked: never[]): boolean;
  require(...asked: never[]): void;
  filter(...asked: never[]): unknown;
};

export const countedPolicy = <Policy extends Deciding>(
  policy: Policy,
  ruleSet: string,
  { policy: seconds }: Metrics,
): Policy => {
  const of = (outcome: string) => seconds.labels(ruleSet, outcome);
  const [allowed, denied, filtered] = [of('allowed'), of('denied'), of('filtered')];
  const timed =
    <Asked extends never[], Out>(work: (...asked: Asked) => Out, judge: (out: Out) => typeof allowed) =>
    (...asked: Asked): Out => {
      const began = performance.now();
      const seen = (as: typeof allowed) => as.observe((performance.now() - began) / 1_000);
      try {
        const out = work(...asked);
        seen(judge(out));
        return out;
      } catch (thrown) {
        seen(denied);
        throw thrown;
      }
    };
  return {
    ...policy,
    allows: timed(policy.allows, (may) => (may ? allowed : denied)),
    require: timed(policy.require, () => allowed),
    filter: timed(policy.filter, () => filtered),
  };
};

type Lanes = { run<T>(key: string | null, signal: AbortSignal, work: () => Promise<T>): Promise<T> };

/** Counts acts that wait for a lane or hold one; acts without a lane do not count. */
export const countedLanes = <Kind extends Lanes>(lanes: Kind, { lanes: gauge, laneWait }: Metrics): Kind => ({
  ...lanes,
  async run<T>(key: string | null, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (key === null) return lanes.run(key, signal, work);
    const [waiting, held] = [gauge.labels('waiting'), gauge.labels('held')];
    const waited = laneWait.startTimer();
    let inside = false;
    waiting.inc();
    const enter = (): Promise<T> => {
      inside = true;
      waiting.dec();
      waited();
      held.inc();
      return work();
    };
    try {
      return await lanes.run(key, signal, enter);
    } finally {
      (inside ? held : waiting).dec();
    }
  },
});

const acting = new AsyncLocalStorage<{ readonly driver: string; readonly vendor: string }>();

const mostVendors = 20;

/** Nodes may have any vendor, so all after the first twenty share a label. */
export const vendorLabels = (): ((vendor: unknown) => string) => {
  const known = new Set<string>();
  return (vendor) => {
    const name = typeof vendor === 'string' ? vendor.trim().toLowerCase().slice(0, 40) : '';
    if (name === '') return 'unknown';
    if (known.size < mostVendors) known.add(name);
    return known.has(name) ? name : 'other';
  };
};

type Node = { readonly properties: Readonly<Record<string, unknown>> };
type Context = { readonly step?: { readonly interface: string; readonly step: string } };
type ObservedAct = (node: never, args: never, context: never) => Promise<unknown>;
type Driver = { readonly name: string; readonly acts: Readonly<Partial<Record<string, ObservedAct>>> };

/** Also labels the HTTP requests of acts. */
export const countedDriver = <Kind extends Driver>(
  driver: Kind,
  { acts: seconds }: Metrics,
  vendorOf = vendorLabels(),
): Kind => {
  const counted =
    (act: string, perform: ObservedAct): ObservedAct =>
    async (node, args, context) => {
      const done = seconds.startTimer();
      const { step } = context as Context;
      const labels = { driver: driver.name, step: step ? `${step.interface}.${step.step}` : 'unknown', act };
      const who = { driver: driver.name, vendor: vendorOf((node as Node).properties.vendor) };
      try {
        const outcome = await acting.run(who, () => perform(node, args, context));
        done({ ...labels, code: 'ok' });
        return outcome;
      } catch (thrown) {
        done({ ...labels, code: codeOf(thrown) });
        throw thrown;
      }
    };
  const acts = Object.entries(driver.acts).map(([name, perform]) => [name, perform && counted(name, perform)]);
  return { ...driver, acts: Object.fromEntries(acts) };
};

// Messages of undici's channels: github.com/nodejs/undici docs/docs/api/DiagnosticsChannel.md
type Created = { readonly request: object & { readonly method?: string } };
type Answered = Created & { readonly response: { readonly statusCode: number } };
type Underway = { readonly done: (status: string) => void };

/**
 * Counts HTTP requests of acts.
 * @returns stops it
 */
export const countRequests = ({ bmc: seconds }: Metrics): (() => void) => {
  const underway = new WeakMap<object, Underway>();
  const end = (request: object, status: string): void => {
    underway.get(request)?.done(status);
    underway.delete(request);
  };
  const listeners: Readonly<Record<string, (message: unknown) => void>> = {
    'undici:request:create': (message) => {
      const who = acting.getStore();
      const { request } = message as Created;
      if (!who) return;
      const stop = seconds.startTimer({ ...who, method: request.method ?? 'GET' });
      underway.set(request, { done: (status) => void stop({ status }) });
    },
    'undici:request:headers': (message) => {
      const { request, response } = message as Answered;
      end(request, `${Math.floor(response.statusCode / 100)}xx`);
    },
    'undici:request:error': (message) => end((message as Created).request, 'none'),
  };
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
  };
};
