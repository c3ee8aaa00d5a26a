/** The list of runs: what each waits for and since when, several states at once, and the oldest first. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun, type SeenRun } from '../support/happenings';
import type { Persona } from '../support/world';

let api: TestApi;
const runs: Record<string, SeenRun> = {};
const minutesAgo = (many: number): Date => new Date(Date.now() - many * 60_000);

beforeAll(async () => {
  api = await startTestApi();
  const rows = [
    ['first', { state: 'parked', cursor: 1, created_at: minutesAgo(50) }],
    ['second', { state: 'waiting', created_at: minutesAgo(40) }],
    ['third', { state: 'running', cursor: 1, created_at: minutesAgo(30) }],
    ['fourth', { state: 'paused', created_at: minutesAgo(20) }],
    ['fifth', { state: 'failed', created_at: minutesAgo(10), finished_at: minutesAgo(5) }],
    ['sixth', { state: 'running', created_at: minutesAgo(4) }],
  ] as const;
  for (const [name, row] of rows) runs[name] = await runningRun(api, row);
  for (const name of ['first', 'third']) {
    const step = { run_id: runs[name]!.run, index: 1, interface: 'power', step: 'reboot', last_error: 'no answer' };
    const state = name === 'first' ? 'parked' : 'running';
    await api.sql`insert into run_steps ${api.sql({ ...step, state, attempt: 5, attempts: 5 })}`;
  }
  await api.sql`update runs set waiting_for = 'the ramdisk' where id = ${runs.second!.run}`;
});
afterAll(() => api?.close());

const list = async (query: string, who: Persona = 'operator') => {
  const { status, body } = await api.as(who, 'GET', `/temper/v1/runs?${query}`);
  expect({ query, status }).toEqual({ query, status: 200 });
  return body.runs as Record<string, unknown>[];
};
const namesOf = (rows: readonly Record<string, unknown>[]): (string | undefined)[] =>
  rows.map(({ uuid }) => Object.keys(runs).find((name) => runs[name]!.run === uuid));

test('it has the step, its attempt, what is awaited and since when, as one run alone has them', async () => {
  const rows = await list('state=open');
  const [parked, waiting] = ['first', 'second'].map((name) => rows.find(({ uuid }) => uuid === runs[name]!.run)!);
  expect(parked).toMatchObject({ step: 'power.reboot', attempt: 5, last_error: 'no answer', waiting_since: null });
  expect(waiting).toMatchObject({ step: null, attempt: null, waiting_for: 'the ramdisk' });
  const { body } = await api.as('operator', 'GET', `/temper/v1/runs/${runs.second!.run}`);
  expect(waiting!.waiting_since).toBe(body.waiting_since);
  expect(Date.parse(body.waiting_since)).not.toBeNaN();
});

test.each([
  ['parked,paused', ['fourth', 'first']],
  ['waiting,retrying', ['third', 'second']],
  ['failed,parked', ['fifth', 'first']],
  ['ended,paused', ['fifth', 'fourth']],
  ['open,parked', ['sixth', 'fourth', 'third', 'second', 'first']],
])('state=%s holds the runs in any of these states', async (state, names) => {
  expect(namesOf(await list(`state=${state}`))).toEqual(names);
  expect(namesOf(await list(`state=${state}&sort_dir=asc`))).toEqual([...names].reverse());
});

test('the oldest come first where that is asked, and pages go on from there', async () => {
  const all = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
  const seen: (string | undefined)[] = [];
  for (let marker = ''; seen.length < all.length; marker = `&marker=${runs[seen.at(-1)!]!.run}`)
    seen.push(...namesOf(await list(`state=any&sort_dir=asc&limit=2${marker}`)));
  expect(seen).toEqual(all);
});

test('runs that were accepted at the same time are all listed, each once', async () => {
  const at = minutesAgo(600);
  const same = await Promise.all(Array.from({ length: 5 }, () => runningRun(api, { created_at: at, verb: 'clean' })));
  for (const direction of ['asc', 'desc']) {
    const seen: unknown[] = [];
    for (let page = await list(`verb=clean&limit=2&sort_dir=${direction}`); page.length > 0; ) {
      seen.push(...page.map(({ uuid }) => uuid));
      page = await list(`verb=clean&limit=2&sort_dir=${direction}&marker=${seen.at(-1)}`);
    }
    expect(seen.toSorted()).toEqual(same.map(({ run }) => run).toSorted());
  }
});

test('of a list in several states each caller sees its own', async () => {
  expect(await list('state=parked,paused', 'stranger-admin')).toEqual([]);
  expect(await list('state=parked,paused', 'lessee-member')).toHaveLength(2);
});

test.each(['state=', 'state=parked,', 'state=parked,none', 'sort_dir=up', 'state=Parked'])('%s is refused', async (query) => {
  expect((await api.as('operator', 'GET', `/temper/v1/runs?${query}`)).status).toBe(400);
}); // biome-ignore format: one row
