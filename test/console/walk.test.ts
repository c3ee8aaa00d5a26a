/** Every page as every persona: it says what the API says to that caller and no more, and no text that others wrote becomes markup. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { type ConsoleWorld, consoleWorld, pagesOf, webhookOfWorld } from '../support/console-world';
import { marked, markTexts } from '../support/marked-texts';
import { type Persona, personas } from '../support/world';

let api: TestApi;
let pages: TestConsole;
let world: ConsoleWorld;
let marks: readonly string[];

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  world = await consoleWorld(api);
  marks = await markTexts(api, world);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const allCallers = (Object.keys(personas) as (keyof typeof personas)[]).filter((who): who is Persona => who !== 'stranger-roleless'); // biome-ignore format: one row

/** Where the API has what a page is about, by the first part of its address. */
const subjects: Readonly<Record<string, string>> = {
  '': '/temper/v1/runs',
  inbox: '/temper/v1/runs',
  nodes: '/v1/nodes',
  runs: '/temper/v1/runs',
  rollouts: '/temper/v1/rollouts',
  runbooks: '/v1/runbooks',
  allocations: '/v1/allocations',
  audit: '/temper/v1/audit',
  notifications: '/temper/v1/webhooks',
};

const bodyOf = (search: string) => {
  const { runbook, verb } = Object.fromEntries(new URLSearchParams(search));
  return { runbook, target: verb };
};

/** What the API answers to the question of a page; undefined for pages about nothing of the API's. */
const apiStatus = async (who: Persona, address: string): Promise<number | undefined> => {
  const { pathname, search } = new URL(address, 'http://console');
  const [, section = '', ident, more] = pathname.split('/');
  if (more === 'plan') return (await api.as(who, 'POST', `/temper/v1/nodes/${ident}/plan`, { body: bodyOf(search) })).status; // biome-ignore format: one line
  if (more === 'compare') return (await api.as(who, 'GET', `/temper/v1/runbooks/${ident}/revisions/1`)).status;
  if (section === 'audit' && ident === 'rule') return undefined;
  if (section === 'audit' && ident === 'timeline') return (await api.as(who, 'GET', `/v1/nodes/${new URLSearchParams(search).get('node')}`)).status; // biome-ignore format: one line
  if (section === 'audit') return (await api.as(who, 'GET', `/temper/v1/audit${search}`)).status;
  const subject = subjects[section];
  if (subject === undefined) return undefined;
  return (await api.as(who, 'GET', ident === undefined || ident === 'new' ? subject : `${subject}/${ident}`)).status;
};

/** All that the API says to a caller of that world. */
const saidTo = async (who: Persona): Promise<string> => {
  const lists = ['/v1/nodes/detail', '/temper/v1/runs?state=any', '/v1/runbooks?detail=true', '/v1/allocations', '/temper/v1/rollouts', '/temper/v1/audit',
    '/temper/v1/webhooks', `/temper/v1/webhooks/${webhookOfWorld}/deliveries`, '/temper/v1/ramdisks', '/temper/v1/policy/history', '/temper/v1/windows', '/temper/v1/disruption-budgets', '/temper/v1/firmware', '/temper/v1/images', '/v1/conductors?detail=true', '/temper/v1/recovery',
    '/temper/v1/summary', `/temper/v1/rollouts/${world.rollout}`, `/temper/v1/rollouts/${world.rollout}/targets`, '/temper/v1/runbooks/CUSTOM_RESTART/revisions',
    '/temper/v1/runbooks/CUSTOM_RESTART/revisions/1', '/temper/v1/runbooks/CUSTOM_RESTART/revisions/2', '/v1/runbooks/CUSTOM_RESTART']; // biome-ignore format: a list
  const nodes = [world.parked, world.retrying, world.failed].flatMap(({ node, run }) => [
    `/temper/v1/runs/${run}`, `/temper/v1/events?node=${node}&limit=200`, `/temper/v1/events?run=${run}&limit=200`, `/temper/v1/audit?node=${node}`,
    `/v1/nodes/${node}/inventory`, `/v1/nodes/${node}/vifs`, `/temper/v1/rollouts/${world.rollout}/targets?node=${node}`, `/temper/v1/nodes/${node}/freezes`, `/v1/nodes/${node}/ports?detail=true`,
    `/v1/nodes/${node}/bios`, `/v1/nodes/${node}/firmware`, `/v1/nodes/${node}`]); // biome-ignore format: a list
  const said = await Promise.all([...lists, ...nodes].map((path) => api.as(who, 'GET', path)));
  const body = { runbook: 'CUSTOM_RESTART', target: 'service' };
  said.push(await api.as(who, 'POST', '/temper/v1/nodes/rack-1/plan', { body }));
  return said.map(({ status, text }) => (status < 400 ? text : '')).join('\n');
};

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** What of others a page shows: ids, marked texts, names of projects and of nodes. */
const shownBy = (text: string): string[] => {
  // Forms have keys of their own. A page that reads the trail adds a row with the id of its request.
  const plain = decodeURIComponent(text.replaceAll(/name="key" value="[^"]*"|\breq-[0-9a-f-]{36}/g, '').replaceAll(/%(?![0-9a-f]{2})/gi, ''));
  const found = [uuid, marked, /\bproject-(?:owner|lessee|stranger)\b/g, /\brack-\d\b/g].map((what) => plain.match(what) ?? []);
  return [...new Set(found.flat())];
}; // biome-ignore format: short lines

test('every page has an address in the walk', () => {
  const text = readFileSync(resolve(__dirname, '../../src/console/routes.ts'), 'utf8');
  const routes = [...text.matchAll(/\bget: '([^']+)'/g)].map(([, path]) => path!);
  const patterns = routes.map((path) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/?]+')}(?:\\?|$)`));
  expect(routes.length).toBeGreaterThan(15);
  expect(routes.filter((_, at) => !pagesOf(world).some((address) => patterns[at]!.test(address)))).toEqual([]);
});

const seenMarks = new Set<string>();

test.each(allCallers)('to %s pages say what the API says and no more, and no text becomes markup', async (who) => {
  const [browser, said] = [await pages.as(who), await saidTo(who)];
  for (const address of pagesOf(world)) {
    const { status, text } = await browser.get(address);
    const wanted = await apiStatus(who, address);
    if (wanted !== undefined) expect({ address, status }).toEqual({ address, status: wanted });
    expect({ address, markup: text.match(/<script>|<img|\son[a-z]+=/g) }).toEqual({ address, markup: null });
    const shown = shownBy(text);
    for (const one of shown) if (marks.includes(one)) seenMarks.add(one);
    const more = shown.filter(
      (one) => !said.includes(one.replaceAll('&lt;', '<')) && !decodeURIComponent(address).includes(one),
    );
    expect({ address, more }).toEqual({ address, more: [] });
  }
});

test('texts of all kinds were on pages', () => {
  expect(marks.filter((mark) => !seenMarks.has(mark))).toEqual([]);
});

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
