/** What a caller gets while the database is away: a 503 that says so, not a hang and not a bare 500. */
import postgres from 'postgres';
import { asTemperError, replyFor } from '../../src/api/server/errors';
import { connect } from '../../src/inventory/database';
import { testDatabase } from '../support/servers';

test('a query without a server behind it becomes 503', async () => {
  const sql = connect('postgres://nobody@127.0.0.1:1/none', { max: 1 });
  try {
    const thrown = await sql`select 1`.then(
      () => undefined,
      (error: unknown) => error,
    );
    const reply = replyFor(asTemperError(thrown, 'req-1'));
    expect(reply.status).toBe(503);
    expect(reply.text).toContain('database does not answer');
  } finally {
    await sql.end({ timeout: 1 });
  }
});

describe('a database that has no room', () => {
  const refusals = async (work: (url: string, owner: postgres.Sql, name: string) => Promise<unknown>) => {
    const database = await testDatabase();
    const owner = postgres(database.ownerUrl, { max: 1 });
    try {
      await work(database.apiUrl, owner, new URL(database.ownerUrl).pathname.slice(1));
    } finally {
      await owner.end({ timeout: 1 });
      await database.drop();
    }
  };

  test('for one connection more becomes 503', () =>
    refusals(async (url, owner, name) => {
      await owner.unsafe(`alter database ${name} connection limit 0`);
      const sql = connect(url, { max: 1 });
      const thrown = await sql`select 1`.catch((error: unknown) => error);
      await sql.end({ timeout: 1 });
      expect((thrown as { code: string }).code).toBe('53300');
      expect(replyFor(asTemperError(thrown, 'req-1')).status).toBe(503);
    }));

  test.each(['53000', '53100', '53200', '53400', '58030'])('on its disk or in its memory becomes 503 (%s)', (code) =>
    refusals(async (_, owner) => {
      const raised = owner.unsafe(`do $$ begin raise exception 'no room' using errcode = '${code}'; end $$`);
      const thrown = await raised.catch((error: unknown) => error);
      expect(replyFor(asTemperError(thrown, 'req-1')).status).toBe(503);
    }),
  );
});
