/** The console's bounds: how much a first visit of each page transfers in a world with much to show. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld, pagesOf } from '../support/console-world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

/** A full list of nodes, a BIOS of 300 settings, and a rollout of 1,000 nodes in 25 racks. */
const crowd = async ({ sql }: TestApi, { parked, rollout }: ConsoleWorld): Promise<void> => {
  await sql`
    insert into nodes (name, driver, provision_state, power_state, resource_class, owner)
    select 'crowd-' || n, 'redfish', 'active', 'power on', 'compute', 'project-owner' from generate_series(1, 1000) n`;
  await sql`
    insert into node_details (node_uuid, bios, bios_at)
    select ${parked.node}, jsonb_agg(jsonb_build_object('name', 'Setting' || n, 'value', md5(n::text), 'created_at', now(), 'updated_at', now())), now()
    from generate_series(1, 300) n`;
  await sql`
    insert into rollout_counters (rollout, number, scope, value)
    select ${rollout}, n + 1, 'properties.rack', 'r' || n from generate_series(1, 25) n`;
  await sql`
    insert into rollout_targets (rollout, position, node_uuid, node_name, owner, wave, state, counters)
    select ${rollout}, id, uuid, name, owner, 1, 'pending', array[1, 2 + id::int % 25] from nodes where name like 'crowd-%'`;
};

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  world = await consoleWorld(api);
  await crowd(api, world);
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

/** Bytes of a body as they are sent to a browser that takes brotli, with the headers. */
const transferred = async (path: string, cookie: string): Promise<number> => {
  const headers = { cookie, 'accept-encoding': 'br' };
  const [reply] = (await once(get(`${pages.url}${path}`, { headers }), 'response')) as [IncomingMessage];
  let bytes = Buffer.byteLength(reply.rawHeaders.join('  '));
  for await (const chunk of reply) bytes += (chunk as Buffer).length;
  return bytes;
};

test('a first visit of any page transfers 60 kB at most', async () => {
  const browser = await pages.as('operator');
  const { text } = await browser.get('/');
  const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  expect(files).toHaveLength(5);
  const assets = (await Promise.all(files.map((path) => transferred(path, '')))).reduce((sum, one) => sum + one, 0);
  const most = 60_000;
  const sizes = new Map<string, number>();
  for (const address of ['/sign-in', ...pagesOf(world)]) sizes.set(address, assets + (await transferred(address, browser.cookie)));
  expect([...sizes].filter(([, bytes]) => bytes > most)).toEqual([]);
  expect(Math.min(...sizes.values())).toBeGreaterThan(10_000);
}); // biome-ignore format: short lines
