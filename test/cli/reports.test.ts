/** `temper reports`: what is asked for, and how counts and times are shown. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const run = {
  at: '2026-11-20T00:00:00.000Z',
  value: 'bmc_silent',
  runs: 3,
  succeeded: 0,
  failed: 3,
  aborted: 0,
  median_s: null,
};
const node = {
  project: 'p',
  node_uuid: 'n1',
  node_name: 'bmc-1\u001b[2J',
  resource_class: 'gold',
  leases: 1,
  seconds: 5400,
};

let api: Double;
beforeAll(async () => {
  api = await startDouble(({ path }) => ({
    json: path.includes('/runs')
      ? { report: [run, { ...run, value: null, median_s: 61.4 }], left_out: 2 }
      : { usage: path.includes('project=') ? [node] : [{ project: 'p', nodes: 4, leases: 5, seconds: 36_000 }] },
  }));
});
afterAll(() => api.close());
beforeEach(() => {
  api.asked.length = 0;
});

const does = (line: string) => temper(`reports ${line}`, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });
const asked = () => api.asked.map(({ path }) => path);

test('ended runs are a table by day and value, with a note of what is left out', async () => {
  const { out, err } = await does('runs --until 2026-11-30');
  expect(asked()).toEqual(['/temper/v1/reports/runs?by=cause&until=2026-11-30']);
  expect(out).toMatch(/2026-11-20 +bmc_silent +3 +0 +3 +0\n/);
  expect(out).toMatch(/2026-11-20 +\(none\) +3 +0 +3 +0 +61\n/);
  expect(err).toContain('2 runs');
});

test('a span is sent as a time, and an unknown division is refused before anything is sent', async () => {
  await does('runs --by verb --bucket hour --since 2h');
  expect(asked()[0]).toMatch(/by=verb&bucket=hour&since=20\d\d-/);
  api.asked.length = 0;
  for (const line of ['runs --by node', 'runs --bucket week', 'runs --since soon'])
    expect((await does(line)).status).toBe(2);
  expect(asked()).toEqual([]);
});

test('usage is in hours, by node for a project and by project for all', async () => {
  const { out } = await does('usage --project p --month 2026-11');
  expect(asked()).toEqual(['/temper/v1/reports/usage?project=p&month=2026-11']);
  expect(out).toMatch(/bmc-1 \[2J +n1 +gold +1 +1\.5\n/);
  expect((await does('usage')).out).toMatch(/p +4 +5 +10\.0\n/);
});
