/** The first rows of an ordered query, with a limit that PostgreSQL can plan by. */
import type { Db, Fragment } from './database';

/**
 * A literal round number and one, at least `limit`. Pages have round numbers of rows, and one row more shows that another follows. With a parameterised LIMIT, PostgreSQL assumes 10 % of the rows and never settles on a generic
 * plan. Planning then takes longer than execution, and more with more rows. Only round numbers, because each literal is a prepared
 * statement.
 */
export const roundLimit = (sql: Db, limit: number): Fragment =>
  sql`limit ${sql.unsafe(String(Math.max(1, Math.ceil((limit - 1) / 100)) * 100 + 1))}`;

/** @param order by columns that the query selects */
export const firstRows = (sql: Db, query: Fragment, order: Fragment, limit: number): Fragment => {
  const round = sql`${query} ${order} ${roundLimit(sql, limit)}`;
  return limit % 100 === 1 && limit > 1 ? round : sql`select * from (${round}) rounded ${order} limit ${limit}`;
};
