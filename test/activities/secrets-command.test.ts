/** The store behind `temper secrets`, with the settings of a BMC worker on a real database. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { createSealer } from '../../src/inventory/secrets/sealing';
import { newKeys, secretsOf } from '../../src/process/command/secrets';
import { vaultsOf } from '../../src/process/workers/sealing';
import { type TestDatabase, testDatabase } from '../support/servers';
import { ofDriverInfo } from '../support/vault';

let database: TestDatabase;
let sql: Sql;
let api: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.apiUrl, { max: 2 });
  api = createInventory(sql);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

const [old, fresh] = [newKeys(), newKeys()];
const raw = (text: string) => Buffer.from(text, 'base64');
const settings = () => ({
  TEMPER_DATABASE_URL: database.bmcUrl,
  TEMPER_SECRETS_PRIVATE_KEYS: `new:${fresh.private},old:${old.private}`,
});

test('a key is changed, and a node’s credentials are moved', async () => {
  const uuid = randomUUID();
  const info = { redfish_address: 'https://192.0.2.7', redfish_password: 'calvin' };
  const sealer = createSealer([{ id: 'old', group: null, raw: raw(old.public) }]);
  const { document, secrets } = sealer.seal(info, ofDriverInfo(uuid, 'redfish', info));
  await sql`insert into nodes (uuid, name, driver, driver_info) values (${uuid}, 'n1', 'redfish', ${sql.json(document)})`;
  await api.secrets.insert(secrets);

  const tool = secretsOf(settings());
  try {
    expect(await tool.keys()).toEqual([{ key_id: 'old', count: 1 }]);
    expect((await tool.reseal()).keys).toEqual([{ key_id: 'new', count: 1 }]);
    expect(await tool.findMove('n1')).toBeUndefined();
    await sql`update nodes set driver_info = driver_info || '{"redfish_address": "https://192.0.2.8"}'`;
    const move = await tool.findMove('n1');
    expect(move).toMatchObject({
      from: 'https://192.0.2.7, driver redfish, redfish_verify_ca true',
      to: 'https://192.0.2.8, driver redfish, redfish_verify_ca true',
    });
    await move!.make();
    expect(await tool.findMove(uuid)).toBeUndefined();
    await expect(tool.findMove('n2')).rejects.toThrow('There is no node n2.');
  } finally {
    await tool.close();
  }
});

test('settings that are missing or do not belong together are named', () => {
  expect(() => secretsOf({})).toThrow(/TEMPER_DATABASE_URL is not set.*TEMPER_SECRETS_PRIVATE_KEYS is not set/);
  const other = { ...settings(), TEMPER_SECRETS_PUBLIC_KEYS: `other:${newKeys().public}` };
  expect(() => secretsOf(other)).toThrow('TEMPER_SECRETS_PRIVATE_KEYS: lacks the private half of other');
  const sameName = { ...settings(), TEMPER_SECRETS_PUBLIC_KEYS: `new:${newKeys().public}` };
  expect(() => secretsOf(sameName)).toThrow('lacks the private half of new');
});

test('a worker seals with the public half of its first key where it is given no others', () => {
  const vaults = vaultsOf({
    TEMPER_SECRETS_PRIVATE_KEYS: new Map([['new', raw(fresh.private)]]),
    TEMPER_SECRETS_PUBLIC_KEYS: undefined,
    TEMPER_CONDUCTOR_GROUP: '',
  });
  const { secrets } = vaults.sealer.seal({ token: 'x' }, ofDriverInfo(randomUUID(), 'redfish', {}));
  expect(vaults.opener.open(secrets[0]!)).toBe('x');
});
