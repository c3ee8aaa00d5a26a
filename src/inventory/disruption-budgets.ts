/** Queries of disruption budgets: rows, unavailable nodes, and the lock of admissions. */
import type { NodeUuid, ProjectId } from '../model/ids';
import type { Predicate } from '../model/predicates';
import {
  type Amount,
  budgetUuids,
  type DisruptionLimit,
  type DisruptionQuery,
  downStates,
  mayBeMissing,
  propertyOf,
} from '../model/rollouts/disruption';
import { columnsOf, type Db, jsonOf, textArray, uuidArray } from './database';
import { conditionOf } from './predicates';

export type DisruptionBudget = DisruptionLimit & {
  readonly uuid: string;
  readonly project: ProjectId;
  readonly query: DisruptionQuery;
  readonly description: string | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export type DisruptionValues = Pick<
  DisruptionBudget,
  'project' | 'query' | 'max_unavailable' | 'min_available' | 'description'
>;

export type Disruption = { readonly nodes: number; readonly unavailable: number };

/** `missing` and `limit` are for the budget's project only. */
export type SpentBudget = {
  readonly uuid: string;
  readonly project: ProjectId;
  readonly missing: number;
  readonly limit: number;
};

type StoredBudget = Omit<DisruptionBudget, keyof DisruptionLimit> & {
  readonly max_unavailable: string | null;
  readonly min_available: string | null;
};

const disruptionBudgetColumns = [
  'uuid', 'project', 'query', 'max_unavailable', 'min_available', 'description', 'created_at', 'updated_at',
] as const; // biome-ignore format: one row of names

const amountOf = (text: string | null): Amount | null => (text === null || text.endsWith('%') ? text : Number(text));

const asBudget = (row: StoredBudget): DisruptionBudget => ({
  ...row,
  max_unavailable: amountOf(row.max_unavailable),
  min_available: amountOf(row.min_available),
});

const amountText = (amount: Amount | null): string | null => (amount === null ? null : String(amount));

const budgetValues = (sql: Db, { query, max_unavailable, min_available, ...others }: Partial<DisruptionValues>) => ({
  ...others,
  ...(query && { query: jsonOf(sql, query) }),
  ...(max_unavailable !== undefined && { max_unavailable: amountText(max_unavailable) }),
  ...(min_available !== undefined && { min_available: amountText(min_available) }),
});

const budgetNodes = (sql: Db, { project, query }: Pick<DisruptionBudget, 'project' | 'query'>) =>
  Object.entries(query).reduce((all, [name, values]) => {
    const key = propertyOf(name);
    if (key !== undefined) return sql`${all} and nodes.properties ->> ${key} = any (${textArray(sql, values)})`;
    if (name === 'traits') return sql`${all} and nodes.traits @> ${textArray(sql, values)}`;
    const list = budgetUuids.includes(name) ? uuidArray(sql, values) : textArray(sql, values);
    return sql`${all} and nodes.${sql(name)} = any (${list})`;
  }, sql`(nodes.owner = ${project} or nodes.lessee = ${project})`);

/** Unavailable: held, in maintenance, faulty, failed, or in an unfinished rollout with the present owner and lease. */
const missing = (sql: Db) => sql`(
  nodes.reservation is not null or nodes.maintenance or nodes.fault is not null
  or nodes.provision_state = any (${textArray(sql, downStates)})
  or exists (
    select from rollout_targets t join rollouts r on r.id = t.rollout where t.node_uuid = nodes.uuid
      and (t.owner, t.lessee, t.lease_id) is not distinct from (nodes.owner, nodes.lessee, nodes.lease_id)
      and (t.state in ('admitted', 'soaking', 'parked') or (t.state = 'failed' and r.state in ('running', 'paused')))))`;

const rows = (sql: Db) => ({
  /** Oldest first. @param visible over columns of budgets */
  async list({ visible, limit, after }: { visible: Predicate; limit: number; after?: string }) {
    const found = await sql<StoredBudget[]>`
      select ${sql(disruptionBudgetColumns)} from disruption_budgets where ${conditionOf(sql, visible, 'disruption_budgets')}
        and ${after ? sql`id > (select m.id from disruption_budgets m where m.uuid = ${after})` : sql`true`}
      order by id limit ${limit}`;
    return found.map(asBudget);
  },

  async find(uuid: string): Promise<DisruptionBudget | undefined> {
    const [row] = await sql<
      StoredBudget[]
    >`select ${sql(disruptionBudgetColumns)} from disruption_budgets where uuid = ${uuid}`;
    return row && asBudget(row);
  },

  async count(project: ProjectId): Promise<number> {
    const [row] = await sql<{ many: number }[]>`
      select count(*)::int as many from disruption_budgets where project = ${project}`;
    return row!.many;
  },

  async create(values: DisruptionValues): Promise<DisruptionBudget> {
    const [row] = await sql<StoredBudget[]>`
      insert into disruption_budgets ${columnsOf(sql, budgetValues(sql, values))} returning ${sql(disruptionBudgetColumns)}`;
    return asBudget(row!);
  },

  /** Waits for the end of an admission that counts this budget. Undefined if the budget is gone. */
  async update(uuid: string, values: Partial<DisruptionValues>): Promise<DisruptionBudget | undefined> {
    // SET needs at least one column.
    const [row] = await sql<StoredBudget[]>`
      update disruption_budgets set ${columnsOf(sql, { uuid, ...budgetValues(sql, values) })}, updated_at = now()
      where uuid = ${uuid} returning ${sql(disruptionBudgetColumns)}`;
    return row && asBudget(row);
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from disruption_budgets where uuid = ${uuid} returning 1`).length === 1;
  },
});

const counting = (sql: Db) => ({
  async disruption(budget: Pick<DisruptionBudget, 'project' | 'query'>, visible: Predicate): Promise<Disruption> {
    const [row] = await sql<Disruption[]>`
      select count(*)::int as nodes, (count(*) filter (where ${missing(sql)}))::int as unavailable
      from nodes where ${budgetNodes(sql, budget)} and ${conditionOf(sql, visible, 'nodes')}`;
    return row!;
  },

  /** A budget of this project covers the node. */
  async speakOf(project: ProjectId, node: NodeUuid): Promise<boolean> {
    const budgets = await sql<
      StoredBudget[]
    >`select ${sql(disruptionBudgetColumns)} from disruption_budgets where project = ${project} order by id`;
    for (const budget of budgets)
      if ((await sql`select from nodes where uuid = ${node} and ${budgetNodes(sql, budget)}`).length === 1) return true;
    return false;
  },

  /**
   * Budgets without room for this node. Call it in the transaction that takes the node, before it does. The budgets of the node's projects
   * are locked until its end, in one order, so that two admissions cannot count the same room. Counting is a separate statement after the
   * lock, so that it sees other admissions' commits.
   */
  async spentFor(node: NodeUuid): Promise<SpentBudget[]> {
    const locked = await sql<StoredBudget[]>`
      select ${sql(disruptionBudgetColumns)} from disruption_budgets
      where project in (select unnest(array[owner, lessee]) from nodes where uuid = ${node})
      order by id for update`;
    const spent: SpentBudget[] = [];
    for (const { uuid, project, ...budget } of locked.map(asBudget)) {
      const [now] = await sql<{ mine: boolean; nodes: number; missing: number }[]>`
        select count(*)::int as nodes, coalesce(bool_or(nodes.uuid = ${node}), false) as mine,
          (count(*) filter (where nodes.uuid <> ${node} and ${missing(sql)}))::int as missing
        from nodes where ${budgetNodes(sql, { project, query: budget.query })}`;
      const limit = mayBeMissing(budget, now!.nodes);
      if (now!.mine && now!.missing >= limit) spent.push({ uuid, project, missing: now!.missing, limit });
    }
    return spent;
  },
});

export const disruptionBudgets = (sql: Db) => ({ ...rows(sql), ...counting(sql) });
