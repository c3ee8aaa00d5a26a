/** Rollout dependencies of a control worker: the API's rules and checks, from the same settings. */
import type { Client } from '@temporalio/client';
import type { Inventory } from '../../inventory';
import { createSealer } from '../../inventory/secrets/sealing';
import type { Glance } from '../../model/boot/glance-images';
import type { RolloutUuid } from '../../model/ids';
import type { Logger } from '../../observe/log';
import type { Policy } from '../../policy';
import type { RolloutDeps } from '../../rollouts/contract';
import { createGates } from '../../rollouts/gates';
import { createPrepareFor } from '../../rollouts/prepare';
import { runWaking } from '../../rollouts/waking';
import { createRuns } from '../../runs';
import { createEngine } from '../../runs/engine';
import type { Life } from '../process';
import { orderSettings } from '../settings/api-settings';
import type { ControlConfig } from '../settings/config';
import { timingOf } from '../settings/timing';
import { webhookVaultFrom } from './event-delivery';
import { grantsFrom, roleLookupFrom, votersFrom } from './grants';

type Dependencies = {
  readonly inventory: Inventory;
  readonly client: Client;
  readonly log: Logger;
  /** From the worker's own files. */
  readonly policy: () => Policy;
  /** Absent if no image comes from Glance. */
  readonly glance?: Glance | undefined;
};

/**
 * Wakes rollouts. Undefined without keys to seal with. A rule set that no API process has recorded starts nothing.
 */
export const rolloutsFrom = (config: ControlConfig, deps: Dependencies, life: Life): RolloutDeps | undefined => {
  const { inventory, client, log, glance, policy } = deps;
  const { TEMPER_QUEUE_PREFIX: queuePrefix, TEMPER_SECRETS_PUBLIC_KEYS: publicKeys } = config;
  const engine = createEngine(client);
  const waking = { inventory, log, wake: (rollout: RolloutUuid) => engine.wake(rollout, queuePrefix) };
  void runWaking({ ...waking, planHours: config.TEMPER_ROLLOUT_PLAN_HOURS }, life.signal);
  if (publicKeys === undefined) return undefined;
  const lookup = roleLookupFrom(config);
  life.onEnd(async () => lookup?.close());
  const vault = createSealer(publicKeys);
  const { TEMPER_QUOTA_RUNS: quota } = config;
  return {
    inventory,
    runs: createRuns({ inventory, vault, client, timing: timingOf(config), log, queuePrefix, quota }),
    prepareFor: createPrepareFor({
      policy,
      inventory,
      settings: orderSettings(config),
      ...(glance && { glance }),
    }),
    gates: createGates({
      inventory,
      origins: config.TEMPER_WEBHOOK_ORIGINS,
      vault: webhookVaultFrom(config),
      metricsUrl: config.TEMPER_GATE_METRICS_URL,
    }),
    authority: grantsFrom(config, lookup),
    policy,
    voters: votersFrom(config, lookup),
    unready: async () =>
      (await inventory.policyLoads.known(policy().hash))
        ? undefined
        : 'the policy of this worker is none that an API process has loaded; give it the same TEMPER_POLICY_ settings and files',
    log,
  };
};
