/** What a caller hears while the database is away: a 503 that says so, not a hang and not a bare 500. */
import { asTemperError, replyFor } from '../../src/api/errors';
import { connect } from '../../src/inventory/database';

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
