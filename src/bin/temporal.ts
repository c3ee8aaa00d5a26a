/** Connections to Temporal as the settings ask for them. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  Client,
  type ClientInterceptors,
  Connection,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type TLSConfig,
} from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { attributes, controlQueue, reconcileId } from '../workflows/contract';
import { ConfigFault } from './fault';

export type TemporalSettings = {
  TEMPER_TEMPORAL_ADDRESS: string;
  TEMPER_TEMPORAL_NAMESPACE: string;
  TEMPER_TEMPORAL_API_KEY?: string;
  TEMPER_TEMPORAL_TLS: boolean;
  TEMPER_TEMPORAL_TLS_CA?: string;
  TEMPER_TEMPORAL_TLS_CERT?: string;
  TEMPER_TEMPORAL_TLS_KEY?: string;
  TEMPER_TEMPORAL_TLS_SERVER_NAME?: string;
};

/** A file that a setting names. Throws ConfigFault. */
const fileOf = (settings: TemporalSettings, name: keyof TemporalSettings): Buffer | undefined => {
  const path = settings[name];
  if (typeof path !== 'string') return undefined;
  try {
    return readFileSync(path);
  } catch (thrown) {
    throw new ConfigFault([`${name}: ${path} could not be read (${(thrown as NodeJS.ErrnoException).code}).`]);
  }
};

/** Throws ConfigFault where one half of our own certificate is missing, or a file cannot be read. */
const tlsOf = (settings: TemporalSettings): TLSConfig | undefined => {
  const serverRootCACertificate = fileOf(settings, 'TEMPER_TEMPORAL_TLS_CA');
  const crt = fileOf(settings, 'TEMPER_TEMPORAL_TLS_CERT');
  const key = fileOf(settings, 'TEMPER_TEMPORAL_TLS_KEY');
  const serverNameOverride = settings.TEMPER_TEMPORAL_TLS_SERVER_NAME;
  if (!crt !== !key)
    throw new ConfigFault([
      `TEMPER_TEMPORAL_TLS_${crt ? 'KEY' : 'CERT'}: is not set, and its other half is; set both or neither.`,
    ]);
  const wanted = settings.TEMPER_TEMPORAL_TLS || settings.TEMPER_TEMPORAL_API_KEY;
  if (!wanted && !serverRootCACertificate && !crt && serverNameOverride === undefined) return undefined;
  return {
    ...(serverRootCACertificate && { serverRootCACertificate }),
    ...(crt && key && { clientCertPair: { crt, key } }),
    ...(serverNameOverride !== undefined && { serverNameOverride }),
  };
};

/** How to reach the server, for any kind of connection. Throws ConfigFault. */
export const connectionOptions = (settings: TemporalSettings) => {
  const tls = tlsOf(settings);
  return {
    address: settings.TEMPER_TEMPORAL_ADDRESS,
    ...(settings.TEMPER_TEMPORAL_API_KEY && { apiKey: settings.TEMPER_TEMPORAL_API_KEY }),
    ...(tls && { tls }),
  };
};

/** A client that connects when it is first used, so that a process starts while Temporal is away. */
export const lazyClient = (
  settings: TemporalSettings,
  interceptors?: ClientInterceptors,
): { client: Client; close: () => Promise<void> } => {
  const connection = Connection.lazy(connectionOptions(settings));
  return {
    client: new Client({ connection, namespace: settings.TEMPER_TEMPORAL_NAMESPACE, interceptors }),
    close: () => connection.close(),
  };
};

/** A worker's connection; throws when Temporal does not answer. */
export const workerConnection = (settings: TemporalSettings): Promise<NativeConnection> =>
  NativeConnection.connect(connectionOptions(settings));

/** How a worker is called in Temporal's UI. */
export const workerIdentity = (role: string, group: string, name?: string): string =>
  `${name ?? hostname()}/${role}/${group || 'default'}/${process.pid}`;

/** Fails with the names of the search attributes that the server does not know; starting runs would fail on them. */
export const checkAttributes = async (connection: NativeConnection, namespace: string): Promise<void> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(attributes)
    .map(({ name }) => name)
    .filter((name) => !customAttributes?.[name]);
  if (missing.length > 0)
    throw new Error(
      `Temporal namespace ${namespace} lacks the search attributes ${missing.join(', ')}; run the migrate command with TEMPER_TEMPORAL_ADDRESS set`,
    );
};

/** One schedule for the whole installation, made by whichever worker comes first. */
export const ensureReconciler = async (client: Client, prefix: string, everyMs = 60_000): Promise<void> => {
  try {
    await client.schedule.create({
      scheduleId: reconcileId(prefix),
      spec: { intervals: [{ every: everyMs }] },
      action: {
        type: 'startWorkflow',
        workflowType: 'reconcile',
        taskQueue: controlQueue(prefix),
        workflowId: reconcileId(prefix),
        staticSummary: 'put right what fell between store and engine',
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10m' },
    });
  } catch (thrown) {
    if (!(thrown instanceof ScheduleAlreadyRunning)) throw thrown;
  }
};
