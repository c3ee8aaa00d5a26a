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

/** Every file that pages, and the styles among them, name. */
const assetsOf = async (text: string): Promise<string[]> => {
  const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"#]+)/g)].map(([, path]) => path!);
  const style = files.find((path) => path.endsWith('.css'))!;
  const fonts = [...(await (await fetch(`${pages.url}${style}`)).text()).matchAll(/url\("(\/assets\/[^"]+)"\)/g)];
  return [...new Set([...files, ...fonts.map(([, path]) => path!)])];
};

test('all assets together take 150 kB at most, and a page 60 kB, over the wire', async () => {
  const browser = await pages.as('operator');
  const files = await assetsOf((await browser.get('/')).text);
  expect(files.map((path) => path.split('/').at(-1)!.split('.')[0]!).sort()).toEqual(
    ['htmx', 'icon', 'icons', 'inter', 'mono', 'morph', 'script', 'sse', 'style']); // biome-ignore format: one list
  const assets = await Promise.all(files.map((path) => transferred(path, '')));
  const all = assets.reduce((sum, one) => sum + one, 0);
  process.stdout.write(`the console's assets take ${all} bytes\n`);
  expect(all).toBeGreaterThan(60_000);
  expect(all).toBeLessThanOrEqual(150_000);
  const sizes = new Map<string, number>();
  for (const address of ['/sign-in', ...pagesOf(world)]) sizes.set(address, await transferred(address, browser.cookie));
  expect([...sizes].filter(([, bytes]) => bytes > 60_000)).toEqual([]);
  expect([...sizes].filter(([, bytes]) => bytes < 500)).toEqual([]);
});
