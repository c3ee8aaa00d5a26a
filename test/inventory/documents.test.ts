/** Which columns are documents is said once, in the table of the wire: what is stored or imported is written by it. */
import { kinds } from '../../src/import/objects';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { columnOf } from '../../src/model/resources/fields';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;
let inventory: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.apiUrl, { max: 2 });
  inventory = createInventory(sql);
});
afterAll(async () => {
  await inventory.close();
  await database.drop();
});

test.each(Object.values(kinds))('the documents of $name are the columns that the store has as JSON', async (stored) => {
  const { name, table } = stored;
  const columns = table.fields.flatMap((row) => columnOf(row) ?? []);
  const typed = table.fields.filter(({ type }) => type === 'object' || type === 'list').map(columnOf);
  const found = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = ${name} and table_schema = current_schema() and data_type = 'jsonb' and column_name in ${sql(columns)}`;
  expect(typed.filter((column) => column !== undefined).sort()).toEqual(found.map((one) => one.name).sort());
});

const node = '11111111-2222-4333-8444-000000000001';
const template = '11111111-2222-4333-8444-000000000002';

test('an import stores lists, objects and nothing at all as they are', async () => {
  const steps = [{ interface: 'bios', step: 'apply_configuration', args: { settings: [] }, priority: 1 }];
  const documents = {
    extra: { of: [1, [2]] },
    properties: {},
    raid_config: { logical_disks: [] },
    target_raid_config: null,
  };
  await inventory.imports.insert(kinds.node, {
    uuid: node,
    name: 'one',
    driver: 'redfish',
    description: undefined,
    ...documents,
  });
  await inventory.imports.insert(kinds['deploy template'], {
    uuid: template,
    name: 'CUSTOM_ONE',
    steps: [],
    extra: {},
  });
  await inventory.imports.replace(kinds['deploy template'], template, { steps });
  expect(await sql`select extra, properties, raid_config, target_raid_config from nodes where uuid = ${node}`).toEqual([
    documents,
  ]);
  expect(await sql`select steps, extra from deploy_templates where uuid = ${template}`).toEqual([{ steps, extra: {} }]);
});
