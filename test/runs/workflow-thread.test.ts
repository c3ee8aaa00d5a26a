/** A worker with workflows in our thread, against a real Temporal. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { temporalAddress, temporalNamespace } from '../support/servers';

Runtime.install({ logger: new DefaultLogger('ERROR') });

// The built file: Node starts the thread from it.
const { WorkflowWorker } =
  require('../../dist/process/temporal/workflow-worker') as typeof import('../../src/process/temporal/workflow-worker');

test('it answers a query for stack traces with an error in words', async () => {
  const taskQueue = `thread-${randomUUID()}`;
  const native = await NativeConnection.connect({ address: temporalAddress() });
  const connection = await Connection.connect({ address: temporalAddress() });
  const client = new Client({ connection, namespace: temporalNamespace });
  const worker = await WorkflowWorker.create({
    connection: native,
    namespace: temporalNamespace,
    taskQueue,
    workflowsPath: join(__dirname, '../replay/thread-example.ts'),
  });
  await worker.runUntil(async () => {
    const waiting = await client.workflow.start('waits', { taskQueue, workflowId: randomUUID() });
    await expect(waiting.query('__stack_trace')).rejects.toThrow(
      'Workflow stack traces are not enabled on this worker',
    );
    await waiting.terminate();
  });
  await connection.close();
  await native.close();
});
