/** The Overview: what it shows to whom of incidents, figures, racks, runs and failures; calm, empty, large and without an API. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld } from '../support/console-world';
import { happened } from '../support/happenings';

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

/** A console before an API of its own, for worlds that differ in the whole. */
const elsewhere = async (work: (api: TestApi, pages: TestConsole) => Promise<void>): Promise<void> => {
  const own = await startTestApi();
  const shown = await startTestConsole(own.url);
  try {
    await work(own, shown);
    expect(shown.faults).toEqual([]);
  } finally {
    await shown.close();
    await own.close();
  }
};

const partOf = (text: string, start: RegExp, end: string): string => {
  const at = text.search(start);
  return at < 0 ? '' : text.slice(at, text.indexOf(end, at));
};
const plain = (text: string): string =>
  text
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,.])/g, '$1');

const freezesIn = async (): Promise<string[]> =>
  (await api.as('operator', 'GET', '/temper/v1/freezes')).body.freezes.map(({ node_name }: { node_name: string }) => node_name).sort(); // biome-ignore format: one row

test('five BMCs of one feed are one incident, which names what they share, since when and whose they are', async () => {
  const { status, text } = await (await pages.as('operator')).get('/');
  expect(status).toBe(200);
  const strip = plain(partOf(text, /<li id="incident-/, '<div id='));
  expect(strip).toMatch(/▲ Rack r3, feed A: 5 BMCs stopped answering (?:at once|within \d+ s) since \d\d:\d\d UTC/);
  expect(strip).toContain('blade-1, blade-2, blade-3, blade-4, blade-5.');
  expect(strip).toContain('None of them is leased.');
  expect(strip).toContain('Freeze the 5');
  expect(text).not.toContain('All clear');
});

test('the five are frozen by one form, and the page says what was done', async () => {
  const browser = await pages.as('operator');
  const { text } = await browser.get('/');
  const items = /name="items" value="([^"]+)"/.exec(partOf(text, /<li id="incident-/, '</li>'))![1]!;
  const form = { of: 'nodes', what: 'freeze', items, from: '/', key: 'freeze-the-five' };
  const done = await browser.post('/inbox/acts', { ...form, reason: 'a dead feed' });
  expect(done.to).toMatch(/^\/\?will=Done%20on%205%20nodes\.&proof=/);
  expect(await freezesIn()).toEqual(['blade-1', 'blade-2', 'blade-3', 'blade-4', 'blade-5']);
  const after = (await browser.get(done.to!)).text;
  expect(after).toContain('role="status"');
  expect(after).toContain('Done on 5 nodes.');
  expect(plain(partOf(after, /<li id="incident-/, '</li>'))).toContain('frozen');
  expect(after).not.toContain('Freeze the 5');
  // The same form sent again freezes nothing twice.
  await browser.post('/inbox/acts', { ...form, reason: 'a dead feed' });
  expect(await freezesIn()).toHaveLength(5);
});

test('a caller whom the rule refuses sees the incident without the act, and sending it changes nothing', async () => {
  await api.sql`delete from freezes`;
  const browser = await pages.as('owner-member');
  const { text } = await browser.get('/');
  expect(text).toContain('5 BMCs stopped answering');
  expect(text).not.toContain('Freeze the 5');
  const [{ uuid } = { uuid: '' }] = await api.sql<{ uuid: string }[]>`select uuid from nodes where name = 'blade-1'`;
  const refused = await browser.post('/inbox/acts', { of: 'nodes', what: 'freeze', items: uuid, reason: 'x', from: '/' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('Done on 0 of 1');
  expect(refused.text).toContain('temper:freeze:create');
  expect(await freezesIn()).toEqual([]);
}); // biome-ignore format: one row

test('the figures are those of the API, and each leads to its list', async () => {
  const { text } = await (await pages.as('operator')).get('/');
  const nodes = await api.sql<{ failing: boolean; name: string }[]>`select name, fault is not null or provision_state like '%failed' as failing from nodes`;
  const figures = plain(partOf(text, /<ul class="figures"/, '</ul>'));
  expect(figures).toContain(`Healthy nodes ${nodes.filter(({ failing }) => !failing).length} ▲ 6 failing of ${nodes.length}; 5 without answer`);
  for (const href of ['/nodes', '/nodes?provision_state=active', '/runs?state=succeeded', '/runs?state=failed', '/runs?verb=active&amp;state=succeeded'])
    expect(text).toContain(`<a href="${href}">`);
  expect(figures).toMatch(/Median deploy 4 min \d+ s|Median deploy 3 min \d+ s/);
  const [{ failed } = { failed: 0 }] = await api.sql<{ failed: number }[]>`
    select count(*)::int as failed from runs where state = 'failed' and finished_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '6 days'`;
  expect(figures).toContain(`Failed runs, 7 days ${failed} `);
}); // biome-ignore format: one row

test('each chart has its table', async () => {
  const { text } = await (await pages.as('operator')).get('/');
  const charts = text.match(/<svg class="(?:spark|parts|days)"/g)!;
  expect(charts).toHaveLength(6);
  expect(text.match(/Open as table/g)).toHaveLength(charts.length + 1);
  const table = partOf(text, /<details id="failures-table"/, '</details>');
  for (const cause of ['BMC job failed', 'BMC did not obey', 'BMC did not answer', 'other causes'])
    expect(table).toContain(cause);
  const [{ total } = { total: 0 }] = await api.sql<{ total: number }[]>`
    select count(*)::int as total from runs where state in ('failed', 'aborted') and finished_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '14 days'`;
  const cells = [...table.matchAll(/<td(?: data-label="[^"]*")?>(\d+)<\/td>/g)].map(([, count]) => Number(count));
  expect(cells.reduce((all, one) => all + one, 0)).toBe(total);
}); // biome-ignore format: one row

test('a rack shows each node with a shape, a name and a word, the highest unit on top', async () => {
  const { text } = await (await pages.as('operator')).get('/');
  expect(plain(text)).toContain('nodes in 3 racks');
  const rack = partOf(text, /<section class="rack" aria-label="Rack r3"/, '</section>');
  expect([...rack.matchAll(/<b>([^<]+)<\/b> <span>([^<]+)</g)].map(([, name, word]) => `${name} ${word}`)).toEqual([
    'blade-8 free',
    'blade-7 free',
    'blade-6 free',
    'blade-5 no answer',
    'blade-4 no answer',
    'blade-3 no answer',
    'blade-2 no answer',
    'blade-1 no answer',
  ]);
  expect(rack).toContain('href="/nodes/blade-8"');
  expect(partOf(text, /aria-label="Rack r2"/, '</section>')).toContain('clean hold');
});

test('nodes are counted by class, feed and owner as well, and an unknown division is racks', async () => {
  const browser = await pages.as('operator');
  const byClass = plain(partOf((await browser.get('/?by=class')).text, /<ul class="cells"/, '</ul>'));
  expect(byClass).toMatch(/compute ▲ 5 of \d+ failing/);
  expect(plain(partOf((await browser.get('/?by=feed')).text, /<ul class="cells"/, '</ul>'))).toContain('A ▲ 5 of 8');
  expect((await browser.get('/?by=owner')).text).toContain('href="/nodes?owner=project-owner"');
  expect((await browser.get('/?by=%3Cscript%3E')).text).toContain('aria-label="Rack r3"');
});

test('runs under way show what they took beside what such runs usually take', async () => {
  const { text } = await (await pages.as('operator')).get('/');
  const rows = partOf(text, /<ol class="gantt-rows"/, '</ol>');
  expect(rows).toContain(`href="/runs/${world.parked.run}"`);
  expect(rows).toMatch(/parked for 1\d min/);
  await api.sql`update runs set verb = 'active' where id = ${world.retrying.run}`;
  const { text: after } = await (await pages.as('operator')).get('/');
  expect(partOf(after, /<ol class="gantt-rows"/, '</ol>')).toMatch(/retrying for 1\d min, usually \d min/);
  await api.sql`update runs set verb = 'service' where id = ${world.retrying.run}`;
});

test('a lessee sees its own nodes, runs and failures, and nothing of the rest', async () => {
  const { text } = await (await pages.as('lessee-member')).get('/');
  expect(text).toContain('rack-1');
  for (const other of ['blade-', 'held-1', 'rack-4', 'Redacted', 'project-owner']) expect(text).not.toContain(other);
  expect(plain(partOf(text, /<ul class="figures"/, '</ul>'))).toMatch(/Healthy nodes 2 ▲ 1 failing of 3;/);
});

test('no page of charts has styles or scripts of its own', async () => {
  const { text } = await (await pages.as('operator')).get('/');
  expect(text.match(/\sstyle=|<style|<script(?! defer src="\/assets)|\son[a-z]+="/g)).toBeNull();
});

test('an event makes an open page fetch its part, without the frame', async () => {
  const browser = await pages.as('operator');
  expect((await browser.get('/')).text).toContain('sse-connect="/live"');
  await api.sql`update nodes set provision_state = 'active' where name = 'blade-8'`;
  await happened(api, world.parked, 'step.noted', { note: 'x' });
  const part = (await browser.get('/', { 'hx-request': 'true' })).text;
  expect(partOf(part, /aria-label="Rack r3"/, '</section>')).toContain('<b>blade-8</b> <span>in use<');
  expect(part).toMatch(/data-says="blade-8: in use"/);
  await api.sql`update nodes set provision_state = 'available' where name = 'blade-8'`;
});

test('a calm system says so with a picture, and has no incident and no decision', () =>
  elsewhere(async ({ sql }, shown) => {
    await sql`insert into nodes (name, driver, provision_state, power_state) values ('n-1', 'redfish', 'active', 'power on')`;
    const { status, text } = await (await shown.as('operator')).get('/');
    expect(status).toBe(200);
    expect(text).toContain('All clear');
    expect(text).toContain('<svg class="calm"');
    expect(text).toContain('No open runs');
    expect(text).toContain('No failures in two weeks');
    expect(plain(text)).toContain('No decisions');
    // No rack is known: the nodes are a list.
    expect(text).toContain('class="units plain"');
  }));

test('a node that failed without a fault is no calm, and leads to the inbox', () =>
  elsewhere(async ({ sql }, shown) => {
    await sql`insert into nodes (name, driver, provision_state, power_state) values ('n-1', 'redfish', 'deploy failed', 'power on')`;
    const browser = await shown.as('operator');
    const { text } = await browser.get('/');
    expect(text).not.toContain('All clear');
    expect(text).toContain('<a href="/inbox#failing">1 failing node</a>');
    expect((await browser.get('/inbox')).text).toContain('Failing nodes <span class="muted">1</span>');
  }));

test('only available nodes are counted as free, and no rack leads to a search that is refused', () =>
  elsewhere(async ({ sql }, shown) => {
    await sql`insert into nodes (name, driver, provision_state, power_state, properties)
      select 'n-' || n, 'redfish', case when n <= 12 then 'enroll' else 'available' end, 'power off', jsonb_build_object('rack', chr(97 + n % 12))
      from generate_series(1, 24) n`;
    const cells = partOf((await (await shown.as('operator')).get('/')).text, /<ul class="cells"/, '</ul>');
    expect(plain(cells)).toContain('a ○ 1 of 2 free');
    expect(cells).not.toContain('href=');
  }));

test('an empty installation gives three steps with one button each, and the first one enrols a node', () =>
  elsewhere(async (own, shown) => {
    const browser = await shown.as('operator');
    const { text } = await browser.get('/');
    const steps = partOf(text, /<ol class="steps"/, '</ol>');
    expect(steps.match(/<li /g)).toHaveLength(3);
    for (const says of ['Enrol a node', 'See allocations', 'New runbook']) expect(steps).toContain(says);
    const fields = { name: 'first', driver: 'redfish', address: 'https://192.0.2.9', user: 'root', password: 'a secret' };
    const wrong = await browser.post('/nodes/enrol', { ...fields, name: 'no/name' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('value="https://192.0.2.9"');
    expect(wrong.text).not.toContain('a secret');
    const { to } = await browser.post('/nodes/enrol', fields);
    expect(to).toMatch(/^\/nodes\/[0-9a-f-]{36}$/);
    const [node] = await own.sql`select name, driver, provision_state from nodes`;
    expect(node).toMatchObject({ name: 'first', driver: 'redfish', provision_state: 'enroll' });
    expect((await browser.get('/')).text).not.toContain('No nodes yet');
  })); // biome-ignore format: one row

test('a project without nodes learns how it gets one, and enrols none', async () => {
  const { text } = await (await pages.as('lessee-reader')).get('/');
  expect(text).not.toContain('No nodes yet');
  await elsewhere(async (_, shown) => {
    const reader = (await (await shown.as('lessee-reader')).get('/')).text;
    expect(reader).toContain('1. Get a node');
    expect(reader).not.toContain('action="/nodes/enrol"');
    expect(reader).not.toContain('href="/runbooks/new"');
  });
});

test('many racks are a heat map that counts, and no node of a large fleet is listed', () =>
  elsewhere(async ({ sql }, shown) => {
    await sql`insert into nodes (name, driver, provision_state, power_state, properties)
      select 'n-' || n, 'redfish', case when n <= 4 then 'clean failed' else 'active' end, 'power on', jsonb_build_object('rack', 'r' || lpad((n % 200)::text, 3, '0'))
      from generate_series(1, 2000) n`;
    const browser = await shown.as('operator');
    const { text } = await browser.get('/');
    const cells = partOf(text, /<ul class="cells"/, '</ul>');
    expect(cells.match(/<li /g)).toHaveLength(120);
    expect(plain(cells)).toContain('r001 ▲ 1 of 10 failing');
    expect(plain(cells)).toContain('r009 ● 10 of 10 in use');
    expect(cells).toContain('class="heat warm-2" href="/search?q=r001"');
    expect(text).not.toContain('class="unit ');
    const next = /<a class="button" href="([^"]+)">More racks/.exec(text)![1]!.replaceAll('&amp;', '&');
    expect((await browser.get(next)).text).toContain('r120');
  }));

/** An API that takes each request and never answers. */
const hungApi = async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

test('an API that hangs gives a page that says so and loads itself again; a part and a form do not', async () => {
  const hung = await hungApi();
  const shown = await startTestConsole(hung.url, { answerLimitMs: 200 });
  try {
    const browser = shown.browser();
    browser.cookie = (await pages.as('operator')).cookie;
    const page = await browser.get('/');
    expect(page.status).toBe(503);
    expect(page.text).toContain('The API did not answer: it took too long.');
    expect(page.text).toContain('This page loads itself again every 5 seconds.');
    expect(page.headers.get('refresh')).toBe('5');
    const part = await browser.get('/', { 'hx-request': 'true' });
    expect([part.status, part.headers.get('refresh')]).toEqual([503, null]);
  } finally {
    await shown.close();
    hung.close();
  }
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
