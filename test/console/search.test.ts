/** Search: what a caller finds, by what it types, and where each result leads. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld } from '../support/console-world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  world = await consoleWorld(api);
  await api.sql`insert into ports (node_uuid, address) values (${world.parked.node}, '52:54:00:00:00:07')`;
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

/** Addresses of results. */
const foundIn = (text: string): string[] => {
  const results = text.slice(text.indexOf('<div id="results"'), text.indexOf('</main>'));
  return [...results.matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href!);
};

const found = async (q: string): Promise<string[]> =>
  foundIn((await (await pages.as('operator')).get(`/search?q=${encodeURIComponent(q)}`)).text);

test('nodes are found by name, MAC address, serial number and rack', async () => {
  expect(await found('blade-1')).toEqual(['/nodes/blade-1']);
  expect(await found('525400000007')).toEqual(['/nodes/rack-1']);
  expect(await found('sn-003')).toEqual(['/nodes/blade-3']);
  expect(await found('r2')).toEqual(['/nodes/held-1', '/nodes/held-2']);
});

test('runs and rollouts are found by ID, runbooks by name, projects as the API says', async () => {
  expect(await found(world.parked.run.slice(0, 13))).toContain(`/runs/${world.parked.run}`);
  expect(await found(world.rollout)).toContain(`/rollouts/${world.rollout}`);
  expect(await found('custom_re')).toContain('/runbooks/CUSTOM_RESTART');
  expect(await found('project-owner')).toContain('/nodes?owner=project-owner');
});

test('commands are found by their words, as far as the rights go', async () => {
  expect(await found('rollout')).toEqual(['/rollouts', '/rollouts/new']);
  expect(await found('audit')).toEqual(['/audit']);
  const tenant = await pages.as('lessee-reader');
  expect(foundIn((await tenant.get('/search?q=audit')).text)).toEqual([]);
  expect(foundIn((await tenant.get('/search')).text)).toContain('/nodes');
});

test('a hidden object and a missing one look alike', async () => {
  const stranger = await pages.as('stranger-admin');
  const [hidden, missing] = [await stranger.get('/search?q=blade-1'), await stranger.get('/search?q=no-such')];
  for (const { status, text } of [hidden, missing]) {
    expect(status).toBe(200);
    expect(text).toContain('It doesn’t exist or you don’t have access.');
    expect(foundIn(text)).toEqual([]);
  }
});

test('a text that the API refuses says so in its field, and one letter asks for commands alone', async () => {
  const browser = await pages.as('operator');
  const long = await browser.get(`/search?q=${'x'.repeat(300)}`);
  expect(long.status).toBe(400);
  expect(long.text).toMatch(/aria-invalid="true"\/><small class="fault" role="alert">must have at most 255/);
  expect((await browser.get('/search?q=o')).status).toBe(200);
  const short = (await browser.get('/search?q=z')).text;
  expect(short).toContain('Type at least 2 characters.');
  expect(short).not.toContain('Nothing begins with');
  const { text } = await browser.get('/search?q=%3Cimg%20src%3Dx%3E');
  expect(text).not.toContain('<img');
});

test('the form of the frame works without scripts, and names what it is for', async () => {
  const { text } = await (await pages.as('operator')).get('/nodes');
  expect(text).toMatch(/<search><form class="search" action="\/search">/);
  expect(text).toMatch(/<input type="search" id="search" name="q"[^>]*aria-label="Search"/);
  expect(text).toContain('href="/search" aria-label="Search"');
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
