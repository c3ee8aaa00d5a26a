/** Starts power sync in a BMC worker. */
import { createImpose } from '../../activities/power-impose';
import { type PowerSyncDeps, runPowerSync } from '../../activities/power-sync';
import type { Sealer } from '../../inventory/secrets/sealing';
import { drivers } from '../../model/lifecycle/drivers';
import type { Metrics } from '../../observe/metrics';
import type { Life } from '../process';
import type { BmcConfig } from '../settings/config';
import { timingOf } from '../settings/timing';

type Deps = PowerSyncDeps & { readonly metrics: Metrics };

/** Returns at once; ends with the process. */
export const startPowerSync = (
  config: BmcConfig,
  { metrics, ...deps }: Deps,
  vault: Sealer,
  life: Pick<Life, 'signal' | 'onEnd'>,
): void => {
  const { inventory } = deps;
  const behind = metrics.looksBehind.labels(config.TEMPER_CONDUCTOR_GROUP);
  const impose =
    config.TEMPER_FORCE_POWER_STATE &&
    createImpose({ inventory, vault, timing: timingOf(config), queuePrefix: config.TEMPER_QUEUE_PREFIX });
  const syncing = runPowerSync(
    { ...deps, ...(impose && { impose }) },
    {
      signal: life.signal,
      conductor_group: config.TEMPER_CONDUCTOR_GROUP,
      drivers: Object.keys(drivers),
      everyMs: config.TEMPER_POWER_SYNC_SECONDS * 1_000,
      workers: config.TEMPER_POWER_SYNC_WORKERS,
      maxFailures: config.TEMPER_POWER_SYNC_MAX_FAILURES,
      walked: (behindMs) => behind.set(behindMs / 1_000),
    },
  );
  life.onEnd(() => syncing);
};
