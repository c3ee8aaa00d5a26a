/** What an Ironic database has and an import does not take at all. docs/from-ironic.md has the same list. */
import type { Source } from './source';

/** So many rows of one kind, and what to do instead. */
export type Untaken = { readonly what: string; readonly count: number; readonly instead: string };

const anew = 'create anew at Temper what is still wanted';
const inspect = 'an inspection at Temper reads them from the machine';

const tables = [
  ['inspection_rules', 'inspection rule', 'inspection rules', anew],
  ['node_inventory', 'inventory', 'inventories', inspect],
  ['bios_settings', 'BIOS setting', 'BIOS settings', inspect],
  ['firmware_information', 'firmware component', 'firmware components', inspect],
  ['node_history', 'entry of history', 'entries of history', 'keep the database of Ironic for it'],
] as const;

/** Counts them in the whole database, whichever nodes are wanted; a kind of which there is none is left out. */
export const readUntaken = async (source: Source): Promise<readonly Untaken[]> => {
  const found: Untaken[] = [];
  // One connection, one snapshot: one after the other.
  for (const [table, one, many, instead] of tables) {
    const count = await source.count(table);
    if (count > 0) found.push({ what: count === 1 ? one : many, count, instead });
  }
  return found;
};
