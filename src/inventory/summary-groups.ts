/** Counts of visible nodes for each value of a column. */
import type { Predicate } from '../model/predicates';
import { type Summarized, summarizedColumns } from '../model/resources/summarized';
import type { Db } from './database';
import { conditionOf } from './predicates';

type ValueCounts = Readonly<Record<string, number>>;

export type SummaryGroup = {
  readonly value: string | null;
  readonly count: number;
  readonly provision_state: ValueCounts;
  readonly power_state: ValueCounts;
  readonly fault: ValueCounts;
  readonly maintenance: number;
};

export type GroupSelection = {
  readonly by: Summarized;
  /** Over columns of nodes. */
  readonly nodes: Predicate;
  readonly limit: number;
  /** The last value of the page before. */
  readonly after?: string;
};

/** So many nodes are alike in all that is counted. */
type Alike = {
  readonly value: string | null;
  readonly provision_state: string;
  readonly power_state: string;
  readonly fault: string | null;
  readonly maintenance: boolean;
  readonly count: number;
};

const countsBy = (rows: readonly Alike[], column: 'provision_state' | 'power_state' | 'fault'): ValueCounts => {
  const counts = new Map<string, number>();
  for (const { [column]: name, count } of rows) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + count);
  return Object.fromEntries(counts);
};

const sum = (rows: readonly Alike[]): number => rows.reduce((all, { count }) => all + count, 0);

const groupOf = ([value, rows]: readonly [string | null, readonly Alike[]]): SummaryGroup => ({
  value,
  count: sum(rows),
  provision_state: countsBy(rows, 'provision_state'),
  power_state: countsBy(rows, 'power_state'),
  fault: countsBy(rows, 'fault'),
  maintenance: sum(rows.filter(({ maintenance }) => maintenance)),
});

const byValue = (rows: readonly Alike[]): Map<string | null, Alike[]> => {
  const groups = new Map<string | null, Alike[]>();
  for (const row of rows) groups.set(row.value, [...(groups.get(row.value) ?? []), row]);
  return groups;
};

export const summaryGroups = (sql: Db) => ({
  /** In the order of values; nodes without one come last. */
  async page({ by, nodes, limit, after }: GroupSelection): Promise<SummaryGroup[]> {
    const column = sql(`n.${summarizedColumns[by]}`);
    const rows = await sql<Alike[]>`
      select value, provision_state, power_state, fault, maintenance, count from (
        select ${column} as value, provision_state, coalesce(power_state, 'unknown') as power_state, fault, maintenance,
          count(*)::float8 as count, dense_rank() over (order by ${column}) as place
        from nodes n
        where ${conditionOf(sql, nodes, 'n')} and ${after === undefined ? sql`true` : sql`(${column} > ${after} or ${column} is null)`}
        group by ${column}, provision_state, power_state, fault, maintenance) counted
      where place <= ${limit} order by place`;
    return [...byValue(rows)].map(groupOf);
  },
});
