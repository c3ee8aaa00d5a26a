/** The emulated rack as a process of `npm start`; not for production. */
import { z } from 'zod';
import { createLog } from '../src/observe/log';
import { createMetrics } from '../src/observe/metrics';
import { type Listening, listenFault } from '../src/process/listen';
import { live } from '../src/process/process';
import { commaList, count, nonEmptyText, port, webUrl } from '../src/process/settings/kinds';
import { settingsOrEnd } from '../src/process/settings/read';
import { common } from '../src/process/settings/shared';
import { startRack } from './rack';

const config = settingsOrEnd(
  'rack',
  z.object({
    ...common,
    TEMPER_RACK_SIZE: count(0, 1_000).default(8),
    TEMPER_RACK_DIR: nonEmptyText,
    TEMPER_RACK_HTTP_PORT: port.default(0),
    TEMPER_RACK_HTTPS_PORT: port.default(0),
    TEMPER_RACK_CONTROL_PORT: port.default(0),
    TEMPER_RACK_API_URL: webUrl
      .optional()
      .describe('URL of the API that emulated ramdisks call; without it hosts boot none.'),
    TEMPER_RACK_AGENT_PORT: port.default(0),
    TEMPER_RACK_SPEED: count(1, 100)
      .default(1)
      .describe('How many times as fast as usual the emulated hardware works.'),
    TEMPER_RACK_RAMDISK_IMAGES: commaList
      .default([])
      .describe('URLs of discs that hold the ramdisk, separated by commas; any disc when empty.'),
  }),
);
const portSettings = [
  'TEMPER_RACK_HTTP_PORT',
  'TEMPER_RACK_HTTPS_PORT',
  'TEMPER_RACK_CONTROL_PORT',
  'TEMPER_RACK_AGENT_PORT',
] as const;
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
    speed: config.TEMPER_RACK_SPEED,
    httpPort: config.TEMPER_RACK_HTTP_PORT,
    httpsPort: config.TEMPER_RACK_HTTPS_PORT,
    controlPort: config.TEMPER_RACK_CONTROL_PORT,
    ...(config.TEMPER_RACK_API_URL && {
      ramdisks: {
        apiUrl: config.TEMPER_RACK_API_URL,
        port: config.TEMPER_RACK_AGENT_PORT,
        images: config.TEMPER_RACK_RAMDISK_IMAGES,
      },
    }),
  }).catch((error) => {
    throw listenFault(error, sockets);
  });
  life.onEnd(() => rack.close());
  log.info('rack', { bmcs: rack.bmcs.length, control: rack.controlUrl });
  life.ready();
});
