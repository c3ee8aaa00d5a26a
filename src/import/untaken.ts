/** Objects of Ironic that are never imported. docs/from-ironic.md has the same list. */
import type { Source } from './source';

export type Untaken = { readonly what: string; readonly count: number; readonly instead: string };

const again = 'create at Temper again what you still need';
const inspect = 'an inspection at Temper reads them from the machine';

const tables = [
  ['inspection_rules', 'inspection rule', 'inspection rules', again],
  ['node_inventory', 'inventory', 'inventories', inspect],
  ['bios_settings', 'BIOS setting', 'BIOS settings', inspect],
  ['firmware_information', 'firmware component', 'firmware components', inspect],
  ['node_history', 'entry of history', 'entries of history', 'keep the database of Ironic for it'],
] as const;

/** Counts the whole database, whichever nodes are wanted; omits zeros. */
export const readUntaken = async (source: Source): Promise<readonly Untaken[]> => {
  const found: Untaken[] = [];
  // The reads are sequential, because one connection has one snapshot.
  for (const [table, one, many, instead] of tables) {
    const count = await source.count(table);
    if (count > 0) found.push({ what: count === 1 ? one : many, count, instead });
  }
  return found;
};
