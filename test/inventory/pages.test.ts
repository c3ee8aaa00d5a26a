/** Pages by a marker: for every sort key, both ways and whatever the size of a page, together they are the whole list. */
import { createHash } from 'node:crypto';
import { connect, type Sql } from '../../src/inventory/database';
import { nodes } from '../../src/inventory/nodes/nodes';
import { linesOf } from '../../src/inventory/pages';
import { always, type Predicate } from '../../src/model/predicates';
import { isSortable } from '../../src/model/resources/fields';
import { nodeTable } from '../../src/model/resources/nodes';
import { listed } from '../support/listed';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;
/** Statements that were sent. */
let sent: string[] = [];

const uuidOf = (text: string): string =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

// Two of each value and two without: ties and nulls both lie across the ends of pages.
const row = (at: number) => {
  const some = at % 4 === 3 ? null : `v${(at * 7) % 3}`;
  const when = some && new Date(Date.UTC(2026, 0, 1 + ((at * 7) % 3)));
  return {
    uuid: uuidOf(`node ${at}`),
    name: at % 4 === 3 ? null : `n${(at * 5) % 11}`,
    driver: `d${at % 2}`,
    owner: some,
    lessee: at % 5 === 0 ? 'tenant' : null,
    resource_class: some,
    power_state: some,
    provision_updated_at: when,
    updated_at: when,
    instance_uuid: at % 4 === 3 ? null : uuidOf(`instance ${at}`),
    secure_boot: at % 3 === 2 ? null : at % 3 === 1,
    maintenance: at % 3 === 0,
  };
};
const count = 11;

beforeAll(async () => {
  database = await testDatabase();
  const owner = connect(database.ownerUrl, { max: 1 });
  for (let at = 0; at < count; at++) await owner`insert into nodes ${owner(row(at))}`;
  await owner.end();
  sql = connect(database.apiUrl, { max: 1 });
  sql.options.debug = (_connection: number, text: string) => void sent.push(text);
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});
beforeEach(() => {
  sent = [];
});

type Wish = { sort_key: string; sort_dir: 'asc' | 'desc'; limit: number; visible?: Predicate };

const page = async ({ visible = always, ...order }: Wish, marker?: string): Promise<string[]> => {
  const at = { ...order, ...(marker && { marker }) };
  const rows = await listed(nodes(sql), ['uuid'], { visible, filter: always }, at);
  return rows.map(({ uuid }) => uuid);
};

const walk = async (wish: Wish): Promise<string[]> => {
  const seen: string[] = [];
  for (let found = await page(wish); found.length > 0; found = await page(wish, seen.at(-1))) seen.push(...found);
  return seen;
};

const sortKeys = ['id', ...nodeTable.fields.filter(isSortable).map(({ name, column }) => column ?? name)];

test.each(sortKeys.flatMap((key) => [[key, 'asc'] as const, [key, 'desc'] as const]))(
  'pages by %s, %s, lose and repeat nothing',
  async (sort_key, sort_dir) => {
    const whole = await page({ sort_key, sort_dir, limit: 100 });
    expect(whole).toHaveLength(count);
    for (const limit of [1, 2, 3, 10]) expect(await walk({ sort_key, sort_dir, limit })).toEqual(whole);
  },
);

test('nulls come last going up and first going down, and ties stand in the order of creation', async () => {
  const up = await page({ sort_key: 'owner', sort_dir: 'asc', limit: 100 });
  const wanted = Array.from({ length: count }, (_, at) => ({ ...row(at), at })).sort(
    (a, b) => (a.owner ?? 'z').localeCompare(b.owner ?? 'z') || a.at - b.at,
  );
  expect(up).toEqual(wanted.map(({ uuid }) => uuid));
  expect(await page({ sort_key: 'owner', sort_dir: 'desc', limit: 100 })).toEqual([...up].reverse());
});

test('what a tenant sees is paged within what the tenant sees', async () => {
  const visible: Predicate = { is: 'equals', column: 'lessee', value: 'tenant' };
  for (const sort_key of ['id', 'name', 'owner'])
    expect((await walk({ sort_key, sort_dir: 'asc', limit: 2, visible })).sort()).toEqual(
      [0, 5, 10].map((at) => row(at).uuid).sort(),
    );
});

