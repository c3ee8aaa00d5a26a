/** Visible nodes of a rollout's selection. */
import type { NodeUuid, RolloutUuid } from '../../model/ids';
import type { Predicate } from '../../model/predicates';
import { budgetUuids, propertyOf } from '../../model/rollouts/disruption';
import { type Db, textArray, uuidArray } from '../database';
import type { NodeRow } from '../nodes/nodes';
import { conditionOf } from '../predicates';
import { isAlive } from '../workers';

export type NodeSelectionQuery = {
  /** Over columns of nodes. */
  readonly visible: Predicate;
  readonly nodes?: readonly NodeUuid[];
  /** One of the values of each key, but all of `traits`. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** Without targets of these rollouts. */
  readonly exclude?: readonly RolloutUuid[];
  readonly limit: number;
};

export const rolloutSelection = (sql: Db) => {
  const chosen = (query: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(query).reduce((all, [name, values]) => {
      const key = propertyOf(name);
      if (key !== undefined) return sql`${all} and nodes.properties ->> ${key} = any (${textArray(sql, values)})`;
      if (name === 'traits') return sql`${all} and nodes.traits @> ${textArray(sql, values)}`;
      if (name === 'traits_any') return sql`${all} and nodes.traits && ${textArray(sql, values)}`;
      const list = budgetUuids.includes(name) ? uuidArray(sql, values) : textArray(sql, values);
      return sql`${all} and nodes.${sql(name)} = any (${list})`;
    }, sql`true`);
  return {
    /** Unordered. */
    named: (
      visible: Predicate,
      { uuids, names }: { readonly uuids: readonly string[]; readonly names: readonly string[] },
    ): Promise<{ uuid: NodeUuid; name: string | null }[]> => sql`
      select nodes.uuid, nodes.name from nodes
      where ${conditionOf(sql, visible, 'nodes')}
        and (nodes.uuid = any (${uuidArray(sql, uuids)}) or nodes.name = any (${textArray(sql, names)}))`,

    /** In the order of enrolment. */
    find: ({
      visible,
      nodes,
      query = {},
      exclude = [],
      limit,
    }: NodeSelectionQuery): Promise<{ uuid: NodeUuid }[]> => sql`
      select nodes.uuid from nodes
      where ${conditionOf(sql, visible, 'nodes')} and ${chosen(query)}
        ${nodes ? sql`and nodes.uuid = any (${uuidArray(sql, nodes)})` : sql``}
        and not exists (select from rollout_targets t
          where t.node_uuid = nodes.uuid and t.rollout = any (${uuidArray(sql, exclude)}) and t.state <> 'refused')
      order by nodes.id limit ${limit}`,

    /** In the order of enrolment, without deleted or invisible nodes. */
    read: (visible: Predicate, nodes: readonly NodeUuid[]): Promise<NodeRow[]> => sql<NodeRow[]>`
      select nodes.*, served.hostname as conductor, nodes.xmin::text as revision,
        nodes.reservation is not null and exists (
          select from runs r where r.id = nodes.reservation and r.lease_id is distinct from nodes.lease_id) as foreign_run
      from nodes left join lateral (
        select w.hostname from workers w
        where ${isAlive(sql, 'w')} and w.conductor_group = nodes.conductor_group and nodes.driver = any (w.drivers)
        order by w.hostname limit 1) served on true
      where ${conditionOf(sql, visible, 'nodes')} and nodes.uuid = any (${uuidArray(sql, nodes)})
      order by nodes.id`,

    async frozen(nodes: readonly NodeUuid[]): Promise<Set<NodeUuid>> {
      const rows = await sql<{ node_uuid: NodeUuid }[]>`
        select distinct node_uuid from freezes
        where node_uuid = any (${uuidArray(sql, nodes)}) and ended_at is null and (until is null or until > now())`;
      return new Set(rows.map(({ node_uuid }) => node_uuid));
    },
  };
};
