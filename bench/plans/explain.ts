/** How the store finds what a statement asks for: its plan with these values and its plan for any, as one line each. */
import type { Sql } from '../../src/inventory/database';
import type { Statement } from './statements';

type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Join Type'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
};

export type Plan = {
  /** Node types from the outside in, with what each scans. */
  readonly shape: string;
  /** Tables that are read from one end to the other. */
  readonly wholeTables: readonly string[];
  /** Rows that were looked at, whether or not they were wanted. */
  readonly rowsRead: number;
  /** Pages of 8 KiB that were looked at. */
  readonly pages: number;
};

const all = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(all)];

// What says nothing of how rows are found.
const passing = ['Result', 'Limit', 'Materialize', 'Subquery Scan', 'Append'];

const nameOf = (node: PlanNode): string => {
  const on = node['Index Name'] ?? node['Relation Name'];
  return on ? `${node['Node Type']} ${on}` : node['Node Type'];
};

const shapeOf = (node: PlanNode): string => {
  const inner = (node.Plans ?? []).map(shapeOf).filter(Boolean).join(', ');
  if (passing.includes(node['Node Type'])) return inner;
  return inner ? `${nameOf(node)} (${inner})` : nameOf(node);
};

const isScan = (node: PlanNode): boolean => / Scan$/.test(node['Node Type']) && node['Node Type'] !== 'Subquery Scan';

const readBy = (node: PlanNode): number =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)) *
  (node['Actual Loops'] ?? 1);

const planOf = (root: PlanNode): Plan => {
  const nodes = all(root);
  // Rows of an index that a bitmap brings together are read once more by the scan above it.
  const scans = nodes.filter((node) => isScan(node) && node['Node Type'] !== 'Bitmap Index Scan');
  return {
    shape: shapeOf(root),
    wholeTables: nodes.filter((node) => /Seq Scan$/.test(node['Node Type'])).map((node) => node['Relation Name'] ?? ''),
    rowsRead: scans.reduce((sum, node) => sum + readBy(node), 0),
    pages: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
  };
};

const rootOf = (rows: readonly Record<string, unknown>[]): PlanNode =>
  (rows[0]!['QUERY PLAN'] as { Plan: PlanNode }[])[0]!.Plan;

/** The plan that the statement is carried out by with these values. */
export const planWith = async (sql: Sql, { text, values }: Statement): Promise<Plan> =>
  planOf(rootOf(await sql.unsafe(`explain (analyze, buffers, timing off, format json) ${text}`, values as never)));

/** The plan that a connection settles for when it has sent the statement often: made without knowing the values. */
export const planForAny = async (sql: Sql, { text, values }: Statement): Promise<Plan> => {
  await sql.unsafe(`set plan_cache_mode = force_generic_plan; prepare looked_at as ${text}`);
  try {
    const nulls = values.length > 0 ? `(${values.map(() => 'null').join(', ')})` : '';
    return planOf(rootOf(await sql.unsafe(`explain (format json) execute looked_at${nulls}`)));
  } finally {
    await sql.unsafe('deallocate looked_at; reset plan_cache_mode');
  }
};
