/** The demo identity service as a process of `npm start`; not for production. */
import { z } from 'zod';
import { createLog } from '../src/observe/log';
import { createMetrics } from '../src/observe/metrics';
import { listenFault } from '../src/process/listen';
import { live } from '../src/process/process';
import { nonEmptyText, port, webUrl } from '../src/process/settings/kinds';
import { settingsOrEnd } from '../src/process/settings/read';
import { common } from '../src/process/settings/shared';
import { startDemoIdentity } from './identity/index';

const config = settingsOrEnd(
  'demo-identity',
  z.object({
    ...common,
    TEMPER_DEMO_IDENTITY_PORT: port.default(5000),
    TEMPER_DEMO_IDENTITY_DIR: nonEmptyText.optional(),
    TEMPER_API_PUBLIC_URL: webUrl,
  }),
);
const log = createLog('demo-identity', config.TEMPER_LOG_LEVEL);

live('demo-identity', config, { log, metrics: createMetrics('demo-identity') }, async (life) => {
  const at = { host: '127.0.0.1', port: config.TEMPER_DEMO_IDENTITY_PORT };
  const identity = await startDemoIdentity({
    ...at,
    catalogUrl: config.TEMPER_API_PUBLIC_URL,
    ...(config.TEMPER_DEMO_IDENTITY_DIR && { stateDir: config.TEMPER_DEMO_IDENTITY_DIR }),
  }).catch((error) => {
    throw listenFault(error, [{ ...at, portSetting: 'TEMPER_DEMO_IDENTITY_PORT' }]);
  });
  life.onEnd(() => identity.close());
  log.info('demo identity', { url: identity.url });
  life.ready();
});
