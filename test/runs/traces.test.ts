/** One trace from a request, through the engine, to the call that an act makes; and nothing of it where traces are off. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-node';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { request } from 'undici';
import { createMetrics } from '../../src/observe/metrics';
import { startTraces, type Traces } from '../../src/observe/traces';
import { activityInterceptors, clientInterceptors, tracesFrom } from '../../src/process/observing';
import { temporalAddress, temporalNamespace, workflowBundle } from '../support/servers';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const exporter = new InMemorySpanExporter();
let traces: Traces;
let bmc: Server;
let api: Server;
let end: () => Promise<void>;
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listening = async (server: Server): Promise<Server> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

beforeAll(async () => {
  traces = await startTraces({ process_name: 'test', exporter });
  bmc = await listening(createServer((_, response) => void response.writeHead(404).end('{}')));
  const connection = await Connection.connect({ address: temporalAddress() });
  const client = new Client({
    connection,
    namespace: temporalNamespace,
    interceptors: await clientInterceptors(traces),
  });
  const native = await NativeConnection.connect({ address: temporalAddress() });
  const taskQueue = `traces-${randomUUID()}`;
  const look = async () => {
    await (await request(`${urlOf(bmc)}/redfish/v1/SessionService/Sessions/key-42?x=1`)).body.text();
    return { started: 0, ended: 0 };
  };
  const worker = await Worker.create({
    connection: native,
    namespace: temporalNamespace,
    taskQueue,
    workflowBundle: { codePath: workflowBundle() },
    activities: { reconcile: look },
    interceptors: { activity: await activityInterceptors(createMetrics('test'), traces) },
  });
  const running = worker.run();
  const story = () => client.workflow.execute('reconcile', { taskQueue, workflowId: randomUUID() });
  api = await listening(
    createServer((asked, response) =>
      traces.serve(
        asked,
        response,
        () => '/v1/things/:thing',
        () => void story().then(() => response.end()),
      ),
    ),
  );
  end = async () => {
    worker.shutdown();
    await running;
    await connection.close();
    await native.close();
  };
});
afterAll(async () => {
  for (const server of [bmc, api]) server?.close();
  await end?.();
  await traces?.close();
});

test('a request, the start of its run, the act and the BMC call are one trace, each below the one before', async () => {
  const caller = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${caller}-00f067aa0ba902b7-01` };
  await (await request(`${urlOf(api)}/v1/things/secret-name?token=geheim`, { headers })).body.text();
  const spans = () => exporter.getFinishedSpans();
  while (!spans().some(({ name }) => name.startsWith('GET /v1'))) await new Promise((resolve) => setImmediate(resolve));
  const chain = ['GET /v1/things/:thing', 'StartWorkflow:reconcile', 'RunActivity:reconcile'].map(
    (name) => spans().find((span) => span.name === name)!,
  );
  const call = spans().find(({ name }) => name.startsWith('GET /redfish'))!;
  const ids = [...chain, call].map((span) => span.spanContext().spanId);
  expect([...chain, call].map((span) => span.spanContext().traceId)).toEqual(Array(4).fill(caller));
  expect([...chain, call].map((span) => span.parentSpanContext?.spanId)).toEqual([
    '00f067aa0ba902b7',
    ...ids.slice(0, 3),
  ]);
  expect(call.attributes).toMatchObject({ 'http.response.status_code': 404, 'server.address': urlOf(bmc) });
});

test('traces hold neither what a caller named, nor queries, nor sessions of BMCs', () => {
  const told = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events })),
  );
  expect(told).not.toMatch(/secret-name|geheim|key-42|x=1/);
});

test('without the setting there are no traces, and nothing of the client is intercepted', async () => {
  const life = { signal: new AbortController().signal, onEnd() {}, ready() {} };
  expect(await tracesFrom('test', {}, life)).toBeUndefined();
  expect(await clientInterceptors(undefined)).toBeUndefined();
});