test.each(['id', 'name', 'driver', 'updated_at'])(
  'a full page after a marker is one statement, by %s',
  async (sort_key) => {
    const [first] = await page({ sort_key, sort_dir: 'asc', limit: 1 });
    sent = [];
    expect(await page({ sort_key, sort_dir: 'asc', limit: 2 }, first)).toHaveLength(2);
    expect(sent).toHaveLength(1);
    expect(sent[0]).not.toMatch(/\boffset\b/i);
  },
);

test.each(['id', 'name', 'updated_at'])(
  'a marker that is missing is refused, and so is one that is hidden, by %s',
  async (sort_key) => {
    const refused = expect.objectContaining({ code: 'MarkerNotFound' });
    for (const sort_dir of ['asc', 'desc'] as const) {
      const wish = { sort_key, sort_dir, limit: 5 };
      await expect(page(wish, uuidOf('nobody'))).rejects.toEqual(refused);
      const visible: Predicate = { is: 'equals', column: 'lessee', value: 'tenant' };
      await expect(page({ ...wish, visible }, row(1).uuid)).rejects.toEqual(refused);
    }
  },
);

test('a marker without a value in the sort column is a place like any other', async () => {
  const nameless = [3, 7].map((at) => row(at).uuid);
  expect(await page({ sort_key: 'name', sort_dir: 'asc', limit: 5 }, nameless[0])).toEqual([nameless[1]]);
  expect(await page({ sort_key: 'name', sort_dir: 'asc', limit: 5 }, nameless[1])).toEqual([]);
  const down = await page({ sort_key: 'name', sort_dir: 'desc', limit: 5 }, nameless[1]);
  expect([down[0], down.length]).toEqual([nameless[0], 5]);
});

test('a list of two fields reads two columns', async () => {
  const first = { limit: 5, sort_key: 'id', sort_dir: 'asc' } as const;
  await listed(nodes(sql), ['uuid', 'name'], { visible: always, filter: always }, first);
  expect(sent[0]).toContain('json_build_array("nodes"."uuid","nodes"."name")');
  expect(sent[0]).not.toMatch(/"nodes"\."(?!(?:uuid|name|id)")/);
});

describe('lines of rows with long documents', () => {
  const table = 'chassis';
  /** Pages of all rows; each written line takes a number of the sequence. */
  const writtenOf = async (withDocuments: boolean, marker?: string) => {
    const columns = sql`nextval('written_lines')::text || ' ' || extra::text`;
    const listed = { table, from: sql`chassis`, columns, visible: sql`true`, wanted: sql`true`, withDocuments };
    const before = await lastNumber();
    const found = await linesOf(sql, listed, {
      limit: 100,
      sort_key: 'id',
      sort_dir: 'asc',
      ...(marker && { marker }),
    });
    return { ...found, written: (await lastNumber()) - before };
  };
  const lastNumber = async (): Promise<number> => {
    const [row] = await sql<
      { at: string }[]
    >`select case when is_called then last_value else 0 end as at from written_lines`;
    return Number(row!.at);
  };

  beforeAll(async () => {
    const owner = connect(database.ownerUrl, { max: 1 });
    await owner`create sequence written_lines`;
    await owner`grant select, usage on written_lines to public`;
    await owner`insert into chassis (extra) select jsonb_build_object('k', repeat('x', 4000000)) from generate_series(1, 12)`;
    await owner.end();
  });

  test('those beyond the end of the page are not written', async () => {
    const first = await writtenOf(true);
    expect(first).toMatchObject({ count: 4, cut: true, written: 5 });
    const second = await writtenOf(true, first.last);
    expect(second).toMatchObject({ count: 4, cut: true, written: 5 });
    expect(await writtenOf(true, second.last)).toMatchObject({ count: 4, cut: false, written: 4 });
  });

  test('lines without documents are all written before the page is cut', async () => {
    expect(await writtenOf(false)).toMatchObject({ count: 4, cut: true, written: 12 });
  });
});
