/** Sends Ironic's notifications to RabbitMQ. Of several such processes one sends, and another takes over when it ends. */
import { hostname } from 'node:os';
import { createInventory } from '../inventory';
import { connect } from '../inventory/database';
import { type BrokerSettings, connectBroker, runNotifications } from '../notifications';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { live } from '../process/process';
import { schemaCheck } from '../process/schema';
import type { NotificationsConfig } from '../process/settings/config';
import { settingFile } from '../process/settings/files';
import { readConfig } from '../process/settings/read';

const ownConfig = readConfig('notifications');
const ownLog = createLog('notifications', ownConfig.TEMPER_LOG_LEVEL);
const ownMetrics = createMetrics('notifications');

const brokerFrom = (settings: NotificationsConfig): BrokerSettings => {
  const { TEMPER_NOTIFICATIONS_CA_FILE: file } = settings;
  return {
    urls: settings.TEMPER_NOTIFICATIONS_URL,
    ...(file !== undefined && { ca: [settingFile('TEMPER_NOTIFICATIONS_CA_FILE', file)] }),
    exchange: settings.TEMPER_NOTIFICATIONS_EXCHANGE,
    topics: settings.TEMPER_NOTIFICATIONS_TOPICS,
    durable: settings.TEMPER_NOTIFICATIONS_DURABLE_QUEUES,
  };
};

/** One holds the lock of the one that sends for as long as it sends; with no other, the process would wait for ever. */
const fewestConnections = 2;

live('notifications', ownConfig, { log: ownLog, metrics: ownMetrics }, async (life) => {
  const broker = brokerFrom(ownConfig);
  const inventory = createInventory(
    connect(ownConfig.TEMPER_DATABASE_URL, {
      max: Math.max(fewestConnections, ownConfig.TEMPER_DATABASE_POOL),
      name: 'temper-notifications',
    }),
  );
  life.onEnd(() => inventory.close());
  const requireSchema = schemaCheck(inventory);
  const sending = runNotifications(
    {
      inventory,
      connect: () => connectBroker(broker),
      log: ownLog,
      host: ownConfig.TEMPER_NOTIFICATIONS_HOST ?? hostname(),
      level: ownConfig.TEMPER_NOTIFICATIONS_LEVEL,
      onSent: (outcome, count) => ownMetrics.notifications.inc({ outcome }, count),
      onBehind: (seconds) => ownMetrics.notificationsBehind.set(seconds),
    },
    { signal: life.signal },
  );
  life.onEnd(() => sending);
  // A broker that is away is no reason to restart: its time is in the metrics.
  life.ready(async () => {
    await inventory.ping();
    await requireSchema();
  });
});
