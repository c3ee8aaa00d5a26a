/** Reports of ended runs: counted by the day they ended, by verb, cause and runbook, and of each caller the runs of its own list. */
import { startTestApi, type TestApi } from '../support/api';
import { runningRun } from '../support/happenings';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
const ended = async (day: string, values: object) =>
  runningRun(api, {
    state: 'failed',
    started_at: new Date(`2026-03-${day}T10:00:00Z`),
    finished_at: new Date(`2026-03-${day}T10:05:00Z`),
    ...values,
  });
beforeAll(async () => {
  api = await startTestApi();
  await ended('01', { error_code: 'BmcUnreachable', verb: 'clean', kind: 'clean' });
  await ended('01', { error_code: 'BmcResting' });
  await ended('01', { error_code: 'AgentTimeout', runbook_name: 'CUSTOM_FW' });
  await ended('02', { error_code: null });
  await ended('02', { error_code: 'NodeFrozen' });
  await ended('02', { state: 'aborted', error_code: 'BmcUnreachable' });
  await ended('02', { state: 'succeeded', runbook_name: 'CUSTOM_FW' });
  await runningRun(api);
  const others = await ended('02', { error_code: 'BmcUnreachable', owner: stranger, lessee: null, lease_id: null });
  await api.sql`update nodes set owner = ${stranger}, lessee = null where uuid = ${others.node}`;
});
afterAll(() => api?.close());

const march = 'since=2026-03-01&until=2026-03-31';
const report = (who: Persona, query: string, accept?: string) =>
  api.as(who, 'GET', `/temper/v1/reports/runs?${query}`, accept ? { headers: { accept } } : {});
type Row = { at: string; value: string | null; runs: number };
const counts = async (who: Persona, query: string) =>
  (await report(who, query)).body.report.map(({ at, value, runs }: Row) => `${at.slice(0, 10)} ${value} ${runs}`);

test('failures are counted by the day they ended and by their cause', async () => {
  expect(await counts('operator', `by=cause&${march}`)).toEqual(
    expect.arrayContaining([
      '2026-03-01 bmc_silent 2',
      '2026-03-01 ramdisk_silent 1',
      '2026-03-02 aborted 1',
      '2026-03-02 bmc_silent 1',
      '2026-03-02 no_attempt 1',
      '2026-03-02 other 1',
    ]),
  );
});

test('runs are counted by verb with how they ended, and how long those that succeeded took', async () => {
  const { body } = await report('operator', `by=verb&${march}`);
  expect(body).toMatchObject({
    by: 'verb',
    bucket: 'day',
    since: '2026-03-01T00:00:00.000Z',
    until: '2026-04-01T00:00:00.000Z',
    left_out: 0,
  });
  expect(body.report).toEqual([
    { at: '2026-03-01T00:00:00.000Z', value: 'service', runs: 2, succeeded: 0, failed: 2, aborted: 0, median_s: null },
    { at: '2026-03-01T00:00:00.000Z', value: 'clean', runs: 1, succeeded: 0, failed: 1, aborted: 0, median_s: null },
    { at: '2026-03-02T00:00:00.000Z', value: 'service', runs: 5, succeeded: 1, failed: 3, aborted: 1, median_s: 300 },
  ]);
  expect(await counts('operator', `by=runbook&${march}`)).toEqual(
    expect.arrayContaining(['2026-03-01 CUSTOM_FW 1', '2026-03-02 CUSTOM_FW 1']),
  );
});

test('a day is whole in UTC, and a time is itself', async () => {
  expect(await counts('operator', 'by=cause&since=2026-03-01&until=2026-03-01')).toHaveLength(2);
  expect(await counts('operator', 'by=cause&since=2026-03-01T10:05:00Z&until=2026-03-01T10:05:01Z')).toHaveLength(2);
  expect(
    await counts('operator', 'by=cause&since=2026-03-01T11:05:00%2B01:00&until=2026-03-01T12:00:00Z'),
  ).toHaveLength(2);
  expect(await counts('operator', 'by=cause&since=2026-03-01&until=2026-03-01T10:05:00Z')).toEqual([]);
  expect(await counts('operator', `by=verb&bucket=month&${march}`)).toEqual([
    '2026-03-01 service 7',
    '2026-03-01 clean 1',
  ]);
});

test.each<[Persona, number]>([
  ['operator', 8],
  ['system-reader', 8],
  ['owner-reader', 7],
  ['lessee-reader', 7],
  ['stranger-admin', 1],
])('%s is told of %i runs', async (who, many) => {
  const { body } = await report(who, `by=verb&${march}`);
  expect(body.report.reduce((sum: number, { runs }: Row) => sum + runs, 0)).toBe(many);
});

test('a former lessee is told of none, and the next one of none of the former’s', async () => {
  await api.sql`update nodes set lessee = ${stranger} where lessee = ${lessee}`;
  try {
    expect(await counts('lessee-reader', `by=verb&${march}`)).toEqual([]);
    expect(await counts('stranger-admin', `by=verb&${march}`)).toEqual(['2026-03-02 service 1']);
    expect(await counts('owner-reader', `by=verb&${march}`)).toHaveLength(3);
  } finally {
    await api.sql`update nodes set lessee = ${lessee} where owner = ${owner}`;
  }
});

test('of many runbooks the most frequent are shown, and the runs of the others are counted', async () => {
  for (let at = 0; at < 22; at += 1) await ended('05', { runbook_name: `CUSTOM_${at}`, error_code: 'BmcBusy' });
  const { body } = await report('operator', 'by=runbook&since=2026-03-05&until=2026-03-05');
  expect(body.report).toHaveLength(20);
  expect(body.left_out).toBe(2);
});

test('rows come as CSV to who accepts that', async () => {
  const { text, headers } = await report('operator', `by=verb&${march.replace('31', '02')}`, 'text/csv');
  expect(headers.get('content-type')).toMatch(/^text\/csv/);
  expect(text.split('\r\n')[0]).toBe('at,value,runs,succeeded,failed,aborted,median_s');
  expect(text).toContain('2026-03-02T00:00:00.000Z,service,5,1,3,1,300\r\n');
});

test.each([
  '', 'by=node', 'by=verb&bucket=minute', 'by=verb&since=yesterday', 'by=verb&since=2026-03-02&until=2026-03-01', 'by=verb&since=2024-01-01',
  'by=verb&bucket=hour&since=2026-03-01&until=2026-05-01', 'by=verb&since=2026-02-30', 'by=verb&until=2026-03-01T10:00:00',
])('%s is refused', async (query) => {
  expect((await report('operator', query)).status).toBe(400);
}); // biome-ignore format: rows of queries
