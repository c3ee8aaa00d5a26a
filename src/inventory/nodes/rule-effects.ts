/** Inputs and effects of inspection rules, under the fence in one transaction. */

import { settable } from '../../model/inspection/rule-ops';
import type { RuleOutcome, RulePort, RuleSubject } from '../../model/inspection/rule-run';
import type { InspectionRule } from '../../model/resources/inspection-rules';
import { columnsOf, type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';
import { writtenColumns } from '../resources';

const readableFields = [
  'uuid',
  'name',
  'driver',
  'conductor_group',
  'owner',
  'lessee',
  'traits',
  ...settable.node.names,
];
const portColumns = ['uuid', 'address', 'name', ...settable.port.names];

export const ruleEffects = (sql: Db) => ({
  async rules(phase: string): Promise<InspectionRule[]> {
    return sql<InspectionRule[]>`
      select uuid, description, phase, priority, sensitive, conditions, actions from inspection_rules
      where phase = ${phase} order by priority desc, id`;
  },

  /** Undefined if the lock is lost, or the node has no inventory. */
  async subject(lock: Fenced): Promise<RuleSubject | undefined> {
    const [node] = await sql<RuleSubject['node'][]>`${heldBy(sql, lock, readableFields)}`;
    const [found] = await sql<Pick<RuleSubject, 'inventory' | 'plugin_data'>[]>`
      select inventory, coalesce(plugin_data, '{}') as plugin_data from node_details
      where node_uuid = ${lock.node_uuid} and inventory is not null`;
    if (!node || !found) return undefined;
    const ports = await sql<RulePort[]>`
      select ${sql(portColumns)} from ports where node_uuid = ${lock.node_uuid} order by id`;
    return { node, ports, ...found };
  },

  /** Call it in a transaction. Writes nothing if the lock is lost. */
  async write(lock: Fenced, { node, traits, ports, plugin_data }: RuleOutcome): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held) return;
    const values = { ...writtenColumns(sql, settable.node.table, node), ...(traits && { traits }) };
    if (Object.keys(values).length > 0)
      await sql`update nodes set ${columnsOf(sql, values)}, updated_at = now() where uuid = ${lock.node_uuid}`;
    for (const port of ports)
      await sql`
        update ports set ${columnsOf(sql, writtenColumns(sql, settable.port.table, port.values))}, updated_at = now()
        where uuid = ${port.uuid} and node_uuid = ${lock.node_uuid}`;
    if (plugin_data)
      await sql`update node_details set plugin_data = ${jsonOf(sql, plugin_data)} where node_uuid = ${lock.node_uuid}`;
  },
});
