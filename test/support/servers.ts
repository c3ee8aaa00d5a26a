/** The servers of the test run, for tests: a database of one's own, Temporal, the workflow bundle. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';

export type TestDatabase = {
  /** As the cluster's superuser. */
  readonly ownerUrl: string;
  /** As the role of each process, with that role's rights only. */
  readonly apiUrl: string;
  readonly controlUrl: string;
  readonly bmcUrl: string;
  readonly bootUrl: string;
  readonly notificationsUrl: string;
  /** Removes the database, ending sessions that are still open. */
  drop(): Promise<void>;
};

/** A migrated, empty database that no other test uses; a copy of the run's template, so it takes about 50 ms. */
export const testDatabase = async (): Promise<TestDatabase> => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = fromSetup('TEMPER_TEST_TEMPLATE');
  await administer(`create database ${name} template ${template}`);
  return {
    ownerUrl: databaseUrl(name),
    apiUrl: databaseUrl(name, 'temper_api'),
    controlUrl: databaseUrl(name, 'temper_control'),
    bmcUrl: databaseUrl(name, 'temper_bmc'),
    bootUrl: databaseUrl(name, 'temper_boot'),
    notificationsUrl: databaseUrl(name, 'temper_notifications'),
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
};

/** `host:port` of Temporal's frontend; the namespace is `temporalNamespace`. */
export const temporalAddress = (): string => fromSetup('TEMPER_TEST_TEMPORAL_ADDRESS');

export const temporalNamespace = 'temper';

/** Path of the bundled workflows, for `workflowBundle: { codePath }`. */
export const workflowBundle = (): string => fromSetup('TEMPER_TEST_WORKFLOW_BUNDLE');

const databaseUrl = (name: string, role?: string): string => {
  const url = new URL(fromSetup('TEMPER_TEST_DATABASE_URL'));
  url.pathname = `/${name}`;
  if (role) Object.assign(url, { username: role, password: fromSetup('TEMPER_TEST_ROLE_PASSWORD') });
  return url.href;
};

const administer = async (statement: string): Promise<void> => {
  const sql = postgres(fromSetup('TEMPER_TEST_DATABASE_URL'), { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 5 });
  }
};

const fromSetup = (name: string): string => {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: this test lies in a folder whose tier starts no servers (jest.config.js).`);
  return value;
};
