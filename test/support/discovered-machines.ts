/** Machines that no node stands for, as rows. */
import { randomUUID } from 'node:crypto';
import type { Sql } from '../../src/inventory/database';

/** One more that waits, with a MAC address of its own; its revision is `x`. */
export const discoveredMachine = async (sql: Sql): Promise<string> => {
  const key = randomUUID();
  const mac = `02:${key.replaceAll('-', '').slice(0, 10).match(/../g)!.join(':')}`;
  const [row] = await sql<{ uuid: string }[]>`
    insert into discovered_machines (key, macs, sender, revision, inventory)
    values (${key}, ${[mac]}, '192.0.2.200', 'x', '{}') returning uuid`;
  return row!.uuid;
};
