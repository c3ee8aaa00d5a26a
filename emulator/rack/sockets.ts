/** Where the BMCs are reached: all behind one pair of ports, or each behind a pair of its own. */

import type { Certificate } from './certificate';
import { type Listening, listen, sharedListener, singleListener } from './server';
import type { Bmc, Recorder } from './types';

type SocketOptions = { host?: string; httpPort?: number; httpsPort?: number; ports?: 'shared' | 'each' };

export type Addressed = { address: string; secureAddress: string; prefix: string };
type Sockets = { all: Listening[]; of: (index: number) => Addressed };

const listenShared = async (
  bmcs: readonly Bmc[],
  record: Recorder,
  options: SocketOptions,
  certificate: Certificate,
): Promise<Sockets> => {
  const host = options.host ?? '127.0.0.1';
  const listener = sharedListener(bmcs, record);
  const plain = await listen(listener, { host, port: options.httpPort ?? 0 });
  const secure = await listen(listener, { host, port: options.httpsPort ?? 0, certificate });
  return {
    all: [plain, secure],
    of: (index) => ({
      address: `${plain.url}/bmc/${index}`,
      secureAddress: `${secure.url}/bmc/${index}`,
      prefix: `/bmc/${index}`,
    }),
  };
};

const portOf = (first: number | undefined, index: number): number => (first ? first + index : 0);

const listenEach = async (
  bmcs: readonly Bmc[],
  record: Recorder,
  options: SocketOptions,
  certificate: Certificate,
): Promise<Sockets> => {
  const host = options.host ?? '127.0.0.1';
  const pairs: { plain: Listening; secure: Listening }[] = [];
  for (const bmc of bmcs) {
    const listener = singleListener(bmc, record);
    const plain = await listen(listener, { host, port: portOf(options.httpPort, bmc.index) });
    const secure = await listen(listener, { host, port: portOf(options.httpsPort, bmc.index), certificate });
    pairs.push({ plain, secure });
  }
  return {
    all: pairs.flatMap(({ plain, secure }) => [plain, secure]),
    of: (index) => ({ address: pairs[index]!.plain.url, secureAddress: pairs[index]!.secure.url, prefix: '' }),
  };
};

/** Opens all sockets of a rack; fails with the system's error when a port is taken. */
export const openSockets = (
  bmcs: readonly Bmc[],
  record: Recorder,
  options: SocketOptions,
  certificate: Certificate,
): Promise<Sockets> => (options.ports === 'each' ? listenEach : listenShared)(bmcs, record, options, certificate);
