/** Pages of webhooks: managers add, switch and remove their own, see deliveries, and a refusal keeps what was typed. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import type { Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  const settings = { webhookOrigins: ['https://hooks.example.org'], lookup: async () => ['192.0.2.7'] };
  api = await startTestApi({ settings, webhooks: true });
  pages = await startTestConsole(api.url);
});
afterAll(async () => {
  await pages?.close();
  await api?.close();
});
beforeEach(() => api.sql`delete from webhooks`);

const page = '/notifications';
const wanted = { url: 'https://hooks.example.org/t/42', kinds: 'run.*', description: 'on call' };
const secretIn = (text: string): string | undefined => /whsec_[A-Za-z0-9+/=]+/.exec(text)?.[0];

test('a webhook is added with a secret that is shown once, switched, and removed; each act says so', async () => {
  const browser = await pages.as('lessee-manager');
  expect((await browser.get(page)).text).toContain('No webhooks');
  const added = await browser.post(page, wanted);
  expect(added.status).toBe(200);
  expect(secretIn(added.text)).toHaveLength(50);
  const { text } = await browser.get(page);
  expect(secretIn(text)).toBeUndefined();
  for (const shown of [wanted.url, 'run.*', 'on call', 'project-lessee']) expect(text).toContain(shown);
  const [, uuid] = /href="\/notifications\/([0-9a-f-]{36})"/.exec(text)!;
  for (const [act, says] of [['disable', 'disabled'], ['enable', 'enabled']] as const) {
    const { to } = await browser.post(`${page}/${uuid}/${act}`, {});
    expect((await browser.get(to!)).text).toContain(`The webhook is ${says}.`);
  }
  const removed = await browser.post(`${page}/${uuid}/remove`, {});
  expect((await browser.get(removed.to!)).text).toContain('The webhook is removed.');
  expect(await api.sql`select from webhooks`).toHaveLength(0);
}); // biome-ignore format: short lines

test('its page shows what was sent, and how it went', async () => {
  const made = await api.as('owner-manager', 'POST', '/temper/v1/webhooks', {
    body: { url: wanted.url, kinds: ['run.*'], secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` },
  });
  await api.sql`
    insert into webhook_deliveries (webhook_uuid, event_seq, kind, state, attempts, status, error)
    values (${made.body.uuid}, 7, 'run.failed', 'failed', 12, 500, 'The receiver answered 500.')`;
  const { text } = await (await pages.as('owner-manager')).get(`${page}/${made.body.uuid}`);
  for (const shown of ['run.failed', 'The receiver answered 500.', '>12<', 'Disable']) expect(text).toContain(shown);
  expect((await (await pages.as('lessee-manager')).get(`${page}/${made.body.uuid}`)).status).toBe(404);
});

test.each([
  [{ ...wanted, url: 'https://elsewhere.example.org/x' }, 'elsewhere.example.org', 'is not among the origins'],
  [{ ...wanted, url: 'nonsense' }, 'value="nonsense"', 'must begin with https:// or http://'],
  [{ ...wanted, kinds: 'colour.*' }, wanted.url, 'a family such as run.*'],
])('a refusal of %j keeps what was typed', async (form, kept, says) => {
  const browser = await pages.as('owner-manager');
  await browser.get(page);
  const { status, text } = await browser.post(page, form);
  expect(status).toBe(400);
  for (const shown of [kept, says]) expect(text).toContain(shown);
  expect(secretIn(text)).toBeUndefined();
});

test.each<[Persona, number]>([
  ['owner-manager', 200],
  ['owner-admin', 200],
  ['operator', 200],
  ['owner-member', 403],
  ['lessee-reader', 403],
  ['system-reader', 403],
])('%s gets %i', async (who, status) => {
  const browser = await pages.as(who);
  const shown = await browser.get(page);
  expect(shown.status).toBe(status);
  expect((await browser.get('/')).text.includes('href="/notifications"')).toBe(status === 200);
  expect((await browser.post(page, wanted)).status).toBe(status);
});
