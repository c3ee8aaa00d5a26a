/** A way to a test's PostgreSQL that counts how often its client waits for an answer. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CountedWay = {
  /** The same database, by this way. */
  readonly url: string;
  /** How often something was sent after an answer had come, since the last call. */
  taken(): number;
  close(): Promise<void>;
};

/** Passes bytes on between clients and the server of a database's URL. */
export const countedWay = async (target: string): Promise<CountedWay> => {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let turns = 0;
  const server = createServer((client) => {
    const store = connect(Number(port), hostname);
    let answered = true;
    client.on('data', (sent) => {
      if (answered) turns += 1;
      answered = false;
      store.write(sent);
    });
    store.on('data', (answer) => {
      answered = true;
      client.write(answer);
    });
    for (const [one, other] of [
      [client, store],
      [store, client],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    taken() {
      const taken = turns;
      turns = 0;
      return taken;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
