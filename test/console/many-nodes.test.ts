/** Changes of many nodes: chosen, previewed by rule, made by the IDs of the preview, with an answer for each node. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  await addWorker(api.sql);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

let made = 0;
const makeNode = async (columns: Readonly<Record<string, unknown>> = {}): Promise<{ name: string; uuid: string }> => {
  const row = { name: `many-${++made}`, driver: 'fake-hardware', provision_state: 'available', owner, ...columns };
  const [node] = await api.sql<{ name: string; uuid: string }[]>`
    insert into nodes ${api.sql(row as never)} returning name, uuid`;
  return node!;
};

const address = (nodes: readonly string[], more: Readonly<Record<string, string>> = {}): string =>
  `/many-nodes?${new URLSearchParams([...nodes.map((node) => ['node', node]), ...Object.entries(more)])}`;
const get = async (who: Persona, at: string) => (await pages.as(who)).get(at);
const itemsIn = (html: string): string | undefined => /name="items" value="([^"]*)"/.exec(html)?.[1];
const maintained = async (): Promise<string[]> =>
  (await api.sql<{ name: string }[]>`select name from nodes where maintenance and name like 'many-%' order by id`).map(({ name }) => name); // biome-ignore format: one line

test('the preview counts who will and who is refused and why, and changes nothing', async () => {
  const [one, other, hidden] = [await makeNode(), await makeNode({ owner: 'project-next', lessee: owner }), await makeNode({ owner: 'project-next' })]; // biome-ignore format: one row
  const reply = await get('owner-manager', address([one.name, other.name, hidden.name], { change: 'owner', project: 'x', reason: 'sold' })); // biome-ignore format: one line
  expect(reply.status).toBe(200);
  expect(reply.text).toContain('0 will, 3 refused');
  expect(itemsIn(reply.text)).toBeUndefined();
  const seen = await get('owner-manager', address([one.name, hidden.name], { change: 'maintenance-on', reason: 'a fan' })); // biome-ignore format: one line
  expect(seen.text).toContain('1 will, 1 refused');
  expect(seen.text).toContain('could not be found');
  expect(itemsIn(seen.text)).toBe(one.uuid);
  expect(await maintained()).toEqual([]);
});

test('the change is made on the nodes of the preview, whatever they are called by then, once for a form sent twice', async () => {
  const [one, other] = [await makeNode(), await makeNode({ reservation: null })];
  const browser = await pages.as('owner-manager');
  const seen = await browser.get(
    address([one.name, other.name], { change: 'maintenance-on', reason: 'rack r3 moves' }),
  );
  await api.sql`update nodes set name = ${`${one.name}-old`} where uuid = ${one.uuid}`;
  const stolen = await makeNode({ name: one.name });
  const form = {
    items: itemsIn(seen.text)!,
    change: 'maintenance-on',
    project: '',
    reason: 'rack r3 moves',
    key: 'k-1',
  };
  const done = await browser.post('/many-nodes', form);
  const again = await browser.post('/many-nodes', form);
  for (const { status, text } of [done, again])
    expect([status, text]).toEqual([200, expect.stringContaining('Set maintenance: 2 of 2 nodes')]);
  expect(await api.sql`select maintenance from nodes where uuid = ${stolen.uuid}`).toEqual([{ maintenance: false }]);
  expect(await maintained()).toEqual([`${one.name}-old`, other.name]);
  const request = /href="(\/audit\?request=[^"]+)"/.exec(done.text)?.[1];
  const trail = await get('system-reader', request!);
  expect(trail.text.match(/rack r3 moves/g)!.length).toBeGreaterThanOrEqual(3);
});

test('each node has its answer on the page, and a refusal names its reason', async () => {
  const [one, gone] = [await makeNode(), await makeNode()];
  const browser = await pages.as('owner-manager');
  const seen = await browser.get(address([one.name, gone.name], { change: 'maintenance-on', reason: 'x' }));
  await api.sql`update nodes set owner = 'project-next' where uuid = ${gone.uuid}`;
  const done = await browser.post('/many-nodes', { items: itemsIn(seen.text)!, change: 'maintenance-on', reason: 'x' });
  expect(done.text).toContain('Set maintenance: 1 of 2 nodes');
  expect(done.text).toContain('The API refused 1.');
  expect(done.text).toContain('1 refused:</b> The node could not be found.');
  expect(done.text).toContain(`>${one.name}</a>`);
});

test('all nodes of a filter can be chosen, and more than 500 are cut, which the page says', async () => {
  await api.sql`
    insert into nodes (name, driver, owner, resource_class) select 'class-' || n, 'fake-hardware', ${owner}, 'bulk' from generate_series(1, 501) n`;
  const reply = await get('owner-manager', '/many-nodes?all=yes&resource_class=bulk&change=maintenance-on&reason=x');
  expect(reply.text).toContain('You selected more than 500 nodes.');
  expect(reply.text).toContain('500 will, 0 refused');
  expect(itemsIn(reply.text)!.split(',')).toHaveLength(500);
  const sent = await (await pages.as('owner-manager')).post('/many-nodes', { items: itemsIn(reply.text)!, change: 'maintenance-on', reason: 'x' }); // biome-ignore format: one line
  expect(sent.text).toContain('Set maintenance: 500 of 500 nodes');
});

test('without a reason the form keeps the choice and says so in the field; without nodes it leads to the list', async () => {
  const node = await makeNode();
  const reply = await get('owner-manager', address([node.name], { change: 'power-off' }));
  expect(reply.status).toBe(400);
  expect(reply.text).toMatch(/name="reason"[^>]*aria-invalid="true"/);
  expect(reply.text).toContain('<option value="power-off" selected>');
  expect((await get('owner-manager', '/many-nodes')).text).toContain('No nodes selected');
  const browser = await pages.as('owner-manager');
  expect((await browser.post('/many-nodes', { items: '', change: 'power-off', reason: 'x' })).to).toBe('/nodes');
  expect((await browser.post('/many-nodes', { items: node.uuid, change: 'explode', reason: 'x' })).to).toBe('/nodes');
});

test('a reader sees that it may change nothing, and a form of its own changes nothing', async () => {
  const node = await makeNode({ lessee });
  const seen = await get('owner-reader', address([node.name], { change: 'maintenance-on', reason: 'x' }));
  expect(seen.text).toContain('0 will, 1 refused');
  const sent = await (await pages.as('owner-reader')).post('/many-nodes', { items: node.uuid, change: 'maintenance-on', reason: 'x' }); // biome-ignore format: one line
  expect(sent.status).toBe(409);
  expect(await api.sql`select maintenance from nodes where uuid = ${node.uuid}`).toEqual([{ maintenance: false }]);
});

test('the list offers the change for the ticked nodes and for all of its filters', async () => {
  const { text } = await get('owner-manager', '/nodes?resource_class=bulk');
  expect(text).toMatch(/<button type="submit" formaction="\/many-nodes">/);
  expect(text).toContain('href="/many-nodes?all=yes&amp;resource_class=bulk"');
  expect((await get('owner-manager', '/nodes')).text).not.toContain('all=yes');
});
