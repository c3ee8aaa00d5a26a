/** One run seen from every side in a whole system: its stream across a killed API, webhook, history, metrics and trace. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { parse } from 'yaml';
import { ask, rests, until } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import { manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string };
type Delivered = { headers: Record<string, string>; body: string };
type Told = { id: number; kind: string };

const spans: Span[] = [];
const delivered: Delivered[] = [];
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
let outside: Server;
let system: System;
let operator: Person;

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** A collector of traces and a receiver of webhooks in one. */
const listenOutside = async (): Promise<string> => {
  outside = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (request.url === '/v1/traces')
      for (const { scopeSpans } of JSON.parse(body).resourceSpans)
        spans.push(...scopeSpans.flatMap((one: Json) => one.spans));
    else delivered.push({ headers: request.headers as Record<string, string>, body });
    response.end('{}');
  });
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  return `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
};

/** A token of the operator's, for requests whose answers go on. */
const token = async (): Promise<string> => {
  const { clouds } = parse(readFileSync(system.record().addresses.clouds, 'utf8'));
  const { auth_url, username, password, user_domain_id } = clouds.operator.auth;
  const user = { name: username, domain: { id: user_domain_id }, password };
  const reply = await fetch(`${auth_url}/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: { identity: { methods: ['password'], password: { user } }, scope: { system: { all: true } } },
    }),
  });
  return reply.headers.get('x-subject-token')!;
};

/** Reads a run's stream to its end, taking it up again wherever it breaks; reports each event. */
const follow = async (run: string, tell: (told: readonly Told[]) => void): Promise<Told[]> => {
  const all: Told[] = [];
  const key = await token();
  const url = `${system.record().addresses.api}/temper/v1/runs/${run}/events`;
  const once = async (): Promise<true | undefined> => {
    const last = all.at(-1);
    const headers = { 'x-auth-token': key, ...(last && { 'last-event-id': String(last.id) }) };
    const reply = await fetch(url, { headers }).catch(() => undefined);
    if (reply?.status === 204) return true;
    if (reply?.status !== 200) return undefined;
    let text = '';
    const decoder = new TextDecoder();
    // A killed API breaks the stream; the next request says from where on.
    await (async () => {
      for await (const piece of reply.body!) {
        text += decoder.decode(piece, { stream: true });
        const whole = text.split('\n\n');
        text = whole.pop()!;
        for (const [, id, kind] of whole.flatMap((one) => [...one.matchAll(/^id: (\d+)\nevent: (.*)$/gm)]))
          all.push({ id: Number(id), kind: kind! });
        tell(all);
      }
    })().catch(() => undefined);
    return undefined;
  };
  await until('the end of the stream', withinMs, once);
  return all;
};

const metricsOf = async (name: string): Promise<string> => {
  const log = readFileSync(join(system.logs, `${name}.log`), 'utf8');
  const port = [...log.matchAll(/"port":(\d+),"message":"health"/g)].at(-1)![1];
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
};

beforeAll(async () => {
  const url = await listenOutside();
  system = await startSystem(1, {
    TEMPER_OTLP_ENDPOINT: url,
    TEMPER_WEBHOOK_ORIGINS: url,
    TEMPER_WEBHOOK_KEYS: `w1:${Buffer.alloc(32, 3).toString('base64')}`,
  });
  operator = patient(await system.person('operator'));
  await operator.must('POST', '/temper/v1/webhooks', { url: `${url}/hook`, kinds: ['run.*'], secret });
  await manageable(system, operator, 0);
});
afterAll(async () => {
  await system?.stop();
  outside?.closeAllConnections();
  outside?.close();
});

