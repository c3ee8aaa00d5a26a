/** The least a five-step run could be: claim, five heartbeating steps on another queue, finish; nothing in any of them. */
import { proxyActivities } from '@temporalio/workflow';
import type { NoopActivities } from './activities';
import { stepQueue, steps } from './contract';

// The options of src/workflows/profiles.ts: what differs shall be what is done, not how it is asked for.
const onStore = { startToCloseTimeout: '10s', retry: { initialInterval: '200ms', maximumInterval: '30s' } } as const;
const onBmc = {
  taskQueue: stepQueue,
  startToCloseTimeout: '15m',
  scheduleToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '2s', maximumInterval: '1m' },
} as const;

const control = proxyActivities<Pick<NoopActivities, 'claim' | 'finish'>>(onStore);
const bmc = proxyActivities<Pick<NoopActivities, 'step'>>(onBmc);

export async function noop(): Promise<void> {
  await control.claim();
  for (let index = 0; index < steps; index++) await bmc.step(index);
  await control.finish();
}
