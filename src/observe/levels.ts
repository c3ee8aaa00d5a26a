/** Gauges from PostgreSQL, read at intervals: nodes and open runs. */

import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';
import type { Metrics } from './metrics';

type Store = {
  nodes(): Promise<readonly { state: string; fault: string; maintenance: boolean; count: number }[]>;
  runs(): Promise<readonly { verb: string; state: string; count: number; retrying_s: number }[]>;
};

/** Resets first, so that labels without rows do not keep their last value. */
export const readLevels = async (
  store: Store,
  { nodes, openRuns, retryingLongest }: Pick<Metrics, 'nodes' | 'openRuns' | 'retryingLongest'>,
): Promise<void> => {
  const [ofNodes, ofRuns] = await Promise.all([store.nodes(), store.runs()]);
  nodes.reset();
  openRuns.reset();
  // Without nodes the metric would be missing, which an alert reads as the loss of all control workers.
  if (ofNodes.length === 0) nodes.set({ state: 'enroll', fault: 'none', maintenance: 'false' }, 0);
  for (const { state, fault, maintenance, count } of ofNodes)
    nodes.set({ state, fault, maintenance: String(maintenance) }, count);
  for (const { verb, state, count } of ofRuns) openRuns.set({ verb, state }, count);
  retryingLongest.set(Math.max(0, ...ofRuns.map(({ retrying_s }) => retrying_s)));
};

const readEveryMs = 30_000;

export const runLevels = (
  store: Store,
  metrics: Metrics,
  { log, signal }: { log: Pick<Log, 'warn'>; signal: AbortSignal },
): Promise<void> =>
  passUntil({ signal, log, failing: 'levels cannot be read now', wait: () => pause(readEveryMs, signal) }, () =>
    readLevels(store, metrics),
  );
