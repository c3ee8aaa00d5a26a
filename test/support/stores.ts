/** A store of one test file's own, as each process has it: with its role's rights only, and as the owner of the database. */
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { testDatabase } from './servers';

export type Stores = {
  /** As the owner of the database, for what no process may read or write. */
  readonly owner: Sql;
  readonly api: Inventory;
  readonly control: Inventory;
  readonly bmc: Inventory;
  readonly boot: Inventory;
  /** Connections of two roles, for what these may not do. */
  readonly apiSql: Sql;
  readonly bootSql: Sql;
  close(): Promise<void>;
};

/** Connects when first used; `max` connections for each. */
export const openStores = async (max = 4): Promise<Stores> => {
  const database = await testDatabase();
  const { ownerUrl, apiUrl, controlUrl, bmcUrl, bootUrl } = database;
  const sqlOf = (url: string): Sql => connect(url, { max });
  const [owner, apiSql, bootSql] = [sqlOf(ownerUrl), sqlOf(apiUrl), sqlOf(bootUrl)];
  const api = createInventory(apiSql);
  const control = createInventory(sqlOf(controlUrl));
  const bmc = createInventory(sqlOf(bmcUrl));
  const boot = createInventory(bootSql);
  return {
    owner,
    api,
    control,
    bmc,
    boot,
    apiSql,
    bootSql,
    async close() {
      await Promise.all([
        owner.end({ timeout: 1 }),
        ...[api, control, bmc, boot].map((inventory) => inventory.close()),
      ]);
      await database.drop();
    },
  };
};
