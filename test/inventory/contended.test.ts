/** Two transactions that wait for each other: Postgres ends one of them, and it is begun anew. */
import { connect, isContended, transacted } from '../../src/inventory/database';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: ReturnType<typeof connect>;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 2 });
  await sql`create table counters (id int primary key, count int not null default 0)`;
  await sql`insert into counters (id) values (1), (2)`;
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});

/** Resolves for both once both have come. */
const meeting = () => {
  let come = 0;
  let open = () => {};
  const both = new Promise<void>((done) => {
    open = done;
  });
  return async () => {
    come += 1;
    if (come === 2) open();
    await both;
  };
};

test('both do their work once', async () => {
  const meet = meeting();
  let begun = 0;
  const work = (first: number, second: number) =>
    transacted(sql, async (tx) => {
      begun += 1;
      await tx`update counters set count = count + 1 where id = ${first}`;
      await meet();
      await tx`update counters set count = count + 1 where id = ${second}`;
      return first;
    });
  expect(await Promise.all([work(1, 2), work(2, 1)])).toEqual([1, 2]);
  expect(begun).toBe(3);
  expect(await sql`select count from counters`).toEqual([{ count: 2 }, { count: 2 }]);
});

test('one that meets another each time is given up, and what failed otherwise is not repeated', async () => {
  const tries = async (code: string) => {
    let begun = 0;
    const thrown = await transacted(sql, async (tx) => {
      begun += 1;
      await tx.unsafe(`do $$ begin raise exception 'ended' using errcode = '${code}'; end $$`);
    }).catch((error: unknown) => error);
    return { begun, contended: isContended(thrown) };
  };
  expect(await tries('40001')).toEqual({ begun: 3, contended: true });
  expect(await tries('23505')).toEqual({ begun: 1, contended: false });
});
