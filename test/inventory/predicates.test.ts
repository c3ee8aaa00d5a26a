/** A predicate means in SQL what it means in memory. */
import { connect, type Sql } from '../../src/inventory/database';
import { conditionOf } from '../../src/inventory/predicates';
import { always, matches, never, type Predicate } from '../../src/model/predicates';
import { testDatabase } from '../support/servers';

let sql: Sql;
let close: () => Promise<void>;
beforeAll(async () => {
  const database = await testDatabase();
  sql = connect(database.apiUrl, { max: 1 });
  close = async () => {
    await sql.end();
    await database.drop();
  };
  for (const owner of [null, 'a', 'b'])
    for (const lessee of [null, 'a', 'b'])
      for (const maintenance of [true, false])
        await sql`insert into nodes ${sql({ name: `${owner}-${lessee}-${maintenance}`, driver: 'fake-hardware', owner, lessee, maintenance })}`;
});
afterAll(() => close());

const owned: Predicate = { is: 'equals', column: 'owner', value: 'a' };
const leased: Predicate = { is: 'equals', column: 'lessee', value: 'a' };
const among: Predicate = { is: 'among', column: 'owner', values: ['a', 'c'] };
const holds: Predicate = { is: 'contains', column: 'owner', value: 'a' };
const amongNone: Predicate = { is: 'among', column: 'lessee', values: [] };
const broken: Predicate = { is: 'equals', column: 'maintenance', value: true };
const free: Predicate = { is: 'null', column: 'owner' };
const no = (of: Predicate): Predicate => ({ is: 'not', of });

const leaves = [always, never, owned, leased, among, amongNone, holds, broken, free];
const pairs = leaves.flatMap((one) =>
  leaves.flatMap((other): Predicate[] => [
    { is: 'and', all: [one, other] },
    { is: 'or', any: [one, other] },
    { is: 'and', all: [no(one), other] },
    { is: 'or', any: [one, no(other)] },
  ]),
);
const nested: Predicate[] = [
  { is: 'and', all: [] },
  { is: 'or', any: [] },
  { is: 'and', all: [{ is: 'or', any: [owned, leased] }, no({ is: 'and', all: [broken, no(free)] })] },
  { is: 'or', any: [{ is: 'and', all: [owned, leased, broken] }, no(no(free))] },
];
const every = [...leaves, ...pairs, ...nested].flatMap((one) => [one, no(one)]);

test('every small predicate selects the rows that it matches, nulls included', async () => {
  const rows = await sql<{ name: string }[]>`select name, owner, lessee, maintenance from nodes order by id`;
  expect(rows).toHaveLength(18);
  for (const predicate of every) {
    const found = await sql<
      { name: string }[]
    >`select name from nodes where ${conditionOf(sql, predicate, 'nodes')} order by id`;
    const wanted = rows.filter((row) => matches(predicate, row)).map((row) => row.name);
    expect([predicate, found.map((row) => row.name)]).toEqual([predicate, wanted]);
  }
});

test('a value is a value: it cannot change the question', async () => {
  const sly: Predicate = { is: 'equals', column: 'owner', value: "a' or '1'='1" };
  expect(await sql`select 1 from nodes where ${conditionOf(sql, sly, 'nodes')}`).toEqual([]);
  const slyer: Predicate = { is: 'among', column: 'owner', values: ['}', '{a}', 'a,b', '"a"'] };
  expect(await sql`select 1 from nodes where ${conditionOf(sql, slyer, 'nodes')}`).toEqual([]);
});
