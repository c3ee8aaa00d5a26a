/** Facts that acts observed of a node, written under the fence. */
import type { RunObserved } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';
import { details } from './details';

type Sighting = Pick<RunObserved, 'properties' | 'macs' | 'bios' | 'firmware' | 'raid_config' | 'inventory'>;

export const observedFacts = (sql: Db) => ({
  /** Call it in a transaction. Writes nothing if the lock is lost. */
  async write(lock: Fenced, { properties, macs, bios, firmware, raid_config, inventory }: Sighting): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held) return;
    if (properties || raid_config)
      await sql`
        update nodes set properties = properties || ${jsonOf(sql, properties ?? {})},
          raid_config = coalesce(${raid_config ? jsonOf(sql, raid_config) : null}::jsonb, raid_config), updated_at = now()
        where uuid = ${lock.node_uuid}`;
    if (bios || firmware || inventory) await details(sql).write(lock.node_uuid, { bios, firmware, inventory });
    // A MAC address of another node's port stays there.
    for (const address of macs ?? [])
      await sql`
        insert into ports (node_uuid, address, pxe_enabled) values (${lock.node_uuid}, ${address}, true)
        on conflict do nothing`;
  },
});
