/** `temper disruption-budgets`: what is sent, and what is shown of a budget. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
const budget = {
  uuid: 'b-1',
  project: 'p',
  query: { resource_class: ['gold'], 'properties.rack': ['r1', 'r2'] },
  max_unavailable: '10%',
  min_available: null,
  description: null,
  nodes: 40,
  unavailable: 3,
  may_be_taken: 1,
};
beforeAll(async () => {
  api = await startDouble(({ method, path }) => ({
    json: method === 'GET' && path.endsWith('budgets') ? { disruption_budgets: [budget] } : budget,
  }));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (...line: string[]) =>
  temper(['disruption-budgets', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('the list shows the limit, who is missing and what is left', async () => {
  const { status, out } = await does('list');
  expect(status).toBe(0);
  expect(out).toMatch(/b-1\s+p\s+10% missing\s+40\s+3\s+1\s+resource_class=gold properties.rack=r1,r2/);
});

test.each([
  [
    ['create', '--max-unavailable', '2', '--query', 'resource_class=gold', 'properties.rack=r1,r2'],
    { max_unavailable: 2, query: { resource_class: ['gold'], 'properties.rack': ['r1', 'r2'] } },
  ],
  [['create', '--min-available', '90%', '--project', 'q'], { min_available: '90%', project: 'q' }],
])('%j is sent as the API takes it', async (line, body) => {
  expect((await does(...line)).status).toBe(0);
  expect(api.asked).toMatchObject([{ method: 'POST', path: '/temper/v1/disruption-budgets', body }]);
});

test('a budget is changed and deleted by its UUID', async () => {
  await does('set', 'b-1', '--min-available', '3');
  await does('delete', 'b-1');
  expect(api.asked).toMatchObject([
    { method: 'PATCH', path: '/temper/v1/disruption-budgets/b-1', body: { min_available: 3 } },
    { method: 'DELETE', path: '/temper/v1/disruption-budgets/b-1' },
  ]);
});

test.each([
  [['create']],
  [['create', '--max-unavailable', '1', '--min-available', '1']],
  [['create', '--max-unavailable', '1', '--query', 'gold']],
])('%j is refused before anything is sent', async (line) => {
  expect((await does(...line)).status).toBe(2);
  expect(api.asked).toEqual([]);
});
