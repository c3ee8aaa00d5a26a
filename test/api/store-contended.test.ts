/** What a caller gets whose change meets another one in the database: the change, or a 503 that says that it may be sent again. */
import { randomUUID } from 'node:crypto';
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await api.sql.unsafe(`
    create sequence meetings;
    create function meet() returns trigger language plpgsql as 'begin return new; end';
    create trigger meet before insert on chassis for each row execute function meet()`);
});
afterAll(() => api?.close());

/** Ends so many transactions from now on that make a chassis. A sequence counts those that are undone as well. */
const meet = async (times: number, code: string): Promise<void> => {
  await api.sql.unsafe(`
    alter sequence meetings restart;
    create or replace function meet() returns trigger language plpgsql security definer as $$ begin
      if nextval('meetings') <= ${times} then raise exception 'it met another one' using errcode = '${code}'; end if;
      return new;
    end $$`);
};

const tried = async (): Promise<number> => {
  const [row] = await api.sql<{ last_value: string }[]>`select last_value from meetings`;
  return Number(row!.last_value);
};

const make = (description: string, key?: string) =>
  api.as('operator', 'POST', '/v1/chassis', {
    body: { description },
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });

const recorded = async (uuid: string): Promise<number> =>
  (await api.sql`select 1 from audit where resource_id = ${uuid}`).length;

describe.each(['40P01', '40001'])('a transaction that Postgres ends with %s', (code) => {
  test('is begun anew, and what it does is done once', async () => {
    await meet(2, code);
    const reply = await make('the third time');
    expect([reply.status, await tried(), await recorded(reply.body.uuid)]).toEqual([201, 3, 1]);
  });

  test('again and again becomes 503, with when to send it again', async () => {
    await meet(9, code);
    const reply = await make('never');
    expect([reply.status, reply.headers.get('retry-after'), await tried()]).toEqual([503, '1', 3]);
    expect(faultOf(reply)).toMatch(
      /undid your change, because .* waited for each other\. Send the request again in 1 s\.$/,
    );
    expect(await api.sql`select 1 from chassis where description = 'never'`).toHaveLength(0);
  });

  test('may be sent again under its key', async () => {
    const key = randomUUID();
    await meet(9, code);
    expect((await make('under a key', key)).status).toBe(503);
    await meet(0, code);
    expect((await make('under a key', key)).status).toBe(201);
  });
});
