/** Connector that refuses addresses outside the operator's networks at connect time. */
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { requireAllowed } from '../model/access/bmc-addresses';
import { guardedLookup } from '../model/access/guarded-lookup';
import type { DriverDeps } from './contract';

type NetworkDeps = Pick<DriverDeps, 'networks' | 'lookup'>;

export type Tls = { readonly rejectUnauthorized: boolean; readonly ca?: readonly string[] };

const resolve = async (deps: NetworkDeps, host: string): Promise<readonly string[]> =>
  deps.lookup ? deps.lookup(host) : (await systemLookup(host, { all: true })).map((found) => found.address);

/** Literal addresses never reach a lookup, so they are checked here. */
export const guardedConnector = (deps: NetworkDeps, tls: Tls, connectTimeoutMs: number): buildConnector.connector => {
  const connect = buildConnector({
    ...tls,
    ca: tls.ca && [...tls.ca],
    timeout: connectTimeoutMs,
    lookup: guardedLookup(
      (host) => resolve(deps, host),
      (host, addresses) => requireAllowed(deps.networks, host, addresses),
    ),
  } as buildConnector.BuildOptions);
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    try {
      if (isIP(host)) requireAllowed(deps.networks, host, [host]);
    } catch (error) {
      return callback(error as Error, null);
    }
    return connect({ ...options, hostname: host }, callback);
  };
};
