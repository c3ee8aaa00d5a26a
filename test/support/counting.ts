/** A store that writes down which queries it is asked, by room and name. */
import type { Inventory } from '../../src/inventory';

export const counting = (inventory: Inventory) => {
  const calls: string[] = [];
  const counted = Object.fromEntries(
    Object.entries(inventory).map(([room, queries]) => [
      room,
      typeof queries !== 'object' || queries === null
        ? queries
        : Object.fromEntries(
            Object.entries(queries).map(([name, query]) => [
              name,
              typeof query !== 'function'
                ? query
                : (...args: unknown[]) => {
                    calls.push(`${room}.${name}`);
                    return (query as (...given: unknown[]) => unknown).apply(counted[room], args);
                  },
            ]),
          ),
    ]),
  ) as Record<string, unknown>;
  return { inventory: counted as unknown as Inventory, calls };
};
