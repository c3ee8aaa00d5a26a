/** Pages of windows and disruption budgets: managers of a project add and remove, readers see, and a refusal keeps what was typed. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import type { Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});
beforeEach(() => api.sql`truncate project_windows, disruption_budgets`);

const night = { name: 'nights', from: '22:00', hours: '4', zone: 'Europe/Berlin', days: 'sat' };
const share = { limit: 'max_unavailable', amount: '10%', query: 'resource_class=gold,silver', description: 'the shop' };

test('a window is added, shown with its next opening, and removed; each act says so', async () => {
  const browser = await pages.as('lessee-manager');
  expect((await browser.get('/windows')).text).toContain('No windows');
  const added = await browser.post('/windows', night);
  expect(added.status).toBe(303);
  const { text } = await browser.get(added.to!);
  expect(text).toContain('The window nights is added.');
  expect(text).toContain('sat from 22:00 for 4 h, Europe/Berlin');
  const [, uuid] = /action="\/windows\/([0-9a-f-]{36})\/remove"/.exec(text)!;
  const removed = await browser.post(`/windows/${uuid}/remove`, {});
  expect((await browser.get(removed.to!)).text).toContain('The window is removed.');
  expect(await api.sql`select from project_windows`).toHaveLength(0);
});

test('a budget is added with its filter, shown with its nodes, and removed', async () => {
  await api.sql`insert into nodes (name, driver, owner, resource_class) select 'g-' || n, 'fake-hardware', 'project-owner', 'gold' from generate_series(1, 20) n`;
  const browser = await pages.as('owner-manager');
  await browser.get('/windows/budgets');
  const added = await browser.post('/windows/budgets', share);
  expect(added.status).toBe(303);
  const { text } = await browser.get(added.to!);
  expect(text).toContain('The disruption budget is added.');
  for (const shown of ['resource_class=gold,silver', 'at most 10% unavailable', 'the shop', '>20<', '>2<']) expect(text).toContain(shown);
  const [, uuid] = /action="\/windows\/budgets\/([0-9a-f-]{36})\/remove"/.exec(text)!;
  expect((await browser.post(`/windows/budgets/${uuid}/remove`, {})).status).toBe(303);
  expect(await api.sql`select from disruption_budgets`).toHaveLength(0);
}); // biome-ignore format: short lines

test.each<[string, Record<string, string>, string, string]>([
  ['/windows', { ...night, zone: 'Berlin' }, 'name="zone" value="Berlin"', 'must be a zone'],
  ['/windows', { ...night, hours: 'long' }, 'name="hours" value="long"', 'must be'],
  ['/windows', { name: 'x', from: '22:00', hours: '1', zone: 'UTC' }, 'name="name" value="x"', 'must name a day'],
  ['/windows', { ...night, name: 'two words' }, 'name="name" value="two words"', 'must hold letters'],
  ['/windows/budgets', { ...share, amount: 'few' }, 'name="amount" value="few"', 'must be'],
  ['/windows/budgets', { ...share, query: 'resource_class' }, 'resource_class</textarea>', 'must'],
  ['/windows/budgets', { ...share, query: 'colour=red' }, 'colour=red</textarea>', 'is nothing to choose nodes by'],
])('%s refuses %j in its field and keeps it', async (page, form, kept, says) => {
  const browser = await pages.as('owner-manager');
  await browser.get(page);
  const { status, text } = await browser.post(page, form);
  expect(status).toBe(400);
  expect(text).toContain(kept);
  expect(text).toMatch(new RegExp(`<small class="fault" role="alert">[^<]*${says}`));
}); // biome-ignore format: one case a row

test.each<[Persona, boolean, boolean]>([
  ['owner-admin', true, true],
  ['owner-manager', true, true],
  ['owner-member', false, false],
  ['owner-reader', false, false],
  ['operator', false, true],
  ['system-reader', false, false],
])('%s is offered what the rules admit (adding %s, removing %s), and the API refuses the rest', async (who, adds, removes) => {
  await (await pages.as('owner-manager')).get('/windows');
  const { body } = await api.as('owner-manager', 'POST', '/temper/v1/windows', { body: { name: 'n', days: ['sat'], from: '22:00', minutes: 60, zone: 'UTC' } });
  await api.as('owner-manager', 'POST', '/temper/v1/disruption-budgets', { body: { max_unavailable: 1 } });
  const browser = await pages.as(who);
  for (const page of ['/windows', '/windows/budgets']) {
    const { text } = await browser.get(page);
    expect({ page, adds: text.includes('>Add a ') }).toEqual({ page, adds });
    expect({ page, removes: text.includes('/remove"') }).toEqual({ page, removes });
  }
  expect((await browser.post('/windows', night)).status).toBe(adds ? 303 : who === 'operator' ? 403 : 403);
  expect((await browser.post(`/windows/${body.uuid}/remove`, {})).status).toBe(removes ? 303 : 403);
}); // biome-ignore format: one case a row

test.each<Persona>(['lessee-manager', 'stranger-admin'])('%s sees and removes none of another project', async (who) => {
  const { body } = await api.as('owner-manager', 'POST', '/temper/v1/windows', { body: { name: 'theirs', days: ['sat'], from: '22:00', minutes: 60, zone: 'UTC' } });
  const browser = await pages.as(who);
  expect((await browser.get('/windows')).text).not.toContain('theirs');
  expect((await browser.post(`/windows/${body.uuid}/remove`, {})).status).toBe(404);
  expect(await api.sql`select from project_windows`).toHaveLength(1);
}); // biome-ignore format: short lines

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
