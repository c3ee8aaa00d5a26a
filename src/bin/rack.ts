/** The emulated rack as a process of `npm start`; not for production. */
import { z } from 'zod';
import { startRack } from '../dev/rack';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { common, settingsOrEnd } from './config';
import { count, port, text } from './kinds';
import { type Listening, listenFault } from './listen';
import { live } from './process';

const config = settingsOrEnd(
  'rack',
  z.object({
    ...common,
    TEMPER_RACK_SIZE: count(0, 1_000).default(8),
    TEMPER_RACK_DIR: text,
    TEMPER_RACK_HTTP_PORT: port.default(0),
    TEMPER_RACK_HTTPS_PORT: port.default(0),
    TEMPER_RACK_CONTROL_PORT: port.default(0),
  }),
);
const portSettings = ['TEMPER_RACK_HTTP_PORT', 'TEMPER_RACK_HTTPS_PORT', 'TEMPER_RACK_CONTROL_PORT'] as const;
const sockets: Listening[] = portSettings.map((portSetting) => ({
  host: '127.0.0.1',
  port: config[portSetting],
  portSetting,
}));
const log = createLog('rack', config.TEMPER_LOG_LEVEL);

live('rack', config, { log, metrics: createMetrics('rack') }, async (life) => {
  const rack = await startRack({
    stateDir: config.TEMPER_RACK_DIR,
    bmcs: config.TEMPER_RACK_SIZE,
    httpPort: config.TEMPER_RACK_HTTP_PORT,
    httpsPort: config.TEMPER_RACK_HTTPS_PORT,
    controlPort: config.TEMPER_RACK_CONTROL_PORT,
  }).catch((error) => {
    throw listenFault(error, sockets);
  });
  life.onEnd(() => rack.close());
  log.info('rack', { bmcs: rack.bmcs.length, control: rack.controlUrl });
  life.ready();
});
