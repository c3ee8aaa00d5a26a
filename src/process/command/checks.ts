/** Checks of `temper doctor` behind the API: database, Temporal and policy. */
import { Connection } from '@temporalio/client';
import type { DoctorCheck, Finding } from '../../cli';
import { askIssuers } from '../../identity';
import { clockOf, connect, type Sql } from '../../inventory/database';
import { migrationFiles, missingMigrations } from '../../inventory/migrate';
import { attributes, controlQueue } from '../../workflows/contract';
import { cleaningCheck } from '../api/cleaning-runbooks';
import { farMs, skewOf } from '../clock-skew';
import { holdPolicy } from '../policy/policy';
import { ConfigFault } from '../settings/fault';
import { type LookedAt, lookedAt } from '../settings/temper-settings';
import { connectionOptions, type TemporalSettings } from '../temporal/client';
import { askingNow } from '../temporal/pollers';
import { glanceAnswers } from './glance-check';
import { notificationsStand } from './notifications-check';
import { noticesStand, novaAnswers } from './nova-check';

const ok = (says: string): Finding => ({ is: 'ok', says });
const failedCheck = (says: string, todo: string): Finding => ({ is: 'failed', says, todo });
const skipped = (says: string): Finding => ({ is: 'skipped', says });

/** An AggregateError, one error per tried address, has no message. */
const reasonText = (thrown: unknown): string => {
  const { message, code } = thrown as NodeJS.ErrnoException;
  return message || code || String(thrown);
};

const appliedIn = async (sql: Sql): Promise<Set<string>> =>
  new Set((await sql<{ name: string }[]>`select name from migrations`).map(({ name }) => name));

const migrationsOf = async (sql: Sql): Promise<Finding> => {
  const applied = await appliedIn(sql);
  const known = migrationFiles();
  const missing = await missingMigrations(sql);
  const newer = [...applied].filter((name) => !known.includes(name));
  if (missing.length > 0) return failedCheck(`lacks ${missing.join(', ')}`, 'Run `migrate` of this release.');
  if (newer.length > 0)
    return failedCheck(`has ${newer.join(', ')}, which this release does not know`, 'Run the newer release.');
  return ok(`answers; all ${known.length} migrations are applied`);
};

/** This machine's clock. Each process reports its own as temper_clock_skew_seconds. */
const skewFound = async (sql: Sql): Promise<Finding> => {
  const ms = await skewOf(() => clockOf(sql));
  const seconds = Math.abs(ms) / 1_000;
  const says = `this machine is ${seconds.toFixed(seconds < 10 ? 1 : 0)} s ${ms < 0 ? 'behind' : 'ahead of'} the database`;
  return Math.abs(ms) < farMs
    ? ok(says)
    : failedCheck(says, 'Set both clocks by NTP; temper_clock_skew_seconds has the skew of every process.');
};

/** Skipped without the database's address. */
const inDatabase = (
  name: string,
  { TEMPER_DATABASE_URL: url }: LookedAt,
  find: (sql: Sql) => Promise<Finding>,
): DoctorCheck => ({
  name,
  async find() {
    if (!url) return skipped('TEMPER_DATABASE_URL is not set here');
    const sql = connect(url, { max: 1, name: 'temper-doctor' });
    try {
      return await find(sql);
    } catch (thrown) {
      return failedCheck(
        reasonText(thrown),
        'Is PostgreSQL running, is TEMPER_DATABASE_URL right, and has `migrate` of this release been run?',
      );
    } finally {
      await sql.end({ timeout: 1 });
    }
  },
});

const namespaceOf = async (connection: Connection, namespace: string): Promise<Finding> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const names = Object.values(attributes).map(({ name }) => name);
  const missing = names.filter((name) => !customAttributes?.[name]);
  return missing.length > 0
    ? failedCheck(
        `namespace ${namespace} lacks the search attributes ${missing.join(', ')}`,
        'Run `migrate` with TEMPER_TEMPORAL_ADDRESS set.',
      )
    : ok(`answers; namespace ${namespace} has all ${names.length} search attributes`);
};

// temporal.api.enums.v1.TaskQueueType
const workflowTasks = 1;

