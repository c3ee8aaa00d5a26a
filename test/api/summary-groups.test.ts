/** Counts by rack, feed, class, project, driver and group: each caller's are those of its own list of nodes, and no more. */
import { summarized } from '../../src/model/resources/summarized';
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  const add = (rack: string | null, more: object) =>
    api.sql`insert into nodes ${api.sql({ driver: 'fake-hardware', provision_state: 'available', properties: api.sql.json(rack === null ? {} : { rack, power_feed: `feed-${rack}` }), ...more })}`;
  await add('r1', { owner, provision_state: 'active', power_state: 'power on', lessee });
  await add('r1', { owner, power_state: 'power off', maintenance: true, fault: 'power failure' });
  await add('r2', { owner, resource_class: 'gold', conductor_group: 'east' });
  await add('r3', { driver: 'redfish', provision_state: 'clean failed' });
  await add(null, { driver: 'redfish', maintenance: true });
});
afterAll(() => api?.close());

const groupsFor = async (who: Persona, query: string) => {
  const { status, body } = await api.as(who, 'GET', `/temper/v1/summary?${query}`);
  return { status, ...body };
};

test('nodes are counted for each rack, and those without one come last', async () => {
  expect(await groupsFor('operator', 'by=properties.rack')).toEqual({
    status: 200,
    by: 'properties.rack',
    groups: [
      {
        value: 'r1',
        count: 2,
        provision_state: { active: 1, available: 1 },
        power_state: { 'power off': 1, 'power on': 1 },
        fault: { 'power failure': 1 },
        maintenance: 1,
      },
      { value: 'r2', count: 1, provision_state: { available: 1 }, power_state: { unknown: 1 }, fault: {}, maintenance: 0 },
      { value: 'r3', count: 1, provision_state: { 'clean failed': 1 }, power_state: { unknown: 1 }, fault: {}, maintenance: 0 },
      { value: null, count: 1, provision_state: { available: 1 }, power_state: { unknown: 1 }, fault: {}, maintenance: 1 },
    ],
  }); // biome-ignore format: one group a row
});

test.each([
  ['properties.power_feed', { 'feed-r1': 2, 'feed-r2': 1, 'feed-r3': 1, null: 1 }],
  ['resource_class', { gold: 1, null: 4 }],
  ['owner', { [owner]: 3, null: 2 }],
  ['lessee', { [lessee]: 1, null: 4 }],
  ['driver', { 'fake-hardware': 3, redfish: 2 }],
  ['conductor_group', { '': 4, east: 1 }],
])('and for each %s', async (by, counts) => {
  const { groups } = await groupsFor('operator', `by=${by}`);
  const counted = groups.map(({ value, count }: { value: string | null; count: number }) => [String(value), count]);
  expect(Object.fromEntries(counted)).toEqual(counts);
});

test.each<[Persona, Record<string, number>]>([
  ['owner-reader', { r1: 2, r2: 1 }],
  ['lessee-reader', { r1: 1 }],
  ['stranger-admin', {}],
])('%s is told of the racks of its own nodes alone', async (who, counts) => {
  for (const by of summarized) {
    const { groups } = await groupsFor(who, `by=${by}`);
    const all = groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect({ by, all }).toEqual({ by, all: (await api.as(who, 'GET', '/v1/nodes')).body.nodes.length });
  }
  const { groups } = await groupsFor(who, 'by=properties.rack');
  expect(Object.fromEntries(groups.map((one: { value: string; count: number }) => [one.value, one.count]))).toEqual(
    counts,
  );
});

test('a caller who may list no nodes is refused, as by the list', async () => {
  const asked = '/temper/v1/summary?by=owner';
  const [list, counts] = await Promise.all(
    ['/v1/nodes', asked].map((path) => api.as('stranger-roleless' as Persona, 'GET', path)),
  );
  expect(counts!.status).toBe(list!.status);
});

test('pages hold every value once, also where one is an empty text', async () => {
  for (const by of ['properties.rack', 'conductor_group']) {
    const whole = (await groupsFor('operator', `by=${by}`)).groups;
    const paged: unknown[] = [];
    let next: string | undefined = `${api.url}/temper/v1/summary?by=${by}&limit=1`;
    while (next !== undefined) {
      const { body } = await api.as('operator', 'GET', next.slice(api.url.length));
      expect(body.groups).toHaveLength(1);
      paged.push(...body.groups);
      next = body.next;
    }
    expect(paged).toEqual(whole);
  }
});

/** Different characters, which PostgreSQL cannot compress. */
const wide = (length: number, first: number): string =>
  Array.from({ length }, (_, at) => String.fromCodePoint(first + at * 7)).join('');

test('odd values are written as text and long ones are cut, and the longest texts of a node fit into the index', async () => {
  const longest = {
    properties: { rack: wide(64, 0x1f300).repeat(99), power_feed: wide(64, 0x20000) },
    owner: wide(255, 0x4e00),
    lessee: wide(255, 0x6000),
    resource_class: wide(80, 0x7000),
    conductor_group: Array.from({ length: 255 }, (_, at) => ((at * at * 31 + at * 7) % 36).toString(36)).join(''),
  };
  const odd = [{ properties: { rack: { row: 3 }, power_feed: 7 } }, { properties: { rack: '' } }];
  const made = await Promise.all(
    [longest, ...odd].map((body) =>
      api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', ...body } }),
    ),
  );
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  const states = { provision_state: 'inspect failed', power_state: 'soft power off', fault: 'ramdisk conflict' };
  await api.sql`update nodes set ${api.sql(states)} where uuid = ${made[0]!.body.uuid}`;
  const { groups } = await groupsFor('operator', 'by=properties.rack');
  const values = groups.map(({ value }: { value: string | null }) => value);
  expect(values).toEqual(expect.arrayContaining([wide(64, 0x1f300), '{"row": 3}', '']));
  for (const { body } of made) await api.sql`delete from nodes where uuid = ${body.uuid}`;
});

test.each(['by=extra.rack', 'by=properties.cpus', 'by=', 'by=owner&only=trouble', 'marker=r1', 'by=owner&limit=0', 'by=owner&limit=1001'])(
  '%s is refused',
  async (query) => {
    expect((await groupsFor('operator', query)).status).toBe(400);
  },
); // biome-ignore format: one row of queries
