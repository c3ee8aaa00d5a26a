/** A plain HTTP relay in front of a BMC: it counts what the BMC accepted, and can cut the wire at a chosen answer. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Relayed = { method: string; path: string; status: number; body: string };

export type Relay = {
  readonly url: string;
  /** Writes that the BMC behind answered with 2xx, logins left out. */
  writes(): Relayed[];
  requests(): Relayed[];
  /** Called with each answer before the client sees it; `cut` closes the client's connection instead. */
  onAnswer: ((relayed: Relayed) => 'cut' | undefined) | undefined;
  close(): Promise<void>;
};

const isSession = (path: string): boolean => /SessionService/.test(path);

export const startRelay = async (target: string): Promise<Relay> => {
  const upstream = new URL(target);
  const seen: Relayed[] = [];
  const server = http.createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      const forward = http.request(
        {
          host: upstream.hostname,
          port: upstream.port,
          method: req.method,
          path: req.url,
          headers: { ...req.headers, host: upstream.host },
        },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('error', () => res.destroy());
          answer.on('end', () => {
            const relayed = {
              method: req.method ?? '',
              path: req.url ?? '',
              status: answer.statusCode ?? 0,
              body: body.toString(),
            };
            seen.push(relayed);
            if (proxy.onAnswer?.(relayed) === 'cut') return void res.destroy();
            res.writeHead(relayed.status, answer.headers);
            res.end(Buffer.concat(parts));
          });
        },
      );
      forward.on('error', () => res.destroy());
      forward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${upstream.pathname.replace(/\/$/, '')}`,
    writes: () =>
      seen.filter(({ method, path, status }) => method !== 'GET' && status > 0 && status < 300 && !isSession(path)),
    requests: () => seen,
    onAnswer: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return proxy;
};
