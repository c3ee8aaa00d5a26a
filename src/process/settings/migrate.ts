/** Settings of `temper migrate`. */
import { count, nonEmptyText } from './kinds';
import { engine } from './shared';

export const migrate = {
  TEMPER_API_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_api log in with this password.'),
  TEMPER_CONTROL_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_control log in with this password.'),
  TEMPER_BMC_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_bmc log in with this password.'),
  TEMPER_BOOT_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_boot log in with this password.'),
  TEMPER_NOTIFICATIONS_DB_PASSWORD: nonEmptyText
    .optional()
    .describe('Lets role temper_notifications log in with this password.'),
  TEMPER_AUDIT_MINIMUM_MONTHS: count(0, 1_200)
    .optional()
    .describe(
      'How many whole months of the audit trail are kept at least. The database stores the number, and no other role changes it there. 0 for all; left as it is when unset, 24 at first.',
    ),
  TEMPER_TEMPORAL_ADDRESS: engine.TEMPER_TEMPORAL_ADDRESS.optional().describe(
    'When set, search attributes are registered there.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: engine.TEMPER_TEMPORAL_NAMESPACE,
  TEMPER_TEMPORAL_API_KEY: engine.TEMPER_TEMPORAL_API_KEY,
  TEMPER_TEMPORAL_TLS: engine.TEMPER_TEMPORAL_TLS,
  TEMPER_TEMPORAL_TLS_CA: engine.TEMPER_TEMPORAL_TLS_CA,
  TEMPER_TEMPORAL_TLS_CERT: engine.TEMPER_TEMPORAL_TLS_CERT,
  TEMPER_TEMPORAL_TLS_KEY: engine.TEMPER_TEMPORAL_TLS_KEY,
  TEMPER_TEMPORAL_TLS_SERVER_NAME: engine.TEMPER_TEMPORAL_TLS_SERVER_NAME,
};
