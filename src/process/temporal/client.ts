/** Temporal connection options and client, without the workers' native code. */
import { Client, type ClientInterceptors, Connection, type TLSConfig } from '@temporalio/client';
import { ConfigFault } from '../settings/fault';
import { settingFile } from '../settings/files';

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

/** Throws ConfigFault. */
const fileOf = (settings: TemporalSettings, name: keyof TemporalSettings): Buffer | undefined => {
  const path = settings[name];
  return typeof path === 'string' ? settingFile(name, path) : undefined;
};

/** Throws ConfigFault for half a key pair or an unreadable file. */
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

/** Throws ConfigFault. */
export const connectionOptions = (settings: TemporalSettings) => {
  const tls = tlsOf(settings);
  return {
    address: settings.TEMPER_TEMPORAL_ADDRESS,
    ...(settings.TEMPER_TEMPORAL_API_KEY && { apiKey: settings.TEMPER_TEMPORAL_API_KEY }),
    ...(tls && { tls }),
  };
};

/** Connects at first use, so that a process starts without Temporal. */
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
