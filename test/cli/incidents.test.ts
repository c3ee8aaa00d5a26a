/** `temper incidents`: one row each, with what the nodes share. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const incident = {
  shares: { rack: 'r3', power_feed: 'A', conductor_group: '' },
  count: 7,
  since: '2026-03-01T03:17:00.000Z',
  fault: { 'power failure': 7 },
  nodes: Array.from({ length: 7 }, (_, at) => ({ uuid: `u${at}`, name: at === 0 ? null : `bmc-${at}\u001b[2J` })),
};

let api: Double;
beforeAll(async () => {
  api = await startDouble(({ path }) => ({
    json: { incidents: path.includes('5') ? [] : [incident], complete: path.includes('5') },
  }));
});
afterAll(() => api.close());

const does = (line: string) => temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('an incident is a row of what its nodes share, and a note says if there are more', async () => {
  const { out, err } = await does('incidents');
  expect(out).toMatch(/2026-03-01T03:17:00\.000Z +7 +power failure +rack r3, feed A +u0 bmc-1 \[2J .* and 2 more\n/);
  expect(out).not.toContain('\u001b');
  expect(err).toContain('more incidents');
});

test('no fault is said to be none', async () => {
  expect(await does('incidents --minutes 5')).toMatchObject({ out: 'No nodes with a fault.\n', err: '' });
  expect(api.asked.at(-1)!.path).toBe('/temper/v1/incidents?minutes=5');
});
