/** Gates that ask their metrics several times: what the answers so far come to. */
import type { Gate, GateAnswer, MetricGate, Samples } from './gates';

export const noSamples: Samples = { taken: 0, failed: 0, inconclusive: 0 };

const defaultIntervalMs = 60_000;

/** Whether a metric is asked more than once, or may fail at times. */
const isSampled = ({ count = 1, fail_limit = 0, inconclusive_limit = 0 }: MetricGate): boolean =>
  count > 1 || fail_limit > 0 || inconclusive_limit > 0;

const noteOf = (said: GateAnswer, { taken, failed, inconclusive }: Samples, of: string): string =>
  `${taken}${of} asked, ${failed} failed, ${inconclusive} inconclusive. ${said.note}`.trim();

type Counted = { readonly answer: GateAnswer; readonly samples?: Samples };

/**
 * What an answer means with those before it. At a wave's end `count` answers are wanted, and more failures or silences than the limits
 * end it at once. A guard passes with its first pass, and fails with more failures in a row than its limit; until then nothing is begun.
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
