/** `temper summary`: what is counted, for all nodes and for each value. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const counts = {
  provision_state: { active: 2, available: 38 },
  power_state: { 'power on': 40 },
  fault: {},
  maintenance: 0,
};
const groups = [
  { value: 'r1\u001b[2J', count: 40, ...counts },
  { value: null, count: 1, ...counts, fault: { 'power failure': 1 }, maintenance: 1 },
];

let api: Double;
beforeAll(async () => {
  api = await startDouble(({ path }) => ({
    json: path.includes('by=')
      ? { by: 'properties.rack', groups, next: 'http://api/temper/v1/summary?by=properties.rack&limit=2&marker=r1' }
      : { nodes: { count: 41, ...counts }, runs: { phase: { parked: 1 } } },
  }));
});
afterAll(() => api.close());

const does = (line: string) => temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('all nodes are counted on a sheet, the most frequent state first', async () => {
  const { out } = await does('summary');
  expect(out).toMatch(/nodes +41\n/);
  expect(out).toMatch(/provision states +available 38, active 2\n/);
  expect(out).toMatch(/open runs +parked 1\n/);
});

test('and for each value in a table, with a note of what follows', async () => {
  api.asked.length = 0;
  const { out, err } = await does('summary --by properties.rack --limit 2');
  expect(api.asked.map(({ path }) => path)).toEqual(['/temper/v1/summary?by=properties.rack&limit=2']);
  expect(out).toMatch(/r1 \[2J +40 +0 +available 38, active 2\n/);
  expect(out).toMatch(/\(none\) +1 +1 +power failure 1 /);
  expect(out).not.toContain('\u001b');
  expect(err).toContain('--marker r1');
});

test('what nodes cannot be counted by is refused before anything is sent', async () => {
  api.asked.length = 0;
  expect((await does('summary --by extra.rack')).status).toBe(2);
  expect(api.asked).toEqual([]);
});
