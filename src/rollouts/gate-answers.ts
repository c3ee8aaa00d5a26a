/** Conversion of webhook and metric responses to gate answers. */
import { z } from 'zod';
import { type GateAnswer, inconclusive, type MetricGate } from '../model/rollouts/gates';
import { storable } from '../model/texts';

const longestNote = 500;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const note = z.string().max(longestNote).default('').transform(storable);
const WebhookAnswer = z.union([
  z.object({ answer: z.enum(['pass', 'fail', 'inconclusive']), reason: note }),
  z.object({ retry_after: z.int().min(1).max(3_600), reason: note }),
]);

export const webhookAnswer = (status: number, text: string): GateAnswer => {
  if (status !== 200) return inconclusive(`The webhook answered ${status}.`);
  const read = WebhookAnswer.safeParse(jsonOf(text));
  if (!read.success) return inconclusive('The webhook answered neither pass, fail, inconclusive nor retry_after.');
  const { data } = read;
  if ('retry_after' in data) return { is: 'later', ms: data.retry_after * 1_000, note: data.reason };
  return { is: data.answer, note: data.reason };
};

const sample = z.tuple([z.number(), z.string()]);
const MetricReply = z.object({
  status: z.literal('success'),
  data: z.union([
    z.object({ resultType: z.literal('scalar'), result: sample }),
    z.object({ resultType: z.literal('vector'), result: z.array(z.object({ value: sample })) }),
  ]),
});

/** One number within the bounds passes. https://prometheus.io/docs/prometheus/latest/querying/api */
export const metricAnswer = ({ at_least, at_most }: MetricGate, status: number, text: string): GateAnswer => {
  if (status !== 200) return inconclusive(`The metrics answered ${status}.`);
  const read = MetricReply.safeParse(jsonOf(text));
  if (!read.success) return inconclusive('The metrics answered no number.');
  const { data } = read.data;
  const values = data.resultType === 'scalar' ? [data.result] : data.result.map(({ value }) => value);
  if (values.length !== 1) return inconclusive(`The metrics answered ${values.length} values in place of one.`);
  const value = values[0]![1] === '' ? Number.NaN : Number(values[0]![1]);
  if (Number.isNaN(value)) return inconclusive('The metrics answered no number.');
  const holds = (at_least === undefined || value >= at_least) && (at_most === undefined || value <= at_most);
  return { is: holds ? 'pass' : 'fail', note: `The value is ${value}.` };
};
