/** Gates with several queries of a metric. */
import type { Gate, GateAnswer, MetricGate, Samples } from './gates';

export const noSamples: Samples = { taken: 0, failed: 0, inconclusive: 0 };

const defaultIntervalMs = 60_000;

const isSampled = ({ count = 1, fail_limit = 0, inconclusive_limit = 0 }: MetricGate): boolean =>
  count > 1 || fail_limit > 0 || inconclusive_limit > 0;

const noteOf = (said: GateAnswer, { taken, failed, inconclusive }: Samples, of: string): string =>
  `${taken}${of} asked, ${failed} failed, ${inconclusive} inconclusive. ${said.note}`.trim();

type Counted = { readonly answer: GateAnswer; readonly samples?: Samples };

/**
 * A wave's end needs `count` answers, and ends early if failures or inconclusive answers exceed their limits. A guard passes with its
 * first pass, and fails if failures in a row exceed its limit. Until then nothing begins.
 */
export const withSamples = (gate: Gate, before: Samples, said: GateAnswer, of: 'wave' | 'guard'): Counted => {
  if (!('metric' in gate) || said.is === 'later' || !isSampled(gate.metric)) return { answer: said };
  const { count = 1, interval_ms = defaultIntervalMs, fail_limit = 0, inconclusive_limit = 0 } = gate.metric;
  if (of === 'guard' && said.is === 'pass') return { answer: said };
  const samples = {
    taken: before.taken + 1,
    failed: before.failed + Number(said.is === 'fail'),
    inconclusive: before.inconclusive + Number(said.is === 'inconclusive'),
  };
  const note = noteOf(said, samples, of === 'wave' ? ` of ${count}` : '');
  if (samples.failed > fail_limit) return { answer: { is: 'fail', note }, samples };
  if (samples.inconclusive > inconclusive_limit) return { answer: { is: 'inconclusive', note }, samples };
  if (of === 'wave' && samples.taken >= count) return { answer: { is: 'pass', note }, samples };
  return { answer: { is: 'later', ms: interval_ms, note }, samples };
};
