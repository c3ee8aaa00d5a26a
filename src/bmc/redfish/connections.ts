/** The connections of this worker: one per BMC and account, shared by all acts, logged out when idle or at the end. */
import { LRUCache } from 'lru-cache';
import type { BmcNode, DriverHands } from '../contract';
import { type Connection, createConnection } from './connection';
import { redfishSettings, tlsOf } from './settings';

export type Connections = {
  /** Throws DriverInfoInvalid. */
  get(node: BmcNode): Promise<Connection>;
  close(): Promise<void>;
};

const idleMs = 10 * 60_000;
const most = 1_000;

/** BMCs have few places for sessions, so an idle one is given back. */
export const createConnections = (hands: DriverHands): Connections => {
  const cache = new LRUCache<string, Connection>({
    max: most,
    ttl: idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (connection) => void connection.close().catch(() => undefined),
  });

  /** Every request counts as use, so that a long act does not lose its session in the middle. */
  const touching = (connection: Connection): Connection => ({
    ...connection,
    ask: (ask) => {
      cache.get(connection.settings.key);
      return connection.ask(ask);
    },
  });

  return {
    async get(node) {
      const settings = redfishSettings(node);
      const known = cache.get(settings.key);
      if (known) return known;
      const tls = await tlsOf(settings, node.uuid);
      const meanwhile = cache.get(settings.key);
      if (meanwhile) return meanwhile;
      const connection = touching(createConnection(settings, tls, hands));
      cache.set(settings.key, connection);
      return connection;
    },
    async close() {
      const open = [...cache.values()];
      cache.clear();
      await Promise.all(open.map((connection) => connection.close()));
    },
  };
};
