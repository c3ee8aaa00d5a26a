/** Nodes that a run boots from a ramdisk record, in a store of a test file's own. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { NewCapability } from '../../src/inventory/nodes/boot-capabilities';
import { agentTokenOf, hashOf, inspectionTokenOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { newPair } from '../../src/inventory/secrets/sealed-box';
import { createSealer } from '../../src/inventory/secrets/sealing';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { type TestDatabase, testDatabase } from './servers';

/** Where a record's image has room for a boot's arguments and small files. */
export const imageAreas = { arguments_at: 0, arguments_bytes: 1_024, files_at: 1_024, files_bytes: 1_024 };

export type BootStores = {
  readonly database: TestDatabase;
  readonly owner: Sql;
  readonly api: Inventory;
  readonly bmc: Inventory;
  /** As the boot service has it, and its connection itself. */
  readonly boot: Inventory;
  readonly bootSql: Sql;
  close(): Promise<void>;
};

export const openBootStores = async (): Promise<BootStores> => {
  const database = await testDatabase();
  const owner = connect(database.ownerUrl, { max: 1 });
  const api = createInventory(connect(database.apiUrl, { max: 2 }));
  const bmc = createInventory(connect(database.bmcUrl, { max: 2 }));
  const bootSql = connect(database.bootUrl, { max: 4 });
  const boot = createInventory(bootSql);
  return {
    database,
    owner,
    api,
    bmc,
    boot,
    bootSql,
    async close() {
      await Promise.all([api.close(), bmc.close(), boot.close(), owner.end()]);
      await database.drop();
    },
  };
};

/** A ramdisk record; without kernel and initramfs it is an image alone. */
export const ramdiskRecord = async (
  { api }: Pick<BootStores, 'api'>,
  { arch = 'x86_64', kernel_sha256 = null as string | null, initrd_sha256 = null as string | null } = {},
) =>
  (await api.ramdisks.create({
    name: `r-${randomUUID().slice(0, 8)}`,
    arch,
    args: '',
    kernel_sha256,
    initrd_sha256,
    iso_sha256: 'a'.repeat(64),
    iso_bytes: 2_048,
    ...imageAreas,
  }))!;

/** A node that a run of a deployment holds, with fence 3. */
export const heldNode = async ({ owner }: Pick<BootStores, 'owner'>) => {
  const lock = { run: randomUUID() as RunUuid, node_uuid: randomUUID() as NodeUuid, fence: 3 };
  const { run, node_uuid } = lock;
  await owner`insert into nodes (uuid, driver, provision_state, reservation, fence) values (${node_uuid}, 'redfish', 'deploying', ${run}, 3)`;
  await owner`
    insert into runs (id, node_uuid, fence, kind, verb, state, workflow_id, requester, input, rule_set)
    values (${run}, ${node_uuid}, 3, 'deploy', 'active', 'running', ${`w-${run}`}, '{}', '{}', 'test')`;
  return lock;
};

const sealer = createSealer([{ id: 'k1', group: null, raw: newPair().publicRaw }]);

/** The URL of a boot as its worker makes it. @param act that makes it, `one/1` */
export const newCapability = (node_uuid: NodeUuid, ramdisk_uuid: string, act: string) => {
  const token = newUrlToken();
  const seal = (value: string) =>
    sealer.sealAgain(
      value,
      { id: randomUUID(), holder: 'agent', holder_id: node_uuid, path: '/agent/x', bound: null },
      'all',
    );
  const made: NewCapability = {
    act,
    ramdisk_uuid,
    arguments: 'quiet',
    inspection_url: null,
    url_hash: hashOf(token),
    token_hash: hashOf(agentTokenOf(token)),
    inspection_hash: hashOf(inspectionTokenOf(token)),
    url: seal(token),
    token: seal(agentTokenOf(token)),
  };
  return { token, made };
};
