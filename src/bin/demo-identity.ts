/** The demo identity service as a process of `npm start`; not for production. */
import { z } from 'zod';
import { startDemoIdentity } from '../dev/identity';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { live } from './process';

const port = z.coerce.number().int().min(0).max(65_535);
const config = z
  .object({
    TEMPER_LOG_LEVEL: z.string().default('info'),
    TEMPER_HEALTH_PORT: port.optional(),
    TEMPER_HEALTH_HOST: z.string().default('127.0.0.1'),
    TEMPER_SUPERVISED: z.literal('1').optional(),
    TEMPER_DEMO_IDENTITY_PORT: port.default(5000),
    TEMPER_DEMO_IDENTITY_DIR: z.string().optional(),
    TEMPER_API_PUBLIC_URL: z.url(),
  })
  .parse(process.env);
const log = createLog('demo-identity', config.TEMPER_LOG_LEVEL);

live(config, { log, metrics: createMetrics('demo-identity') }, async (life) => {
  const identity = await startDemoIdentity({
    host: '127.0.0.1',
    port: config.TEMPER_DEMO_IDENTITY_PORT,
    catalogUrl: config.TEMPER_API_PUBLIC_URL,
    ...(config.TEMPER_DEMO_IDENTITY_DIR && { stateDir: config.TEMPER_DEMO_IDENTITY_DIR }),
  });
  life.onEnd(() => identity.close());
  log.info('demo identity', { url: identity.url });
  life.ready();
});
