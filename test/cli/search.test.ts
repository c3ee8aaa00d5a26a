/** `temper search`: what was found is one table, and a note says of which kinds there is more. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const none = { nodes: [], runs: [], rollouts: [], runbooks: [], projects: [], more: [] };
const found = {
  ...none,
  nodes: [{ uuid: 'n1', name: 'bmc-1\u001b[2J', provision_state: 'active', fault: null, matched: 'address', value: '52:54:00:00:00:01' }],
  runs: [{ uuid: 'r1', node_uuid: 'n1', node_name: null, verb: 'clean', state: 'parked' }],
  projects: [{ id: 'p1', name: 'Blue' }],
  more: ['nodes'],
}; // biome-ignore format: one object a row

let api: Double;
beforeAll(async () => {
  api = await startDouble(({ path }) => ({ json: path.endsWith('q=nothing') ? none : found }));
});
afterAll(() => api.close());

const does = (...line: string[]) => temper(['search', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('each object is a row, without the control characters of its name', async () => {
  const { out, err } = await does('52:54 & more');
  expect(api.asked.at(-1)!.path).toBe('/temper/v1/search?q=52%3A54+%26+more');
  expect(out).toMatch(/node +bmc-1 \[2J +n1 +active +address 52:54:00:00:00:01\n/);
  expect(out).toMatch(/run +clean of n1 +r1 +parked\n/);
  expect(out).toMatch(/project +Blue +p1\n/);
  expect(err).toContain('more nodes');
  expect((await does('nothing')).out).toBe('No objects.\n');
});
