/** Time of leases within a month, by node or by project. */
import type { NodeUuid, ProjectId } from '../model/ids';
import type { Db } from './database';
import { roundLimit } from './first-rows';

type Used = {
  readonly project: ProjectId;
  readonly leases: number;
  readonly seconds: number;
};
export type ProjectUsage = Used & { readonly nodes: number };
/** Name and resource class are those at the beginning of the last lease. */
export type NodeUsage = Used & {
  readonly node_uuid: NodeUuid;
  readonly node_name: string | null;
  readonly resource_class: string | null;
};

export type UsageSelection = {
  readonly since: Date;
  /** Exclusive, and not after the present. */
  readonly until: Date;
  readonly limit: number;
};

/** Leases that had begun and not ended. An open lease lasts until the end of the time. */
const withinMonth = (sql: Db, { since, until }: UsageSelection) => sql`
  coalesce(l.ended_at, 'infinity') > ${since} and l.started_at < ${until}`;

const seconds = (sql: Db, { since, until }: UsageSelection) => sql`
  round(sum(extract(epoch from least(coalesce(l.ended_at, 'infinity'), ${until}) - greatest(l.started_at, ${since}))))::float8`;

export const usage = (sql: Db) => ({
  /** True if the project has leased a node, or this one. */
  async isKnown(project: ProjectId, node?: NodeUuid): Promise<boolean> {
    const [row] = await sql<{ known: boolean }[]>`
      select exists (select from leases where project = ${project} ${node ? sql`and node_uuid = ${node}` : sql``}) as known`;
    return row!.known;
  },

  /** Of all projects, in the order of their ids. */
  projects: (of: UsageSelection & { readonly after?: ProjectId }): Promise<ProjectUsage[]> => sql<ProjectUsage[]>`
    select l.project, count(distinct l.node_uuid) as nodes, count(*) as leases, ${seconds(sql, of)} as seconds from leases l
    where ${withinMonth(sql, of)} and ${of.after === undefined ? sql`true` : sql`l.project > ${of.after}`}
    group by l.project order by l.project ${roundLimit(sql, of.limit)}`,

  /** In the order of UUIDs. */
  nodes: (of: UsageSelection & { readonly project: ProjectId; readonly after?: NodeUuid }): Promise<NodeUsage[]> => sql<
    NodeUsage[]
  >`
    select l.project, l.node_uuid, (array_agg(l.node_name order by l.started_at desc))[1] as node_name,
      (array_agg(l.resource_class order by l.started_at desc))[1] as resource_class, count(*) as leases, ${seconds(sql, of)} as seconds
    from leases l
    where l.project = ${of.project} and ${withinMonth(sql, of)} and ${of.after === undefined ? sql`true` : sql`l.node_uuid > ${of.after}`}
    group by l.project, l.node_uuid order by l.node_uuid ${roundLimit(sql, of.limit)}`,
});
