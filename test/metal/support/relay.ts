/** A way to the boot service that a test can cut in the middle of an image. */
import { connect, createServer, type Socket } from 'node:net';

export type Relay = {
  /** Acts once, as soon as one connection has been sent so many bytes, which it stops at. Resolves when it has acted. */
  at(bytes: number, act: () => Promise<void>): Promise<void>;
  close(): void;
};

type Trap = { readonly bytes: number; spring(): Promise<void> };

/** @param host and @param port that it listens on; @param target port on the same host */
export const startRelay = async (host: string, port: number, target: number): Promise<Relay> => {
  let trap: Trap | undefined;
  const pass = (client: Socket): void => {
    const server = connect(target, host);
    let sent = 0;
    server.on('data', (piece) => {
      sent += piece.length;
      client.write(piece);
      if (trap === undefined || sent < trap.bytes) return;
      const { spring } = trap;
      trap = undefined;
      server.pause();
      void spring().finally(() => server.resume());
    });
    client.pipe(server);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  };
  const listening = createServer(pass);
  await new Promise<void>((resolve) => listening.listen(port, host, resolve));
  return {
    at: (bytes, act) =>
      new Promise((resolve, reject) => {
        trap = { bytes, spring: () => act().then(resolve, reject) };
      }),
    close: () => void listening.close(),
  };
};
