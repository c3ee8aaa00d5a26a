/** The inbox: equal troubles are one card, its acts go to all of them, and a refusal ends only its own. */
import { startTestApi, type TestApi } from '../support/api';
import { startTestConsole, type TestConsole } from '../support/console';
import { consoleWorld } from '../support/console-world';
import { runningRun, type SeenRun } from '../support/happenings';

let api: TestApi;
let pages: TestConsole;
let alike: readonly SeenRun[];

const parked = async (name: string, error: string): Promise<SeenRun> => {
  const seen = await runningRun(api, { state: 'parked', cursor: 0, node_name: name, last_error: error });
  await api.sql`update nodes set name = ${name}, reservation = ${seen.run} where uuid = ${seen.node}`;
  await api.sql`insert into run_steps ${api.sql({ run_id: seen.run, index: 0, interface: 'power', step: 'reboot', args: api.sql.json({}), state: 'parked', last_error: error, attempt: 1 } as never)}`;
  return seen;
};

beforeAll(async () => {
  api = await startTestApi();
  pages = await startTestConsole(api.url);
  await consoleWorld(api);
  alike = [await parked('a-1', 'The BMC of a-1 was silent.'), await parked('a-2', 'The BMC of a-2 was silent.')];
  await parked('a-3', 'Another cause.');
}, 120_000);
afterAll(async () => {
  await pages?.close();
  await api?.close();
});

const cardOf = (text: string, id: string): string => {
  const at = text.indexOf(`id="${id}"`);
  const ends = [text.indexOf('<li class="card"', at), text.indexOf('</section>', at)].filter((end) => end > 0);
  return at < 0 ? '' : text.slice(at, Math.min(...ends));
};
const plain = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

test('equal decisions are one card that names the cause first and then the others', async () => {
  const { text } = await (await pages.as('owner-manager')).get('/inbox');
  const card = cardOf(text, `run-${alike[0]!.run}`);
  expect(card).toContain('<p class="cause">The BMC of a-1 was silent.</p>');
  expect(plain(card)).toMatch(/Same on\s+a-2/);
  expect(card).toContain('Retry step: all 2');
  expect(text).not.toContain(`id="run-${alike[1]!.run}"`);
  expect(plain(text)).toContain('Another cause.');
});

test('the act of a card goes to each of its runs with one reason, and the page says so', async () => {
  const browser = await pages.as('owner-manager');
  const { text } = await browser.get('/inbox');
  const items = /name="items" value="([^"]+)"/.exec(cardOf(text, `run-${alike[0]!.run}`))![1]!;
  expect(items).toBe(alike.map(({ run }) => `${run}:0`).join(','));
  const before = api.runs.operated.length;
  const done = await browser.post('/inbox/acts', { of: 'runs', act: 'retry', items, from: '/inbox', reason: 'a cable', key: 'k' });
  expect(done.to).toMatch(/^\/inbox\?will=Done%20on%202%20runs\.&proof=/);
  expect(api.runs.operated.slice(before)).toEqual(alike.map(({ run }) => expect.objectContaining({ run, act: 'retry', reason: 'a cable' })));
  expect((await browser.get(done.to!)).text).toContain('Done on 2 runs.');
  expect((await browser.get('/inbox?will=Call%20this%20number')).text).not.toContain('Call this number');
}); // biome-ignore format: one row

test('a refusal ends its own part only, and is shown with its reason', async () => {
  const browser = await pages.as('owner-manager');
  await browser.get('/inbox');
  const [first] = alike;
  const items = `${first!.run}:0,${first!.run.replace(/^./, (digit) => (digit === 'f' ? '0' : 'f'))}:0`;
  const { status, text } = await browser.post('/inbox/acts', {
    of: 'runs',
    act: 'retry',
    items,
    reason: 'x',
    key: 'k2',
  });
  expect(status).toBe(200);
  expect(text).toContain('Done on 1 of 2');
  expect(text).toContain('could not be found');
  const member = await pages.as('owner-member');
  await member.get('/inbox');
  const refused = await member.post('/inbox/acts', { of: 'runs', act: 'skip', items: `${first!.run}:0`, reason: 'x' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('temper:run:skip');
});

test('a form with unknown acts or objects asks the API for nothing', async () => {
  const browser = await pages.as('operator');
  await browser.get('/inbox');
  const before = [api.runs.operated.length, api.runs.sent.length, api.runs.started.length];
  const id = alike[0]!.run;
  const forms: readonly Readonly<Record<string, string>>[] = [
    { of: 'runs', act: 'explode', items: `${id}:0` },
    { of: 'runs', act: 'retry', items: '../../v1/nodes' },
    { of: 'nodes', what: 'verb', verb: 'unhold', items: `${id}/../x` },
    { of: 'nodes', what: 'nothing', items: alike[0]!.node },
    {},
  ];
  for (const form of forms)
    expect(await browser.post('/inbox/acts', { ...form, from: 'https://elsewhere.example.org' })).toMatchObject({ status: 303, to: '/inbox' });
  expect([api.runs.operated.length, api.runs.sent.length, api.runs.started.length]).toEqual(before);
}); // biome-ignore format: one row

test('runs on hold are a decision, and are released together', async () => {
  const browser = await pages.as('operator');
  const { text } = await browser.get('/inbox');
  const decisions = text.slice(text.indexOf('id="decisions"'), text.indexOf('id="failing"'));
  expect(plain(decisions)).toContain('On hold until it is released.');
  const [node] = await api.sql<{ uuid: string }[]>`select uuid from nodes where name = 'held-1'`;
  const [other] = await api.sql<{ uuid: string }[]>`select uuid from nodes where name = 'held-2'`;
  const card = [node!.uuid, other!.uuid].map((uuid) => cardOf(text, `node-${uuid}`)).find((one) => one !== '')!;
  expect(card).toContain('Release hold: all 2');
  const items = /name="items" value="([^"]+)"/.exec(card)![1]!;
  expect(items.split(',').sort()).toEqual([node!.uuid, other!.uuid].sort());
  const before = api.runs.sent.length;
  const done = await browser.post('/inbox/acts', { of: 'nodes', what: 'verb', verb: 'unhold', items, from: '/inbox', key: 'release' });
  expect(done.to).toMatch(/^\/inbox\?will=/);
  expect(api.runs.sent.length - before).toBe(2);
}); // biome-ignore format: one row

test('failing nodes that are alike are one card with the way out of it', async () => {
  const { text } = await (await pages.as('operator')).get('/inbox');
  const failing = text.slice(text.indexOf('id="failing"'));
  expect(plain(failing)).toMatch(/Failing nodes 6/);
  expect(plain(failing)).toMatch(/no answer blade-\d available, \d+ (?:s|min) ago The BMC does not answer\. Same on/);
  expect(failing).toContain('Leave maintenance: all 5');
  const lessee = (await (await pages.as('lessee-reader')).get('/inbox')).text;
  expect(lessee).not.toContain('blade-');
  expect(lessee).not.toContain('Redacted');
});

test('the oldest decision comes first', async () => {
  const { text } = await (await pages.as('operator')).get('/inbox');
  const times = [...text.slice(0, text.indexOf('id="failing"')).matchAll(/<li class="card" id="(?:run|node)-[\s\S]*?datetime="([^"]+)"/g)].map(([, at]) => at!);
  expect(times.length).toBeGreaterThan(3);
  expect(times).toEqual(times.toSorted());
}); // biome-ignore format: one row

test('the console failed in none of this', () => {
  expect(pages.faults).toEqual([]);
});
