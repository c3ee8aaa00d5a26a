/** The frame of pages: navigation by rights, breadcrumbs, columns and views in the address, and a form that keeps what was refused. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld } from '../support/console-world';
import type { Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  world = await consoleWorld(api);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const menuIn = (text: string): string[] => {
  const menu = /<nav class="menu"[\s\S]*?<\/nav>/.exec(text)![0];
  return [...menu.matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href!);
};

const forTenants = ['/', '/inbox', '/nodes', '/allocations', '/runs', '/rollouts', '/runbooks', '/windows'];

test.each<[Persona, readonly string[]]>([
  ['operator', [...forTenants, '/notifications', '/audit', '/policy', '/system']],
  ['system-reader', [...forTenants, '/audit', '/policy', '/system']],
  ['owner-manager', [...forTenants, '/notifications']],
  ['lessee-reader', forTenants],
])('%s is shown the sections that its rights admit, and each opens', async (who, sections) => {
  const browser = await pages.as(who);
  const { text } = await browser.get('/');
  expect(menuIn(text)).toEqual(sections);
  for (const section of sections) expect({ section, status: (await browser.get(section)).status }).toEqual({ section, status: 200 });
}); // biome-ignore format: short lines

test('a section that is not in the menu is refused by its address all the same', async () => {
  const browser = await pages.as('owner-manager');
  expect((await browser.get('/audit')).status).toBe(403);
});

test('an API that refuses the question leaves a menu, and the page says what is wrong', async () => {
  const gone = await startTestConsole('http://127.0.0.1:9');
  try {
    const browser = gone.browser();
    browser.cookie = (await pages.as('operator')).cookie;
    const { status, text } = await browser.get('/nodes');
    expect(status).toBe(503);
    expect(text).toContain('The API is away');
    expect(menuIn(text)).toEqual(['/', '/inbox', '/runs', '/rollouts']);
  } finally {
    await gone.close();
  }
});

test('an API that does not answer an act loses nothing of its form, and the same key sends it again', async () => {
  const gone = await startTestConsole('http://127.0.0.1:9');
  try {
    const browser = gone.browser();
    browser.cookie = (await pages.as('operator')).cookie;
    await browser.get('/nodes');
    const { status, text } = await browser.post(`/runs/${world.parked.run}/retry`, { key: 'the-first-key', reason: 'a cable' });
    expect(status).toBe(503);
    expect(text).toContain('name="reason" value="a cable"');
    expect(text).toContain('name="key" value="the-first-key"');
  } finally {
    await gone.close();
  }
}); // biome-ignore format: short lines

test('breadcrumbs lead from a node of a rollout to the rollout and to all rollouts', async () => {
  const { text } = await (await pages.as('operator')).get(`/rollouts/${world.rollout}/targets/0`);
  const crumbs = /<nav class="crumbs"[\s\S]*?<\/nav>/.exec(text)![0];
  expect([...crumbs.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual(['/rollouts', `/rollouts/${world.rollout}`]);
  expect(crumbs).toContain('<span aria-current="page">rack-3</span>');
}); // biome-ignore format: short lines

const headsIn = (text: string): string[] =>
  [...text.matchAll(/<th scope="col"[^>]*>(?:<a [^>]*>)?([^<]+)/g)].map(([, title]) => title!);

test('the address chooses the columns, and links and the live part keep them', async () => {
  const browser = await pages.as('operator');
  expect(headsIn((await browser.get('/nodes')).text)).toEqual(['Name', 'State', 'Power', 'Trouble', 'Owner', 'Lessee', 'Class', 'In this state']);
  const { text } = await browser.get('/nodes?column=name&column=state&column=driver&column=no-such');
  expect(headsIn(text)).toEqual(['Name', 'State', 'Driver']);
  expect(text).toContain('hx-get="/nodes?column=name%2Cstate%2Cdriver"');
  expect(text).toMatch(/href="\/nodes\?sort_key=driver&amp;column=name%2Cstate%2Cdriver"/);
  expect(headsIn((await browser.get('/nodes?column=driver')).text)).toEqual(['Name', 'Driver']);
  expect((await browser.get('/nodes?column=%3Cscript%3E')).text).not.toContain('<script>');
}); // biome-ignore format: short lines

test('a view is an address, and the one that is shown is marked', async () => {
  const browser = await pages.as('operator');
  const marked = (text: string) => /<nav class="pills" aria-label="Views">[\s\S]*?<\/nav>/.exec(text)![0].match(/aria-current="true">([^<]+)/g);
  expect(marked((await browser.get('/nodes')).text)).toEqual(['aria-current="true">All']);
  const { text } = await browser.get('/nodes?provision_state=available&maintenance=false');
  expect(marked(text)).toEqual(['aria-current="true">Free']);
  expect(text).toContain('rack-4');
  expect(text).not.toContain('>rack-3<');
  expect(marked((await browser.get('/nodes?owner=project-owner')).text)).toEqual(['aria-current="true">All']);
}); // biome-ignore format: short lines

test('a table says how many rows there are in all, if the API counts them', async () => {
  const browser = await pages.as('operator');
  const [{ count } = { count: 0 }] = await api.sql<{ count: number }[]>`select count(*)::int as count from nodes`;
  expect((await browser.get('/nodes')).text).toContain(`<span>${count} rows</span>`);
  expect((await browser.get('/nodes?resource_class=compute')).text).toMatch(/<span>\d+ rows<\/span>/);
});

test('a filter that the API refuses says so in its field, and the form keeps all values', async () => {
  const browser = await pages.as('operator');
  const { status, text } = await browser.get('/audit?node=bmc-14&user=ann&verdict=refused');
  expect(status).toBe(404);
  expect(text).toMatch(/name="node" value="bmc-14"[^>]*aria-invalid="true"\/><small class="fault" role="alert">/);
  expect(text).toContain('name="user" value="ann"');
  expect(text).toContain('<option value="refused" selected');
  expect((await browser.get('/nodes?sort_key=no-such')).text).toContain('role="alert" class="notice bad"');
});

test('an act that the API refuses keeps its form, with the fault in its field', async () => {
  const browser = await pages.as('owner-manager');
  const address = `/rollouts/${world.rollout}/advance`;
  await browser.get(`/rollouts/${world.rollout}`);
  const fields = { key: 'a-key-of-its-own', reason: 'the <cable>', wave: '7' };
  const { status, text } = await browser.post(address, fields);
  expect(status).toBe(409);
  expect(text).toContain(`<form method="post" action="${address}"`);
  expect(text).toContain('name="reason" value="the &lt;cable>"');
  expect(text).toContain('<input type="hidden" name="wave" value="7"/>');
  expect(text).not.toContain('a-key-of-its-own');
  const empty = await browser.post(address, { reason: '', wave: '1' });
  expect(empty.status).toBe(400);
  expect(empty.text).toMatch(
    /name="reason"[^>]* value=""[^>]*aria-invalid="true"|name="reason"[^>]*aria-invalid="true"/,
  );
  const member = await pages.as('owner-member');
  const refused = await member.post(`/runs/${world.parked.run}/skip`, { reason: 'x' });
  expect(refused.status).toBe(403);
  expect(refused.text).not.toContain('Send again');
});

test('rows without a match offer to clear the filters', async () => {
  const { text } = await (await pages.as('operator')).get('/nodes?owner=no-such-project');
  expect(text).toContain('No rows match.');
  expect(text).toContain('<a class="button" href="/nodes">Clear filters</a>');
});

test('the style guide is a page of development starts only', async () => {
  expect((await (await pages.as('operator')).get('/styleguide')).status).toBe(404);
  const demo = [{ label: 'operator', user: 'operator', password: 'operator' }];
  const shown = await startTestConsole(api.url, { demo });
  try {
    const { status, text } = await (await shown.as('operator')).get('/styleguide');
    expect(status).toBe(200);
    expect(text).toContain('States: colour, shape, word, tint');
  } finally {
    await shown.close();
  }
});

test('every page has one polite live region', async () => {
  const browser = await pages.as('operator');
  for (const address of ['/', '/nodes', `/runs/${world.parked.run}`])
    expect((await browser.get(address)).text.match(/aria-live="polite"/g)).toHaveLength(1);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
