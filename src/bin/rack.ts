/** The emulated rack as a process of `npm start`; not for production. */
import { z } from 'zod';
import { startRack } from '../dev/rack';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { live } from './process';

const port = z.coerce.number().int().min(0).max(65_535).default(0);
const config = z
  .object({
    TEMPER_LOG_LEVEL: z.string().default('info'),
    TEMPER_HEALTH_PORT: port.optional(),
    TEMPER_HEALTH_HOST: z.string().default('127.0.0.1'),
    TEMPER_SUPERVISED: z.literal('1').optional(),
    TEMPER_RACK_SIZE: z.coerce.number().int().min(0).max(1_000).default(8),
    TEMPER_RACK_DIR: z.string(),
    TEMPER_RACK_HTTP_PORT: port,
    TEMPER_RACK_HTTPS_PORT: port,
    TEMPER_RACK_CONTROL_PORT: port,
  })
  .parse(process.env);
const log = createLog('rack', config.TEMPER_LOG_LEVEL);

live(config, { log, metrics: createMetrics('rack') }, async (life) => {
  const rack = await startRack({
    stateDir: config.TEMPER_RACK_DIR,
    bmcs: config.TEMPER_RACK_SIZE,
    httpPort: config.TEMPER_RACK_HTTP_PORT,
    httpsPort: config.TEMPER_RACK_HTTPS_PORT,
    controlPort: config.TEMPER_RACK_CONTROL_PORT,
  });
  life.onEnd(() => rack.close());
  log.info('rack', { bmcs: rack.bmcs.length, control: rack.controlUrl });
  life.ready();
});
