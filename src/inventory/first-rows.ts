/** The first rows of an ordered query, with a limit that the store can plan by. */
import type { PendingQuery, Row } from 'postgres';
import type { Db } from './database';

type Fragment = PendingQuery<Row[]>;

/**
 * A round number that is no less, written out. A limit that is a parameter is planned as a tenth of all rows: such a plan looks
 * so dear that the store plans each statement anew, which takes longer than the statement, and the longer the more is kept.
 * Only round numbers are written out, for each is a statement of its own.
 */
export const roundLimit = (sql: Db, limit: number): Fragment =>
  sql`limit ${sql.unsafe(String(Math.max(1, Math.ceil(limit / 100)) * 100))}`;

/** @param order by names of columns that the query selects */
export const firstRows = (sql: Db, query: Fragment, order: Fragment, limit: number): Fragment => {
  const round = sql`${query} ${order} ${roundLimit(sql, limit)}`;
  return limit % 100 === 0 && limit > 0 ? round : sql`select * from (${round}) rounded ${order} limit ${limit}`;
};
