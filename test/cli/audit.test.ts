/** `temper audit`: what is asked for, and what a row shows. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const row = {
  seq: 41,
  at: '2026-10-03T14:03:22.000Z',
  who: { user_id: 'u1', user_name: 'ana\u001b[2J', project_id: 'p1', project_name: 'acme' },
  action: 'node.update',
  verdict: 'granted',
  rule: 'baremetal:node:update',
  resource: 'node',
  resource_id: 'n1',
  node_uuid: 'n1',
  node_name: 'bmc-14',
  run_uuid: null,
  data: { reason: 'new disk' },
};

let api: Double;
beforeAll(async () => {
  api = await startDouble(() => ({
    json: {
      audit: [row, { ...row, seq: 40, node_name: null, data: { maintenance_reason: 'a fan' } }],
      next: 'http://api/temper/v1/audit?marker=40',
    },
  }));
});
afterAll(() => api.close());
beforeEach(() => {
  api.asked.length = 0;
});

const does = (line: string) => temper(`audit ${line}`, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('filters are sent as they are given, and names are shown in place of ids', async () => {
  const { out, err } = await does('--node bmc-14 --since 2026-10-01 --until 2026-10-31 --verdict granted');
  expect(api.asked.map(({ path }) => path)).toEqual([
    '/temper/v1/audit?node=bmc-14&since=2026-10-01&until=2026-10-31&verdict=granted',
  ]);
  expect(out).toMatch(
    /41 +2026-10-03T14:03:22\.000Z +ana \[2J +acme +node\.update +bmc-14 +granted +baremetal:node:update +new disk/,
  );
  expect(out).toMatch(/40 .* n1 +granted .* a fan/);
  expect(err).toContain('--marker 40');
});

test('rows are printed as CSV', async () => {
  expect((await does('-f csv -c SEQ -c NODE')).out).toBe('SEQ,NODE\n41,bmc-14\n40,n1\n');
});

test('a verdict that does not exist is refused before anything is sent', async () => {
  expect((await does('--verdict maybe')).status).toBe(2);
  expect(api.asked).toEqual([]);
});
