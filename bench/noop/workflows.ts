/** The least that a run could be: as many activities on the same kinds of queues, one after the other; nothing in any of them. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { NoopActivities } from './activities';
import { type Kind, stepQueue } from './contract';

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

const local = proxyLocalActivities<Pick<NoopActivities, 'store'>>({ ...onStore, localRetryThreshold: '5s' });
const control = proxyActivities<Pick<NoopActivities, 'store'>>(onStore);
const bmc = proxyActivities<Pick<NoopActivities, 'step'>>(onBmc);

export async function noop(kinds: readonly Kind[]): Promise<void> {
  for (const [index, kind] of kinds.entries())
    await { local: () => local.store(), control: () => control.store(), step: () => bmc.step(index) }[kind]();
}
