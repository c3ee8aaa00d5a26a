/** The engine's own metrics: served where the setting says, under the names that the dashboard asks for. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { engineTelemetry } from '../../src/process/observing';
import { temporalAddress, temporalNamespace, workflowBundle } from '../support/servers';

/** A port that was free a moment ago: the engine does not tell which one it was given. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

test('are served, and hold what the dashboard asks for', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  Runtime.install({ logger: new DefaultLogger('ERROR'), ...engineTelemetry(address) });
  const taskQueue = `metrics-${randomUUID()}`;
  const native = await NativeConnection.connect({ address: temporalAddress() });
  const connection = await Connection.connect({ address: temporalAddress() });
  const client = new Client({ connection, namespace: temporalNamespace });
  const worker = await Worker.create({
    connection: native,
    namespace: temporalNamespace,
    taskQueue,
    workflowBundle: { codePath: workflowBundle() },
    activities: { reconcile: async () => ({ started: 0, ended: 0 }) },
  });
  await worker.runUntil(client.workflow.execute('reconcile', { taskQueue, workflowId: randomUUID() }));
  const text = await (await fetch(`http://${address}/metrics`)).text();
  await connection.close();
  await native.close();
  const dashboard = readFileSync(join(__dirname, '../../deploy/grafana/temper.json'), 'utf8');
  const asked = [...new Set(dashboard.match(/temporal_\w+/g))];
  expect(asked.length).toBeGreaterThan(2);
  expect(asked.filter((name) => !text.includes(`${name}{`))).toEqual([]);
});

test('are not collected where the setting is missing', () => {
  expect(engineTelemetry(undefined)).toEqual({});
});
