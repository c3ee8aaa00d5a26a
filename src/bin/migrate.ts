/**
 * `migrate` updates roles, schema and search attributes; idempotent. `--restored` starts in recovery, because marks
 * do not reveal a backup that is newer than they are. `--roles` only creates roles, before a dump is restored into a
 * new cluster.
 */
import { parseArgs } from 'node:util';
import { connect } from '../inventory/database';
import { openRights } from '../inventory/database-rights';
import { makeRoles, migrate } from '../inventory/migrate';
import { recovery } from '../inventory/runs/recovery';
import { fileFault } from '../model/file-faults';
import { type Restorable, restorable, restored } from '../model/runs/recovery';
import { createLog } from '../observe/log';
import { readConfig } from '../process/settings/read';
import { registerSearchAttributes } from '../process/temporal/search-attributes';

type MigrateArguments = { readonly restored?: Restorable; readonly roles: boolean };

/** Throws for an invalid --restored. */
const askedOf = (args: readonly string[]): MigrateArguments => {
  const options = { restored: { type: 'string' }, roles: { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.restored === undefined) return { roles: values.roles };
  const found = restorable.find((one) => one === values.restored);
  if (!found) throw new Error(`--restored is one of ${restorable.join(', ')}, not "${values.restored}"`);
  return { restored: found, roles: values.roles };
};

const main = async (): Promise<void> => {
  const { restored: what, roles } = askedOf(process.argv.slice(2));
  const config = readConfig('migrate');
  const log = createLog('migrate', config.TEMPER_LOG_LEVEL);
  const sql = connect(config.TEMPER_DATABASE_URL, { max: 1, name: 'temper-migrate' });
  try {
    const passwords = {
      temper_api: config.TEMPER_API_DB_PASSWORD,
      temper_control: config.TEMPER_CONTROL_DB_PASSWORD,
      temper_bmc: config.TEMPER_BMC_DB_PASSWORD,
      temper_boot: config.TEMPER_BOOT_DB_PASSWORD,
      temper_notifications: config.TEMPER_NOTIFICATIONS_DB_PASSWORD,
    };
    if (roles) {
      await makeRoles(sql, passwords);
      log.info('roles made');
      return;
    }
    const applied = await migrate(sql, passwords, { auditMinimumMonths: config.TEMPER_AUDIT_MINIMUM_MONTHS });
    const registered = config.TEMPER_TEMPORAL_ADDRESS
      ? await registerSearchAttributes({ ...config, TEMPER_TEMPORAL_ADDRESS: config.TEMPER_TEMPORAL_ADDRESS })
      : [];
    const recovering = what && (await recovery(sql).enter(restored(what)));
    for (const open of await openRights(sql))
      log.warn(
        "Temper's roles have a right that they do not need; the administrator of the server takes it away by this statement",
        open,
      );
    log.info('migrated', { applied, registered, ...(what && { restored: what, recovering }) });
  } finally {
    await sql.end();
  }
};

main().catch((error: NodeJS.ErrnoException) => {
  // If all addresses of a name fail, the error has no message.
  process.stderr.write(`temper migrate failed: ${fileFault(error) ?? (error.message || error.code)}\n`);
  process.exit(1);
});
