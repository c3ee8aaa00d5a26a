/** An API process whose release is newer than its database. */
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { migrationFiles } from '../../src/inventory/migrate';
import { schemaCheck } from '../../src/process/schema';
import { testDatabase } from '../support/servers';

test('it is not ready while the database lacks a migration, and looks no more once it has all', async () => {
  const database = await testDatabase();
  const sql = connect(database.ownerUrl, { max: 1 });
  const inventory = createInventory(connect(database.apiUrl, { max: 1 }));
  const missingMigrations = jest.fn(inventory.missingMigrations);
  const check = schemaCheck({ missingMigrations });
  const newest = migrationFiles().at(-1)!;
  try {
    await sql`delete from migrations where name = ${newest}`;
    await expect(check()).rejects.toThrow(`the database lacks ${newest}: run migrate of this release`);
    await sql`insert into migrations (name) values (${newest}), ('9999-of-a-newer-release.sql')`;
    await check();
    await check();
    expect(missingMigrations).toHaveBeenCalledTimes(2);
  } finally {
    await inventory.close();
    await sql.end({ timeout: 5 });
    await database.drop();
  }
});
