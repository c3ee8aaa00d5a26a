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
  close(): Promise<void>;
};

/** Connects when first used; `max` connections for each. */
export const openStores = async (max = 4): Promise<Stores> => {
  const database = await testDatabase();
  const owner = connect(database.ownerUrl, { max });
  const [api, control, bmc] = [database.apiUrl, database.controlUrl, database.bmcUrl].map((url) =>
    createInventory(connect(url, { max })),
  ) as [Inventory, Inventory, Inventory];
  return {
    owner,
    api,
    control,
    bmc,
    async close() {
      await Promise.all([owner.end({ timeout: 1 }), api.close(), control.close(), bmc.close()]);
      await database.drop();
    },
  };
};
