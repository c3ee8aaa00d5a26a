/** The API's settings as an installation has them that sets no more than it must; tests of other settings override these. */
import type { Settings } from '../../src/api';
import { newPair } from '../../src/inventory/secrets/sealed-box';
import { apiSettings } from '../../src/process/settings/api-settings';
import { processes } from '../../src/process/settings/config';
import { parseSettings } from '../../src/process/settings/read';

const required = {
  TEMPER_DATABASE_URL: 'postgres://127.0.0.1:9/temper',
  TEMPER_TEMPORAL_ADDRESS: '127.0.0.1:9',
  TEMPER_SECRETS_PUBLIC_KEYS: `k1:${newPair().publicRaw.toString('base64')}`,
  TEMPER_DIGEST_KEYS: `d1:${Buffer.alloc(32, 7).toString('base64')}`,
  TEMPER_BMC_NETWORKS: '10.0.0.0/8',
  TEMPER_AUTH_STRATEGY: 'noauth',
};

export const defaultSettings: Settings = {
  ...apiSettings(parseSettings(processes.api, required)),
  bmcNetworks: [],
  // A test sends more from one address than people do, and waits for no lock unless it says so.
  addressLimitPerMinute: undefined,
  lockWaitMs: 0,
  lookup: async () => [],
};
