/** Starts event consumers: metrics, webhooks and power notices. */
import { readerOf, visibleEvent } from '../../admission/events';
import type { Inventory } from '../../inventory';
import { createVault } from '../../inventory/secrets/vault';
import { runLevels } from '../../observe/levels';
import type { Logger } from '../../observe/log';
import type { Metrics } from '../../observe/metrics';
import { eventCounter, noticeCounter } from '../../observe/runs';
import type { Policy } from '../../policy';
import { runPowerNotices } from '../../runs/power-notices';
import { type ProjectRights, runWebhookDelivery } from '../../runs/webhooks';
import type { Life } from '../process';
import type { ControlConfig } from '../settings/config';
import { ConfigFault } from '../settings/fault';
import { type ComputeSettings, computeFrom } from './openstack';

type EventDeliverySettings = Pick<ControlConfig, 'TEMPER_WEBHOOK_ORIGINS' | 'TEMPER_WEBHOOK_KEYS'>;

/** @throws ConfigFault if webhooks are allowed without keys */
export const webhookVaultFrom = ({ TEMPER_WEBHOOK_ORIGINS, TEMPER_WEBHOOK_KEYS }: EventDeliverySettings) => {
  if (TEMPER_WEBHOOK_ORIGINS.length > 0 && !TEMPER_WEBHOOK_KEYS)
    throw new ConfigFault([
      'TEMPER_WEBHOOK_KEYS: is not set, and TEMPER_WEBHOOK_ORIGINS allows webhooks; set both or neither.',
    ]);
  return TEMPER_WEBHOOK_KEYS && createVault(TEMPER_WEBHOOK_KEYS);
};

/** A policy that no API process has loaded decides nothing. */
const rightsBy = (policy: () => Policy, { policyLoads }: Pick<Inventory, 'policyLoads'>): ProjectRights => ({
  ready: () => policyLoads.known(policy().hash),
  view: (project, event) => visibleEvent(policy(), readerOf(project), event),
});

/** Runs until the process ends. */
export const startWebhookDelivery = (
  config: EventDeliverySettings & Pick<ControlConfig, 'TEMPER_WEBHOOK_LOG_DAYS'> & ComputeSettings,
  { inventory, log, metrics, policy }: { inventory: Inventory; log: Logger; metrics: Metrics; policy: () => Policy },
  life: Life,
): void => {
  const compute = computeFrom(config);
  const deps = {
    inventory,
    log,
    origins: config.TEMPER_WEBHOOK_ORIGINS,
    logDays: config.TEMPER_WEBHOOK_LOG_DAYS,
    vault: webhookVaultFrom(config),
    projects: rightsBy(policy, inventory),
    onEvent: eventCounter(metrics),
    notifiesPower: compute !== undefined,
    onDelivery: (outcome: string, ms: number) => metrics.deliveries.observe({ outcome }, ms / 1_000),
  };
  const delivery = runWebhookDelivery(deps, { signal: life.signal });
  const notices =
    compute &&
    runPowerNotices(
      { inventory, compute: compute.ask, log, onNotice: noticeCounter(metrics) },
      { signal: life.signal },
    );
  const levels = runLevels(inventory.levels, metrics, { log, signal: life.signal });
  life.onEnd(async () => {
    await Promise.all([delivery, levels, notices]);
    await compute?.close();
  });
};
