/** The server of /healthz, /readyz and /metrics answers also if what it asks fails. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Gauge } from 'prom-client';
import { createMetrics } from '../../src/observe/metrics';
import { healthServer } from '../../src/process/process';

test('a scrape gets 500 and the reason if the metrics cannot be read', async () => {
  const metrics = createMetrics('api');
  const collect = () => {
    throw new Error('it cannot be counted');
  };
  new Gauge({ name: 'broken', help: 'A gauge that cannot be read', registers: [metrics.registry], collect });
  const server = healthServer(() => null, metrics).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(3_000) });
    expect([answer.status, await answer.json()]).toEqual([500, { reason: 'it cannot be counted' }]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
