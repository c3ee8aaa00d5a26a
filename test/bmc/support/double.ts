/** A stand-in for a BMC that answers whatever a test wants, for what no emulator would do. */
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `raw` instead of a body: sent as it stands; `open`: without an end after it. */
export type Answer = { status: number; headers?: Record<string, string>; body?: unknown; raw?: string; open?: true };

export const startDouble = async (answer: (req: IncomingMessage, body: string) => Answer) => {
  const requests: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[] = [];
  const server = http.createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    requests.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
    const { status, headers, body: reply, raw, open } = answer(req, body);
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    if (open) return void res.write(raw);
    res.end(raw ?? (reply === undefined ? '' : JSON.stringify(reply)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

/** A service root, one system that is off, and no sessions. */
export const plainBmc =
  (more: Readonly<Record<string, Answer>> = {}) =>
  (req: IncomingMessage): Answer => {
    const known: Readonly<Record<string, Answer>> = {
      'GET /redfish/v1/': { status: 200, body: { Systems: { '@odata.id': '/redfish/v1/Systems' } } },
      'GET /redfish/v1/Systems': { status: 200, body: { Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] } },
      'GET /redfish/v1/Systems/1': {
        status: 200,
        body: {
          PowerState: 'Off',
          Actions: { '#ComputerSystem.Reset': { target: '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset' } },
        },
      },
      ...more,
    };
    return known[`${req.method} ${req.url}`] ?? { status: 404 };
  };