const controlWorkers = async (connection: Connection, { TEMPER_TEMPORAL_NAMESPACE, TEMPER_QUEUE_PREFIX }: LookedAt) => {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: TEMPER_TEMPORAL_NAMESPACE,
    taskQueue: { name: controlQueue(TEMPER_QUEUE_PREFIX) },
    taskQueueType: workflowTasks,
  });
  const { asking, lastMs } = askingNow(pollers ?? [], Date.now());
  if (asking > 0) return ok(`${asking} poll for workflows`);
  const since = lastMs === null ? '' : `; the last did so ${Math.round(lastMs / 1_000)} s ago`;
  return failedCheck(`none polls for workflows${since}`, 'Start `worker control`.');
};

/** Skipped without Temporal's address. */
const inTemporal = (
  name: string,
  settings: LookedAt,
  find: (connection: Connection) => Promise<Finding>,
): DoctorCheck => ({
  name,
  async find() {
    if (!settings.TEMPER_TEMPORAL_ADDRESS) return skipped('TEMPER_TEMPORAL_ADDRESS is not set here');
    let connection: Connection | undefined;
    try {
      connection = await Connection.connect({
        ...connectionOptions(settings as TemporalSettings),
        connectTimeout: '5s',
      });
      return await find(connection);
    } catch (thrown) {
      return failedCheck(
        reasonText(thrown),
        `Is Temporal running at ${settings.TEMPER_TEMPORAL_ADDRESS}, and does it have namespace ${settings.TEMPER_TEMPORAL_NAMESPACE}?`,
      );
    } finally {
      await connection?.close();
    }
  },
});

const silent = { info() {}, warn() {}, error() {}, debug() {} };

const policy = (settings: LookedAt): DoctorCheck => ({
  name: 'policy',
  async find() {
    const {
      TEMPER_POLICY_SET: set,
      TEMPER_POLICY_FILE: file,
      TEMPER_POLICY_DIRS: folders,
      TEMPER_POLICY_MODE: mode,
    } = settings;
    const where = [...(file ? [file] : []), ...folders].join(', ');
    if (where === '') return skipped('TEMPER_POLICY_FILE is not set here');
    try {
      const holder = holdPolicy(set, { file, folders }, { log: silent, onLoad: () => {} }, { mode });
      holder.close();
      const { warnings } = holder.now();
      return ok(`${where} can be used${warnings.length > 0 ? `; note: ${warnings.join(' ')}` : ''}`);
    } catch (thrown) {
      return failedCheck(reasonText(thrown), 'Mend the file; a running API keeps the old rules until then.');
    }
  },
});

const oidcIssuers = ({ TEMPER_OIDC_FILE: file }: LookedAt): DoctorCheck => ({
  name: 'OIDC issuers',
  async find() {
    if (file === undefined) return skipped('TEMPER_OIDC_FILE is not set here');
    try {
      const { names, faults } = await askIssuers(file);
      return faults.length === 0
        ? ok(`${names.join(', ')} answered with keys`)
        : failedCheck(faults.join('; '), 'Make the issuer reachable from here, or correct its entry in the file.');
    } catch (thrown) {
      return failedCheck(reasonText(thrown), 'Mend the file; a running API keeps the old one until then.');
    }
  },
});

/** Invalid settings are a finding. */
export const checksOf = (env: NodeJS.ProcessEnv): DoctorCheck[] => {
  try {
    const settings = lookedAt(env);
    return [
      inDatabase('database', settings, migrationsOf),
      inDatabase('clock', settings, skewFound),
      inTemporal('Temporal', settings, (connection) => namespaceOf(connection, settings.TEMPER_TEMPORAL_NAMESPACE)),
      inTemporal('control workers', settings, (connection) => controlWorkers(connection, settings)),
      policy(settings),
      cleaningCheck(settings),
      novaAnswers(settings),
      glanceAnswers(settings),
      inDatabase('power notices', settings, (sql) => noticesStand(sql, settings)),
      inDatabase('notifications', settings, notificationsStand),
      oidcIssuers(settings),
    ];
  } catch (thrown) {
    if (!(thrown instanceof ConfigFault)) throw thrown;
    return [{ name: 'settings', find: async () => failedCheck(thrown.message, 'Mend these settings.') }];
  }
};
