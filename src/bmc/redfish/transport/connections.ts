/** The connections of this worker: one per BMC and account, shared by all acts, logged out when idle or at the end. */
import { LRUCache } from 'lru-cache';
import type { BmcNode, DriverHands } from '../../contract';
import { type Connection, createConnection } from './connection';
import { createPace, type Pace } from './pacing';
import { type RedfishSettings, redfishSettings, tlsOf } from './settings';

export type Connections = {
  /** Throws DriverInfoInvalid. */
  get(node: BmcNode): Promise<Connection>;
  close(): Promise<void>;
};

const idleMs = 10 * 60_000;
const mostConnections = 1_000;

/** BMCs have few places for sessions, so an idle one is given back. */
export const createConnections = (hands: DriverHands): Connections => {
  const cache = new LRUCache<string, Connection>({
    max: mostConnections,
    ttl: idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (connection) => void connection.close().catch(() => undefined),
  });

  const paces = new LRUCache<string, Pace>({ max: mostConnections });

  /** One pace per BMC, whatever the account and however many systems there are. */
  const paceOf = ({ address }: RedfishSettings): Pace => {
    const known = paces.get(address.label) ?? createPace(hands.limits?.courtesy);
    paces.set(address.label, known);
    return known;
  };

  /**
   * The shared connection as one node sees it: nodes behind one BMC differ in their system. Every request counts as use,
   * so that a long act does not lose its session in the middle.
   */
  const seenBy = (settings: RedfishSettings, connection: Connection): Connection => ({
    ...connection,
    settings,
    ask: (ask) => {
      cache.get(settings.key);
      return connection.ask(ask);
    },
  });

  return {
    async get(node) {
      const settings = redfishSettings(node);
      const known = cache.get(settings.key);
      if (known) return seenBy(settings, known);
      const tls = await tlsOf(settings, node.uuid);
      const meanwhile = cache.get(settings.key);
      if (meanwhile) return seenBy(settings, meanwhile);
      const connection = createConnection(settings, tls, hands, paceOf(settings));
      cache.set(settings.key, connection);
      return seenBy(settings, connection);
    },
    async close() {
      const open = [...cache.values()];
      cache.clear();
      await Promise.all(open.map((connection) => connection.close()));
    },
  };
};
