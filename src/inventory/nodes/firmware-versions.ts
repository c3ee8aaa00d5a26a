/** Firmware versions of nodes at their last inspection. */
import type { Predicate } from '../../model/predicates';
import type { Db } from '../database';
import { conditionOf } from '../predicates';

export type FirmwareVersion = {
  readonly vendor: string | null;
  readonly model: string | null;
  readonly component: string;
  readonly version: string | null;
  readonly nodes: number;
};

export type FirmwareSelection = {
  /** Over columns of nodes. */
  readonly visible: Predicate;
  readonly vendor?: string;
  readonly model?: string;
  readonly component?: string;
  readonly limit: number;
  readonly skip: number;
};

export const firmwareVersions = (sql: Db) => ({
  /** By kind of node and component, most nodes first. */
  list: ({ visible, vendor, model, component, limit, skip }: FirmwareSelection): Promise<FirmwareVersion[]> => sql<
    FirmwareVersion[]
  >`
    select n.vendor, n.model, one ->> 'component' as component, one ->> 'current_version' as version, count(*)::int as nodes
    from (
      select uuid, properties ->> 'vendor' as vendor, properties ->> 'model' as model from nodes
      where ${conditionOf(sql, visible, 'nodes')}
    ) n
    join node_details d on d.node_uuid = n.uuid
    cross join lateral jsonb_array_elements(coalesce(d.firmware, '[]')) one
    where ${vendor === undefined ? sql`true` : sql`lower(n.vendor) = lower(${vendor})`}
      and ${model === undefined ? sql`true` : sql`lower(n.model) = lower(${model})`}
      and ${component === undefined ? sql`true` : sql`one ->> 'component' = ${component}`}
    group by 1, 2, 3, 4
    order by n.vendor nulls last, n.model nulls last, component, nodes desc, version nulls last limit ${limit} offset ${skip}`,
});
