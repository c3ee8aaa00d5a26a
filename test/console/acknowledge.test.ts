/** Acknowledging an incident in the console: who sees the form, the person and the note, until the faults end. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
let pages: TestConsole;
beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.sql`delete from nodes`;
  for (const name of ['a', 'b', 'c']) {
    const properties = api.sql.json({ rack: 'r3', power_feed: 'A' });
    const row = { name, driver: 'redfish', owner, lessee, fault: 'power failure', properties };
    await api.sql`insert into nodes ${api.sql(row as never)}`;
  }
});

const formIn = (html: string): Record<string, string> => {
  const form = /<form method="post" action="\/incidents\/acknowledge">([\s\S]*?)<\/form>/.exec(html)?.[1] ?? '';
  return Object.fromEntries([...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])); // biome-ignore format: one line
};

test.each(['/', '/inbox'] as const)('%s offers the note, and shows person and note afterwards', async (page) => {
  const browser = await pages.as('operator');
  const form = formIn((await browser.get(page)).text);
  expect(form).toMatchObject({ node: expect.any(String), until: expect.any(String), from: page });
  const sent = await browser.post('/incidents/acknowledge', { ...form, note: 'feed A is <b>off</b>' });
  expect(sent.status).toBe(303);
  expect((await browser.get(sent.to!)).text).toContain('Acknowledged on 3 nodes.');
  for (const who of ['owner-reader', 'system-reader'] as const)
    for (const at of ['/', '/inbox']) {
      const { text } = await (await pages.as(who)).get(at);
      expect(text).toContain('feed A is &lt;b>off&lt;/b>');
      expect(text).toContain('by user-of-system');
    }
});

test.each<[Persona, boolean]>([
  ['owner-member', true],
  ['owner-reader', false],
  ['lessee-manager', false],
])('%s is offered it: %s', async (who, offered) => {
  const browser = await pages.as(who);
  for (const page of ['/', '/inbox']) {
    const { status, text } = await browser.get(page);
    expect(status).toBe(200);
    expect(formIn(text).node !== undefined).toBe(offered);
  }
});

test('a lessee does not read the note', async () => {
  const until = new Date(Date.now() + 60_000).toISOString();
  await api.as('operator', 'POST', '/temper/v1/incidents/acknowledge', { body: { node: 'a', until, note: 'the lessee broke it' } }); // biome-ignore format: one line
  const browser = await pages.as('lessee-manager');
  for (const page of ['/', '/inbox', '/nodes/a']) expect((await browser.get(page)).text).not.toContain('broke it');
});

test('it is gone with the faults, and a later fault is shown as not acknowledged', async () => {
  const until = new Date(Date.now() + 60_000).toISOString();
  await api.as('operator', 'POST', '/temper/v1/incidents/acknowledge', { body: { node: 'a', until, note: 'seen' } });
  const properties = api.sql.json({ rack: 'r3', power_feed: 'A' });
  await api.sql`insert into nodes ${api.sql({ name: 'd', driver: 'redfish', owner, fault: 'power failure', properties } as never)}`;
  const browser = await pages.as('operator');
  expect((await browser.get('/')).text).toContain('(3 of 4 nodes)');
  await api.sql`update nodes set fault = null`;
  await api.sql`update nodes set fault = 'power failure'`;
  const { text } = await browser.get('/');
  expect(text).toContain('/incidents/acknowledge');
  expect(text).not.toContain('seen (');
});

test('a refusal is shown, and the form keeps the note', async () => {
  const browser = await pages.as('operator');
  const form = formIn((await browser.get('/')).text);
  await api.sql`update nodes set fault = null`;
  const reply = await browser.post('/incidents/acknowledge', { ...form, note: 'too late' });
  expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('has no fault that began by')]);
  expect(reply.text).toContain('too late');
});
