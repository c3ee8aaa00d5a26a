/** The console: a web UI with the rights of the signed-in user, without PostgreSQL and Temporal. */
import type { AddressInfo } from 'node:net';
import { consoleListener } from '../console';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { consoleSettings } from '../process/console';
import { guardedServer, timeoutsWith } from '../process/guarded-server';
import { counted, gentleEnd, listen } from '../process/listen';
import { live } from '../process/process';
import { readConfig } from '../process/settings/read';

const config = readConfig('console');
const log = createLog('console', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('console');

live('console', config, { log, metrics }, async (life) => {
  const settings = consoleSettings(config);
  const listener = consoleListener(settings, (error) => log.error('page failed', { error }));
  const timeouts = timeoutsWith(config, config.TEMPER_REQUEST_TIMEOUT_MS);
  const server = guardedServer(timeouts, counted(metrics, 'console', listener));
  life.onEnd(gentleEnd(server, 1_000));
  const at = { host: config.TEMPER_CONSOLE_HOST, port: config.TEMPER_CONSOLE_PORT };
  const names = { hostSetting: 'TEMPER_CONSOLE_HOST', portSetting: 'TEMPER_CONSOLE_PORT' };
  await listen(server, { ...at, ...names }, (error) => log.warn('console socket', { error }));
  log.info('listening', { host: at.host, port: (server.address() as AddressInfo).port });
  life.ready();
});
