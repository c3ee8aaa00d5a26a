/** The listening sockets: one for all BMCs (told apart by /bmc/N) or one for each, plain and with TLS. */

import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { errorBody } from './answers';
import type { Certificate } from './certificate';
import { serve } from './exchange';
import type { Bmc, Recorder } from './types';

export type Listening = {
  readonly url: string;
  readonly port: number;
  /** Shows another certificate from now on; nothing where there is none. */
  renew(certificate: Certificate): void;
  close(): Promise<void>;
};

const notFound = (res: http.ServerResponse): void => {
  res.writeHead(404, { 'Content-Type': 'application/json' });
  res.end(
    JSON.stringify(
      errorBody('ResourceMissingAtURI', 'No BMC has this address; addresses look like /bmc/0/redfish/v1/.'),
    ),
  );
};

/** A bare address is answered as if the service root had been asked for: some clients take the path part as the root. */
const insidePath = (path: string): string => (path === '' || path === '/' ? '/redfish/v1' : path);

/** Answers for all BMCs, each below /bmc/N. */
export const sharedListener =
  (bmcs: readonly Bmc[], record: Recorder): RequestListener =>
  (req, res) => {
    const [full = '', query = ''] = (req.url ?? '').split('?', 2);
    const [, base = '', index = '', path = ''] = /^(\/bmc\/(\d+))(\/.*)?$/.exec(full) ?? [];
    const bmc = bmcs[Number(index)];
    if (base === '' || !bmc) return notFound(res);
    void serve({ bmc, base, method: req.method ?? 'GET', path: insidePath(path), query, req, res }, record);
  };

/** Answers for one BMC, without a prefix. */
export const singleListener =
  (bmc: Bmc, record: Recorder): RequestListener =>
  (req, res) => {
    const [path = '', query = ''] = (req.url ?? '').split('?', 2);
    void serve({ bmc, base: '', method: req.method ?? 'GET', path: insidePath(path), query, req, res }, record);
  };

/** Starts listening; `port` 0 takes a free one. Fails with the system's error when the port is taken. */
export const listen = (
  listener: RequestListener,
  { host, port, certificate }: { host: string; port: number; certificate?: Certificate },
): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const secure = certificate && https.createServer(certificate, listener);
    const server = secure ?? http.createServer(listener);
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const actual = (server.address() as AddressInfo).port;
      const shown = host.includes(':') ? `[${host}]` : host;
      resolve({
        port: actual,
        url: `${certificate ? 'https' : 'http'}://${shown}:${actual}`,
        renew: (next) => secure?.setSecureContext(next),
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
