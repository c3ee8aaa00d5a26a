/** Lists that are longer than a page: every command that prints one says so, and how to go on. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const rollout = '11111111-2222-4333-8444-555555555555';
/** What a row needs to be printed, whatever it is a row of. */
const rowAt = (at: number) => ({
  uuid: `uuid-${at}`,
  position: at,
  revision: at,
  name: `name-${at}`,
  requester: {},
  steps: [],
  macs: [],
  days: [],
  query: {},
  author: null,
  digest: 'abcdef',
  withdrawn: null,
  files: [],
});

/** What markers begin with, where it is no UUID. */
const prefixes: Readonly<Record<string, string>> = { targets: '', revisions: '', history: 'abc' };

/** How many rows the server has; of them it shows a page that begins behind the marker, 100 where it is not asked. */
let stored: number;
let api: Double;
beforeAll(async () => {
  api = await startDouble(({ path }) => {
    const { pathname, searchParams: query } = new URL(path, 'http://api');
    const marker = query.get('marker');
    const from = marker === null ? 0 : Number(marker.replace(/\D/g, '')) + 1;
    const most = Number(query.get('limit') ?? 100);
    const rows = Array.from({ length: stored }, (_, at) => rowAt(at)).slice(from, from + most);
    const name = pathname.split('/').at(-1)!.replaceAll('-', '_');
    query.set('marker', `${prefixes[name] ?? 'uuid-'}${from + most - 1}`);
    const next = from + most < stored ? { next: `http://api${pathname}?${query}` } : {};
    return { json: { [name]: rows, ...next } };
  });
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (line: string) => temper(line, { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });
const lines = (text: string) => text.split('\n').length - 1;

const lists = [
  ['runs list', 'uuid-'],
  ['runs list bmc-1 --state failed', 'uuid-'],
  ['freezes list', 'uuid-'],
  ['freezes list bmc-1 --all', 'uuid-'],
  ['discovered list', 'uuid-'],
  ['windows list', 'uuid-'],
  ['disruption-budgets list', 'uuid-'],
  ['rollouts list', 'uuid-'],
  [`rollouts targets ${rollout}`, ''],
  ['runbooks revisions CUSTOM_X', ''],
] as const;

describe.each(lists)('temper %s', (line, marker) => {
  test('says that more follow a page, and goes on behind it', async () => {
    stored = 103;
    const first = await does(line);
    expect(first.status).toBe(0);
    expect(lines(first.out)).toBe(101);
    expect(first.err).toBe(`temper: These are 100 and not all: more follow, with --marker ${marker}99.\n`);
    const next = await does(`${line} --marker ${marker}99`);
    expect({ lines: lines(next.out), err: next.err }).toEqual({ lines: 4, err: '' });
  });

  test('says nothing of a list that ends with the page', async () => {
    stored = 100;
    expect(await does(line)).toMatchObject({ status: 0, err: '' });
    expect(api.asked).toHaveLength(1);
  });

  test('says it of a page that was asked for, beside JSON as well', async () => {
    stored = 3;
    const { out, err } = await does(`--json ${line} --limit 2`);
    expect(Object.values(JSON.parse(out) as Record<string, unknown[]>)[0]).toHaveLength(2);
    expect(err).toBe(`temper: These are 2 and not all: more follow, with --marker ${marker}1.\n`);
  });
});

test('texts of the policy say that there are older ones, and go on behind them', async () => {
  stored = 103;
  const { out, err } = await does('policy history');
  expect({ lines: lines(out), err }).toEqual({
    lines: 101,
    err: 'temper: These are 100 and not all: more follow, with --marker abc99.\n',
  });
  expect(await does('policy history --limit 1000')).toMatchObject({ status: 0, err: '' });
  expect(await does('policy history --marker abc99')).toMatchObject({ status: 0, err: '' });
  expect(api.asked.at(-1)!.path).toBe('/temper/v1/policy/history?marker=abc99');
});

test('a rollout is found by its name beyond the first page', async () => {
  stored = 2_003;
  await does('rollouts show name-2001');
  expect(api.asked.map(({ path }) => path)).toEqual([
    '/temper/v1/rollouts?limit=1000',
    '/temper/v1/rollouts?limit=1000&marker=uuid-999',
    '/temper/v1/rollouts?limit=1000&marker=uuid-1999',
    '/temper/v1/rollouts/uuid-2001',
  ]);
});
