/** SQL of predicates, as in `matches`: a null column equals nothing. */
import type { Predicate } from '../model/predicates';
import { type Db, type Fragment, textArray } from './database';

/** Negation moves down to the columns, which handle null. Positive conditions keep their indexes. */
export const conditionOf = (sql: Db, predicate: Predicate, alias: string, negated = false): Fragment => {
  switch (predicate.is) {
    case 'true':
    case 'false':
      return (predicate.is === 'true') === negated ? sql`false` : sql`true`;
    case 'equals': {
      const column = sql(`${alias}.${predicate.column}`);
      return negated ? sql`${column} is distinct from ${predicate.value}` : sql`${column} = ${predicate.value}`;
    }
    case 'among': {
      const column = sql(`${alias}.${predicate.column}`);
      const values = textArray(sql, predicate.values);
      return negated ? sql`(${column} is null or ${column} <> all (${values}))` : sql`${column} = any (${values})`;
    }
    case 'contains': {
      const column = sql(`${alias}.${predicate.column}`);
      const found = sql`coalesce(strpos(${column}, ${predicate.value}) > 0, false)`;
      return negated ? sql`not ${found}` : found;
    }
    case 'null': {
      const column = sql(`${alias}.${predicate.column}`);
      return negated ? sql`${column} is not null` : sql`${column} is null`;
    }
    case 'not':
      return conditionOf(sql, predicate.of, alias, !negated);
    case 'and':
      return join(sql, predicate.all, alias, negated, negated ? 'or' : 'and');
    case 'or':
      return join(sql, predicate.any, alias, negated, negated ? 'and' : 'or');
  }
};

/** An empty `and` is true, an empty `or` is false. `operator` is negated already. */
const join = (
  sql: Db,
  parts: readonly Predicate[],
  alias: string,
  negated: boolean,
  operator: 'and' | 'or',
): Fragment => {
  const [first, ...rest] = parts.map((part) => conditionOf(sql, part, alias, negated));
  if (!first) return operator === 'and' ? sql`true` : sql`false`;
  const joined = rest.reduce(
    (left, right) => (operator === 'and' ? sql`${left} and ${right}` : sql`${left} or ${right}`),
    first,
  );
  return sql`(${joined})`;
};
