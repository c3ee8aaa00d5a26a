/** Calls to gates: signed webhooks or metrics. A silent gate is inconclusive. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Inventory } from '../inventory';
import type { Vault } from '../inventory/secrets/vault';
import { AnswerTooLong, textWithin } from '../model/bodies';
import { isTemperError } from '../model/errors';
import { cloudEventOf } from '../model/resources/webhooks';
import { type Gate, type GateAnswer, inconclusive, type MetricGate } from '../model/rollouts/gates';
import { cutOffBy } from '../model/signals';
import { storable } from '../model/texts';
import { askWebhook, type SenderDeps } from '../runs/webhook-sender';

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

export type GateFacts = Readonly<Record<string, unknown>> & { readonly rollout: string };

export type Gates = {
  /** At the end of a wave. */
  readonly ask: (gate: Gate, facts: GateFacts) => Promise<GateAnswer>;
  /** Before nodes are begun. The rollout keeps the answer, not this room. */
  readonly guard: (gate: Gate, facts: GateFacts) => Promise<GateAnswer>;
};

export type GateDeps = SenderDeps & {
  readonly inventory: Pick<Inventory, 'webhooks'>;
  readonly vault?: Vault;
  /** Base URL of a Prometheus API. */
  readonly metricsUrl?: string;
};

/** Well below the timeout of a pass. */
const withinMs = 5_000;
const longestReply = 64 * 1024;

const askOfWebhook = async (deps: GateDeps, uuid: string, facts: GateFacts): Promise<GateAnswer> => {
  const target = await deps.inventory.webhooks.target(uuid);
  if (!target || !deps.vault) return inconclusive(`Webhook ${uuid} is disabled, or no more.`);
  const delivery = randomUUID();
  const message = {
    url: target.url,
    delivery,
    body: cloudEventOf({
      id: delivery,
      type: 'gate',
      time: new Date().toISOString(),
      subject: facts.rollout,
      data: facts,
    }),
    secret: String(deps.vault.open(target.secret)),
  };
  const { status, text } = await askWebhook(message, { timeoutMs: withinMs, ...deps }, new AbortController().signal);
  return webhookAnswer(status, text);
};

const askOfMetrics = async ({ metricsUrl }: GateDeps, gate: MetricGate): Promise<GateAnswer> => {
  if (metricsUrl === undefined) return inconclusive('This control worker has no TEMPER_GATE_METRICS_URL.');
  const url = `${metricsUrl.replace(/\/+$/, '')}/api/v1/query?${new URLSearchParams({ query: gate.query })}`;
  const signal = AbortSignal.timeout(withinMs);
  const reply = cutOffBy(await fetch(url, { signal, redirect: 'error' }), signal);
  return metricAnswer(gate, reply.status, await textWithin(reply, longestReply));
};

/** The error text does not contain the gate's address. */
const silence = (thrown: unknown): GateAnswer => {
  if (isTemperError(thrown)) return inconclusive(thrown.message);
  if (thrown instanceof AnswerTooLong) return inconclusive('The gate answered more than can be read.');
  const { name, code } = thrown as NodeJS.ErrnoException;
  const late = name === 'TimeoutError' || name === 'AbortError';
  return inconclusive(late ? 'The gate did not answer in time.' : `The gate could not be asked (${code ?? name}).`);
};

export const createGates = (deps: GateDeps): Gates => {
  const ask: Gates['ask'] = async (gate, facts) => {
    try {
      return await ('webhook' in gate ? askOfWebhook(deps, gate.webhook, facts) : askOfMetrics(deps, gate.metric));
    } catch (thrown) {
      return silence(thrown);
    }
  };
  return { ask, guard: ask };
};
