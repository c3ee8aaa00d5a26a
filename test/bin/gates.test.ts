/** Gates of rollouts: what an answer means, how they are asked, and that nothing but a clear pass lets a rollout go on. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createVault } from '../../src/inventory/secrets/vault';
import { createGates, metricAnswer, webhookAnswer } from '../../src/rollouts/gates';

const vault = createVault(new Map([['k1', randomBytes(32)]]));
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test.each([
  [200, '{"answer": "pass"}', 'pass'],
  [200, '{"answer": "fail", "reason": "five alarms"}', 'fail'],
  [200, '{"answer": "inconclusive"}', 'inconclusive'],
  [200, '{"retry_after": 30}', 'later'],
  [200, '{"retry_after": 86400}', 'inconclusive'],
  [200, '{"answer": "yes"}', 'inconclusive'],
  [200, 'pass', 'inconclusive'],
  [200, '', 'inconclusive'],
  [204, '', 'inconclusive'],
  [302, '{"answer": "pass"}', 'inconclusive'],
  [500, '{"answer": "pass"}', 'inconclusive'],
])('a webhook that answers %p %p: %s', (status, text, is) => {
  expect(webhookAnswer(status, text).is).toBe(is);
});

test('what the store does not take is replaced in the reason of a webhook', () => {
  expect(webhookAnswer(200, String.raw`{"answer": "fail", "reason": "a\u0000b\ud800"}`)).toEqual({
    is: 'fail',
    note: 'a\ufffdb\ufffd',
  });
});

const vector = (...values: string[]) => ({ resultType: 'vector', result: values.map((one) => ({ value: [1, one] })) });
const reply = (data: object, status = 'success') => JSON.stringify({ status, data });
test.each([
  [{ at_most: 0.01 }, 200, reply(vector('0.01')), 'pass'],
  [{ at_most: 0.01 }, 200, reply(vector('0.02')), 'fail'],
  [{ at_least: 1, at_most: 2 }, 200, reply({ resultType: 'scalar', result: [1, '0'] }), 'fail'],
  [{ at_least: 1 }, 200, reply(vector('+Inf')), 'inconclusive'],
  [{ at_most: 1 }, 200, reply(vector('NaN')), 'inconclusive'],
  [{ at_most: 1 }, 200, reply(vector('')), 'inconclusive'],
  [{ at_most: 1 }, 200, reply(vector()), 'inconclusive'],
  [{ at_most: 1 }, 200, reply(vector('0', '0')), 'inconclusive'],
  [{ at_most: 1 }, 200, reply(vector('0'), 'error'), 'inconclusive'],
  [{ at_most: 1 }, 503, reply(vector('0')), 'inconclusive'],
  [{ at_most: 1 }, 200, 'null', 'inconclusive'],
])('metrics within %p that answer %p %p: %s', (bounds, status, text, is) => {
  expect(metricAnswer({ query: 'q', ...bounds }, status, text).is).toBe(is);
});

const gateSecret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

/** An endpoint on loopback until the test's end, with the sealed secret of a webhook that asks it. */
const serving = async (listener: RequestListener) => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const secret = vault.seal(gateSecret);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: secret! };
};

type Served = { readonly status?: number; readonly text: string } | 'hang up' | 'hang';

const served = async (answer: Served) => {
  const asked: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const { url, secret } = await serving(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    asked.push({ request, body });
    if (answer === 'hang') return;
    if (answer === 'hang up') return void request.socket.destroy();
    response.writeHead(answer.status ?? 200, { location: 'http://127.0.0.1:1/' }).end(answer.text);
  });
  const target = async (uuid: string) => (uuid === 'known' ? { url: `${url}/gate`, secret } : undefined);
  const gates = (more: object = {}) =>
    createGates({
      inventory: { webhooks: { target } } as never,
      origins: [url],
      vault,
      metricsUrl: url,
      ...more,
    });
  return { asked, gates, url };
};

test('a webhook that sends its answer byte by byte has no more time than one that sends none', async () => {
  const { url, secret } = await serving((_, response) => {
    response.writeHead(200, { 'content-length': '1000000' });
    const drip = setInterval(() => response.write(' '), 10);
    response.once('close', () => clearInterval(drip));
  });
  const webhooks = { target: async () => ({ url, secret }) };
  const gates = createGates({ inventory: { webhooks } as never, origins: [url], vault, timeoutMs: 200 });
  expect(await gates.ask({ webhook: 'known' }, { rollout: 'r1' })).toMatchObject({ is: 'inconclusive' });
});
const facts = { rollout: 'r1', wave: 1, states: { done: 2 } };
const webhook = { webhook: 'known' };

test('a webhook is asked with the wave’s summary, signed, and its answer counts', async () => {
  const { asked, gates } = await served({ text: '{"answer": "fail", "reason": "five alarms"}' });
  expect(await gates().ask(webhook, facts)).toEqual({ is: 'fail', note: 'five alarms' });
  const [{ request, body }] = asked as [(typeof asked)[number]];
  const sent = new Webhook(gateSecret).verify(body, request.headers as Record<string, string>);
  expect(sent).toMatchObject({ type: 'gate', subject: 'r1', id: request.headers['webhook-id'], data: facts });
});

test.each<[string, Served, object]>([
  ['hangs up', 'hang up', {}],
  ['does not answer in time', 'hang', { timeoutMs: 100 }],
  ['answers without end', { text: `{"answer": "pass", "reason": "${'x'.repeat(20_000)}"}` }, {}],
  ['redirects', { status: 302, text: '{"answer": "pass"}' }, {}],
  ['is at no allowed origin', { text: '{"answer": "pass"}' }, { origins: [] }],
  ['has a secret that nothing opens', { text: '{"answer": "pass"}' }, { vault: undefined }],
])('a webhook that %s is inconclusive', async (_, answer, more) => {
  const { gates } = await served(answer);
  expect(await gates(more).ask(webhook, facts)).toMatchObject({ is: 'inconclusive' });
});

test.each([
  ['a webhook', webhook],
  ['metrics', { metric: { query: 'sum(alarms)', at_most: 2 } }],
])('%s that answer more than can be read are inconclusive, and it is said why', async (_, gate) => {
  const { gates } = await served({ text: `${reply(vector('0'))}${' '.repeat(70_000)}` });
  const note = 'The gate answered more than can be read.';
  expect(await gates().ask(gate, facts)).toEqual({ is: 'inconclusive', note });
});

test('a webhook that is disabled or gone is inconclusive', async () => {
  const { asked, gates } = await served({ text: '{"answer": "pass"}' });
  expect(await gates().ask({ webhook: 'gone' }, facts)).toMatchObject({ is: 'inconclusive' });
  expect(asked).toEqual([]);
});

test('metrics are asked by an instant query, and without an address there is no answer', async () => {
  const { asked, gates } = await served({ text: reply(vector('3')) });
  const metric = { metric: { query: 'sum(alarms{rack="r 1"})', at_most: 2 } };
  expect(await gates().ask(metric, facts)).toEqual({ is: 'fail', note: 'The value is 3.' });
  expect(new URL(asked[0]!.request.url!, 'http://x').searchParams.get('query')).toBe(metric.metric.query);
  expect(await gates({ metricsUrl: undefined }).ask(metric, facts)).toMatchObject({ is: 'inconclusive' });
});

test('a guard is asked each time: what it has passed is believed no longer than the rollout keeps it', async () => {
  const passing = await served({ text: '{"answer": "pass"}' });
  const one = passing.gates();
  await one.guard(webhook, facts);
  await one.guard(webhook, facts);
  expect(passing.asked).toHaveLength(2);
});
