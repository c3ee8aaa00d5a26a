/** The boot service as a process passes ramdisks' requests on where its setting says so, and nowhere else. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endAll, good, start } from './support/entries';

let api: Server;
let asked: string[];
beforeEach(async () => {
  asked = [];
  api = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} from ${request.headers['x-forwarded-for']}`);
    response.writeHead(200).end('{}');
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
});
afterEach(async () => {
  await endAll();
  api.closeAllConnections();
  api.close();
});

const started = async (env: Readonly<Record<string, string>>): Promise<string> => {
  const line = await start('boot', { ...good.boot, ...env }).says('"message":"listening"');
  return `http://127.0.0.1:${JSON.parse(line).port}`;
};
const statusOf = (base: string, path: string, headers = {}) =>
  fetch(`${base}${path}`, { headers }).then(({ status }) => status);

test('with the address of the API’s listener, and from the sender that its proxy names', async () => {
  const { port } = api.address() as AddressInfo;
  const base = await started({
    TEMPER_BOOT_RAMDISK_API_URL: `http://127.0.0.1:${port}/`,
    TEMPER_TRUSTED_PROXIES: '127.0.0.0/8',
  });
  expect(await statusOf(base, '/v1/lookup?addresses=a', { 'x-forwarded-for': '192.0.2.7' })).toBe(200);
  expect(await statusOf(base, '/v1/nodes')).toBe(404);
  expect(asked).toEqual(['GET /v1/lookup?addresses=a from 192.0.2.7, 127.0.0.1']);
});

test('not without it', async () => {
  const base = await started({});
  expect(await statusOf(base, '/v1/lookup?addresses=a')).toBe(404);
});
