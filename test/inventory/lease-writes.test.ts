/** The end of a lease on a connection that has never written for a lessee: what the statement itself says is what stays. */
import { createInventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { heldAct } from '../support/held-act';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

let database: TestDatabase;
let sql: Sql;
beforeEach(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 1 });
});
afterEach(async () => {
  await sql.end();
  await database.drop();
});

const leased = async (): Promise<string> => {
  const [node] = await sql<{ uuid: string }[]>`
    insert into nodes (driver, provision_state, owner, lessee, instance_info, extra)
    values ('fake-hardware', 'deleting', 'o', 'l', '{"image_source": "x"}', '{"rack": 1}') returning uuid`;
  return node!.uuid;
};

test('a tear-down that moves the node on forgets its instance', async () => {
  const [api, control] = [database.apiUrl, database.controlUrl].map((url) => createInventory(connect(url, { max: 1 })));
  try {
    const { lock } = await heldAct({ api: api!, owner: sql, vault: testVault });
    await sql`
      update nodes set provision_state = 'deleting', owner = 'o', lessee = 'l', instance_info = '{"image_source": "x"}',
        driver_internal_info = '{"automatic_lessee": true}' where uuid = ${lock.node_uuid}`;
    await control!.runs.moveNode(lock, 'cleaning', 'instance');
    expect(await sql`select instance_info, lessee from nodes where uuid = ${lock.node_uuid}`).toEqual([
      { instance_info: {}, lessee: null },
    ]);
  } finally {
    await Promise.all([api!.close(), control!.close()]);
  }
});

test('what is written with it stays as it was written', async () => {
  const uuid = await leased();
  await sql`update nodes set extra = '{"rack": 2}', description = 'moved', lessee = 'm' where uuid = ${uuid}`;
  expect(await sql`select extra, description, lessee from nodes where uuid = ${uuid}`).toEqual([
    { extra: { rack: 2 }, description: 'moved', lessee: 'm' },
  ]);
});

test('another caller’s write under a lease is not the lessee’s', async () => {
  const uuid = await leased();
  await sql`update nodes set of_lease = '{"description": {"was": null}}' where uuid = ${uuid}`;
  await sql`update nodes set extra = '{"rack": 2}' where uuid = ${uuid}`;
  await sql`update nodes set lessee = null where uuid = ${uuid}`;
  expect(await sql`select extra from nodes where uuid = ${uuid}`).toEqual([{ extra: { rack: 2 } }]);
});
