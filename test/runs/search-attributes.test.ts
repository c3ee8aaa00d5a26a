/** `migrate` and a namespace of Temporal that was made a moment ago, or never. */
import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { registerSearchAttributes } from '../../src/process/temporal/search-attributes';
import { attributes } from '../../src/workflows/contract';
import { temporalAddress } from '../support/servers';

const namespace = `made-${randomBytes(4).toString('hex')}`;
const settings = (name: string) => ({
  TEMPER_TEMPORAL_ADDRESS: temporalAddress(),
  TEMPER_TEMPORAL_NAMESPACE: name,
  TEMPER_TEMPORAL_TLS: false,
});
const names = Object.values(attributes).map(({ name }) => name);

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: temporalAddress() });
});
afterAll(async () => {
  await connection.operatorService.deleteNamespace({ namespace }).catch(() => undefined);
  await connection.close();
});

test('a namespace that the frontend was asked for before it was made gets its search attributes', async () => {
  const asked = connection.operatorService.listSearchAttributes({ namespace });
  await expect(asked).rejects.toMatchObject({ code: 5 });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  expect(await registerSearchAttributes(settings(namespace))).toEqual(names);
  expect(await registerSearchAttributes(settings(namespace))).toEqual([]);
});

test('a namespace that does not exist is named, with the command that makes it', async () => {
  await expect(registerSearchAttributes(settings('nobody-made-it'))).rejects.toThrow(
    'Temporal has no namespace nobody-made-it: make it with' +
      ' `temporal operator namespace create --namespace nobody-made-it --retention 30d`, and repeat this command.',
  );
});
