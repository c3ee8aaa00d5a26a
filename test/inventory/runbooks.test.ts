/** The queries of runbooks against a real Postgres, with the rights of the API's role. */
import { brokenUnique, connect, type Sql } from '../../src/inventory/database';
import { runbooks } from '../../src/inventory/runbooks';
import { always, never, or, type Predicate } from '../../src/model/predicates';
import type { Runbook } from '../../src/model/resources/runbooks';
import { listed } from '../support/listed';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.apiUrl, { max: 4 });
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});
beforeEach(() => sql`delete from runbooks`);

const runbook = (name: string, more: Partial<Runbook> = {}): Partial<Runbook> => ({
  name,
  steps: [{ interface: 'bios', step: 'factory_reset', order: 1, args: {} }],
  disable_ramdisk: false,
  extra: {},
  public: false,
  owner: null,
  description: null,
  traits: [],
  ...more,
});

const asked = { limit: 10, sort_key: 'id', sort_dir: 'asc' } as const;
const all = { visible: always, filter: always };
const names = (rows: readonly { name?: string }[]) => rows.map((row) => row.name);

it('a runbook comes back as it was stored, by name and by any form of its uuid', async () => {
  const steps = [{ interface: 'bios', step: 'x', order: 2, args: { a: [1, { $secret: 'id' }] } }] as const;
  const stored = await runbooks(sql).insert(runbook('CUSTOM_A', { steps, extra: { a: 1 }, traits: ['CUSTOM_A'] }));
  expect(await runbooks(sql).find('CUSTOM_A')).toEqual(stored);
  expect(await runbooks(sql).find(`{${stored.uuid.toUpperCase()}}`)).toEqual(stored);
  expect(stored).toMatchObject({ steps, extra: { a: 1 }, traits: ['CUSTOM_A'], updated_at: null });
  expect(await runbooks(sql).find('CUSTOM_B')).toBeUndefined();
});

it('a second runbook of the same name is refused by the store', async () => {
  await runbooks(sql).insert(runbook('CUSTOM_A'));
  const thrown = await runbooks(sql)
    .insert(runbook('CUSTOM_A'))
    .catch((error: unknown) => error);
  expect(brokenUnique(thrown)).toBe('runbooks_name_key');
});

it('the store itself refuses a public runbook with an owner', async () => {
  await expect(runbooks(sql).insert(runbook('CUSTOM_A', { public: true, owner: 'p1' }))).rejects.toThrow(
    'public_has_no_owner',
  );
});

it('an update replaces the fields that it names, keeps the others and says when', async () => {
  const { uuid } = await runbooks(sql).insert(runbook('CUSTOM_A', { owner: 'p1', traits: ['CUSTOM_A'] }));
  const changed = await runbooks(sql).update(uuid, {
    name: 'CUSTOM_B',
    owner: null,
    public: true,
    description: 'text',
  });
  expect(changed).toMatchObject({ name: 'CUSTOM_B', owner: null, public: true, description: 'text' });
  expect(changed.traits).toEqual(['CUSTOM_A']);
  expect(changed.updated_at).toBeInstanceOf(Date);
});

it('traits are replaced as a whole, also by none', async () => {
  const { uuid } = await runbooks(sql).insert(runbook('CUSTOM_A'));
  await runbooks(sql).setTraits(uuid, ['CUSTOM_X', 'HW_Y']);
  expect((await runbooks(sql).find(uuid))?.traits).toEqual(['CUSTOM_X', 'HW_Y']);
  await runbooks(sql).setTraits(uuid, []);
  expect((await runbooks(sql).find(uuid))?.traits).toEqual([]);
});

it('a list holds what the predicate lets through, in both directions', async () => {
  await runbooks(sql).insert(runbook('CUSTOM_A', { owner: 'p1' }));
  await runbooks(sql).insert(runbook('CUSTOM_B', { owner: 'p2' }));
  await runbooks(sql).insert(runbook('CUSTOM_C', { public: true }));
  await runbooks(sql).insert(runbook('CUSTOM_D'));
  const visible: Predicate = or(
    { is: 'equals', column: 'owner', value: 'p1' },
    { is: 'equals', column: 'public', value: true },
  );
  const list = (selection: typeof all, more = {}) => listed(runbooks(sql), ['name'], selection, { ...asked, ...more });
  expect(names(await list({ visible, filter: always }))).toEqual(['CUSTOM_A', 'CUSTOM_C']);
  expect(names(await list({ visible, filter: { is: 'equals', column: 'owner', value: 'p2' } }))).toEqual([]);
  expect(names(await list({ visible: never, filter: always }))).toEqual([]);
  expect(names(await list(all, { sort_dir: 'desc', limit: 2 }))).toEqual(['CUSTOM_D', 'CUSTOM_C']);
});

it.each(['asc', 'desc'] as const)(
  'pages by a column with nulls and ties, %s, lose and repeat nothing',
  async (sort_dir) => {
    for (const [index, owner] of ['p2', null, 'p1', 'p2', null].entries())
      await runbooks(sql).insert(runbook(`CUSTOM_${index}`, { owner }));
    const seen: string[] = [];
    let marker: string | undefined;
    for (;;) {
      const page = { limit: 1, sort_key: 'owner', sort_dir, ...(marker && { marker }) };
      const rows = await listed(runbooks(sql), ['uuid', 'name'], all, page);
      if (rows.length === 0) break;
      seen.push(rows[0]!.name);
      marker = rows[0]!.uuid;
    }
    const up = ['CUSTOM_2', 'CUSTOM_0', 'CUSTOM_3', 'CUSTOM_1', 'CUSTOM_4'];
    expect(seen).toEqual(sort_dir === 'asc' ? up : up.reverse());
  },
);

it('a marker outside of what the caller may see is no marker', async () => {
  const { uuid } = await runbooks(sql).insert(runbook('CUSTOM_A', { owner: 'p2' }));
  const after = (visible: Predicate, sort_key: string) =>
    listed(runbooks(sql), ['uuid'], { visible, filter: always }, { limit: 1, sort_key, sort_dir: 'asc', marker: uuid });
  for (const sort_key of ['id', 'name'])
    await expect(after({ is: 'equals', column: 'owner', value: 'p1' }, sort_key)).rejects.toMatchObject({
      code: 'MarkerNotFound',
    });
  expect(await after(always, 'owner')).toEqual([]);
});