test('the stream of a run loses and repeats nothing when the API is killed while it is read', async () => {
  await ask(operator, 'bmc-0', 'adopt');
  await rests(operator, 'bmc-0', 'active', withinMs);
  await ask(operator, 'bmc-0', 'service', {
    service_steps: [{ interface: 'power', step: 'reboot' }],
  });
  const run = await newestOf(operator, 'bmc-0');
  let killed = 0;
  const told = await follow(run, (all) => {
    if (killed === 0 && all.length >= 3) killed = system.kill('api');
  });
  expect(killed).toBeGreaterThan(0);
  expect(told[0]!.kind).toBe('run.accepted');
  expect(told.at(-1)!.kind).toBe('run.succeeded');
  expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
  const again = await follow(run, () => {});
  expect(again).toEqual(told);
});

test('a webhook was sent how runs began and ended, signed', async () => {
  const ends = () => delivered.filter(({ body }) => JSON.parse(body).type === 'run.succeeded');
  await until('the deliveries', withinMs, async () => (ends().length >= 3 ? true : undefined));
  for (const { headers, body } of delivered) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
  const { webhooks } = await operator.must('GET', '/temper/v1/webhooks');
  const { deliveries } = await operator.must('GET', `/temper/v1/webhooks/${webhooks[0].uuid}/deliveries`);
  expect(new Set(deliveries.map(({ state }: Json) => state))).toEqual(new Set(['delivered']));
});

test('history says the same in the wire’s own words', async () => {
  const { history } = await operator.must('GET', '/v1/nodes/bmc-0/history?detail=true');
  const states = history.map(({ state }: Json) => state);
  expect(states).toEqual(expect.arrayContaining(['manageable', 'active']));
  expect(history.map(({ severity }: Json) => severity)).not.toContain('ERROR');
});

test('every process reports its part in metrics', async () => {
  await operator.must('GET', '/v1/nodes/bmc-0');
  // Power sync takes the lane for a moment every now and then.
  const bmc = await until('the lane to be free', withinMs, async () => {
    const text = await metricsOf('worker-bmc-default');
    return /temper_lanes\{state="held".*\} 0/.test(text) ? text : undefined;
  });
  const [api, control] = await Promise.all(['api', 'worker-control'].map(metricsOf));
  expect(api).toMatch(/temper_api_request_seconds_count\{.*route="\/v1\/nodes\/:\w+".*\} \d/);
  expect(api).toMatch(/temper_policy_decision_seconds_count\{.*outcome="allowed".*\} \d/);
  expect(control).toMatch(/temper_run_seconds_count\{.*verb="service".*outcome="succeeded".*\} 1/);
  expect(control).toMatch(/temper_webhook_delivery_seconds_count\{.*outcome="delivered".*\} \d/);
  expect(bmc).toMatch(/temper_act_seconds_count\{.*driver="redfish",.*code="ok".*\} \d/);
  expect(bmc).toMatch(/temper_bmc_request_seconds_count\{.*driver="redfish",.*status="2xx".*\} \d/);
  for (const text of [api, control, bmc]) expect(text).not.toContain('bmc-0');
});

test('a request and the BMC calls that it led to are one trace', async () => {
  const chainOf = (span: Span): string[] => {
    const above = spans.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);
    return above ? [...chainOf(above), span.name] : [span.name];
  };
  // What the killed API had not sent yet is lost with it.
  await ask(operator, 'bmc-0', 'service', { service_steps: [{ interface: 'power', step: 'reboot' }] });
  await rests(operator, 'bmc-0', 'active', withinMs);
  const whole = await until('a trace from the request to the BMC', withinMs, async () =>
    spans
      .filter(({ name }) => /^POST .*ComputerSystem\.Reset$/.test(name))
      .map(chainOf)
      .find(([first]) => first?.startsWith('PUT ')),
  );
  expect(whole).toEqual([
    expect.stringMatching(/^PUT \/v1\/nodes\/:\w+\/states\/provision$/),
    expect.stringMatching(/^StartWorkflow:/),
    expect.stringMatching(/^RunActivity:/),
    expect.stringMatching(/^POST .*ComputerSystem\.Reset$/),
  ]);
});
