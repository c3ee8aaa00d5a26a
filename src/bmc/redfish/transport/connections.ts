/** Cache of connections, one per BMC and account. They log out when idle. */
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { BmcNode, DriverDeps } from '../../contract';
import { type Connection, createConnection } from './connection';
import { createPace, type Pace } from './pacing';
import { type RedfishSettings, redfishSettings, tlsOf } from './settings';

export type Connections = {
  /** Throws DriverInfoInvalid. */
  get(node: BmcNode): Promise<Connection>;
  close(): Promise<void>;
};

const idleMs = 10 * 60_000;
// A connection takes 7 kB. All are kept: power sync uses each within `idleMs`, and a login costs three more requests.
const mostConnections = 100_000;
// Limits for a stopping worker. BMCs expire the other sessions.
const logoutsAtOnce = 500;
const leavingMs = 10_000;

/** BMCs allow few sessions, so idle ones are closed. */
export const createConnections = (deps: DriverDeps): Connections => {
  let leaving = false;
  const cache = new LRUCache<string, Connection>({
    max: mostConnections,
    ttl: idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (connection) => void (leaving || connection.close().catch(() => undefined)),
  });

  const paces = new LRUCache<string, Pace>({ max: mostConnections });

  const paceOf = ({ address }: RedfishSettings): Pace => {
    const known = paces.get(address.label) ?? createPace(deps.limits?.courtesy);
    paces.set(address.label, known);
    return known;
  };

  /** Nodes behind one BMC differ in their system. Every request counts as use, so that a long act keeps its session. */
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
      const connection = createConnection(settings, tls, deps, paceOf(settings));
      cache.set(settings.key, connection);
      return seenBy(settings, connection);
    },
    async close() {
      const open = [...cache.values()];
      leaving = true;
      cache.clear();
      leaving = false;
      const inTurn = pLimit(logoutsAtOnce);
      const until = performance.now() + leavingMs;
      const leave = async (connection: Connection) => performance.now() < until && connection.close();
      await Promise.all(open.map((connection) => inTurn(leave, connection)));
    },
  };
};
