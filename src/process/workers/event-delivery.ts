/** Starts event consumers: metrics and webhooks. */
import type { Inventory } from '../../inventory';
import { createVault } from '../../inventory/secrets/vault';
import { runLevels } from '../../observe/levels';
import type { Logger } from '../../observe/log';
import type { Metrics } from '../../observe/metrics';
import { eventCounter } from '../../observe/runs';
import { runWebhookDelivery } from '../../runs/webhooks';
import type { Life } from '../process';
import type { ControlConfig } from '../settings/config';
import { ConfigFault } from '../settings/fault';

type EventDeliverySettings = Pick<ControlConfig, 'TEMPER_WEBHOOK_ORIGINS' | 'TEMPER_WEBHOOK_KEYS'>;

/** @throws ConfigFault if webhooks are allowed without keys */
export const webhookVaultFrom = ({ TEMPER_WEBHOOK_ORIGINS, TEMPER_WEBHOOK_KEYS }: EventDeliverySettings) => {
  if (TEMPER_WEBHOOK_ORIGINS.length > 0 && !TEMPER_WEBHOOK_KEYS)
    throw new ConfigFault([
      'TEMPER_WEBHOOK_KEYS: is not set, and TEMPER_WEBHOOK_ORIGINS allows webhooks; set both or neither.',
    ]);
  return TEMPER_WEBHOOK_KEYS && createVault(TEMPER_WEBHOOK_KEYS);
};

/** Runs until the process ends. */
export const startWebhookDelivery = (
  config: EventDeliverySettings & Pick<ControlConfig, 'TEMPER_WEBHOOK_LOG_DAYS'>,
  { inventory, log, metrics }: { inventory: Inventory; log: Logger; metrics: Metrics },
  life: Life,
): void => {
  const deps = {
    inventory,
    log,
    origins: config.TEMPER_WEBHOOK_ORIGINS,
    logDays: config.TEMPER_WEBHOOK_LOG_DAYS,
    vault: webhookVaultFrom(config),
    onEvent: eventCounter(metrics),
    onDelivery: (outcome: string, ms: number) => metrics.deliveries.observe({ outcome }, ms / 1_000),
  };
  const delivery = runWebhookDelivery(deps, { signal: life.signal });
  const levels = runLevels(inventory.levels, metrics, { log, signal: life.signal });
  life.onEnd(() => Promise.all([delivery, levels]).then(() => {}));
};
