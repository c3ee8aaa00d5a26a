/** What the database role of a stolen API process, or of a stolen worker, can make a BMC worker do with stored credentials. */

import { randomUUID } from 'node:crypto';
import { type Looked, lookAtPower } from '../../src/activities/power-probe';
import { makeMove, moveOf, resealAll } from '../../src/activities/resealing';
import { openSecrets } from '../../src/activities/secrets';
import type { BmcNode } from '../../src/bmc/contract';
import { createLanes } from '../../src/bmc/lane';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { DueNode } from '../../src/inventory/nodes/power-sync';
import { newPair } from '../../src/inventory/secrets/sealed-box';
import {
  type BoxedSecret,
  createOpener,
  createSealer,
  type Opener,
  type Sealer,
} from '../../src/inventory/secrets/sealing';
import type { NodeUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { PlannedStep } from '../../src/model/lifecycle/step-types';
import { accept } from '../../src/runs/accept';
import type { RunOrder } from '../../src/runs/contract';
import { quickTiming } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';
import { type TestDatabase, testDatabase } from '../support/servers';
import { ofDriverInfo, ofRun, testVault } from '../support/vault';

const worldRequester = {
  user_id: null,
  user_name: 't',
  project_id: null,
  system_scope: 'all',
  strategy: 'noauth',
  request_id: 'r',
};

let database: TestDatabase;
let owner: Sql;
let asApi: Sql;
let asBmc: Sql;
let asControl: Sql;
let api: Inventory;
let bmc: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  asApi = connect(database.apiUrl, { max: 2 });
  asBmc = connect(database.bmcUrl, { max: 2 });
  asControl = connect(database.controlUrl, { max: 2 });
  api = createInventory(asApi);
  bmc = createInventory(asBmc);
});
beforeEach(() => owner`delete from secrets`);
afterAll(async () => {
  await Promise.all([api.close(), bmc.close(), asControl.end(), owner.end()]);
  await database.drop();
});

const credentials = { redfish_address: 'https://192.0.2.7/bmc', redfish_username: 'admin', redfish_password: 'calvin' };

/** A node as the API stores it. */
const enrolled = async (
  info: Readonly<Record<string, unknown>> = credentials,
  { group = '', vault = testVault as Sealer } = {},
): Promise<NodeUuid> => {
  const uuid = randomUUID();
  const sealed = vault.seal(info, ofDriverInfo(uuid, 'redfish', info, group));
  await asApi`
    insert into nodes (uuid, driver, provision_state, power_state, driver_info, conductor_group, owner)
    values (${uuid}, 'redfish', 'active', 'power off', ${asApi.json(sealed.document as never)}, ${group}, 'p1')`;
  await api.secrets.insert(sealed.secrets);
  return uuid as NodeUuid;
};

const nodeOf = async (uuid: NodeUuid) =>
  (await asBmc<DueNode[]>`select *, 0 as failures from nodes where uuid = ${uuid}`)[0]!;

/** Has a worker look at the node; the passwords that it would have sent, and how the look ended. */
const lookedAt = async (uuid: NodeUuid, vault: Opener = testVault) => {
  const sent: unknown[] = [];
  const warned: unknown[] = [];
  const { driver } = recordingDriver({
    verify: async ({ driver_info }: BmcNode) => {
      sent.push(driver_info.redfish_password);
      return { is: 'done', seen: { power_state: 'power off' } };
    },
  });
  const log = {
    info() {},
    warn: (_: string, facts?: { readonly reason?: unknown }) => void warned.push(facts?.reason),
  };
  const how: Looked = await lookAtPower(
    await nodeOf(uuid),
    { inventory: bmc, vault, driverOf: () => driver, lanes: createLanes(), log, holder: 'h', maxFailures: 3 },
    new AbortController().signal,
  );
  return { how, sent, warned };
};

const change = (uuid: NodeUuid, info: Readonly<Record<string, unknown>>) =>
  asApi`update nodes set driver_info = driver_info || ${asApi.json(info as never)} where uuid = ${uuid}`;

describe('credentials', () => {
  test('are opened for the BMC that they were given for', async () => {
    expect(await lookedAt(await enrolled())).toMatchObject({ how: 'same', sent: ['calvin'] });
  });

  test.each([
    ['another host', { redfish_address: 'https://203.0.113.9/bmc' }, 'redfish_address'],
    ['another port', { redfish_address: 'https://192.0.2.7:8443/bmc' }, 'redfish_address'],
    ['another scheme', { redfish_address: 'http://192.0.2.7/bmc' }, 'redfish_address'],
    ['another root path', { redfish_address: 'https://192.0.2.7/evil' }, 'redfish_address'],
    ['no check of certificates', { redfish_verify_ca: false }, 'redfish_verify_ca'],
    ['other authorities', { redfish_verify_ca: '/tmp/evil.pem' }, 'redfish_verify_ca'],
  ])('that the API’s role points to %s are not sent', async (_, info, field) => {
    const uuid = await enrolled();
    await change(uuid, info);
    const { how, sent, warned } = await lookedAt(uuid);
    expect([how, sent]).toEqual(['failed', []]);
    expect(warned).toEqual([expect.stringContaining(`(${field} has changed since)`)]);
  });

  test.each([
    ['the same address in other words', { redfish_address: 'HTTPS://192.0.2.7:443/bmc/redfish/v1/' }],
    ['another account', { redfish_username: 'root' }],
  ])('are opened where the change is %s', async (_, info) => {
    const uuid = await enrolled();
    await change(uuid, info);
    expect((await lookedAt(uuid)).sent).toEqual(['calvin']);
  });

  test('that were given without a check of certificates are opened with one', async () => {
    const uuid = await enrolled({ ...credentials, redfish_verify_ca: false });
    await change(uuid, { redfish_verify_ca: true });
    expect((await lookedAt(uuid)).sent).toEqual(['calvin']);
  });

  test('do not follow a driver, nor the reference in another node', async () => {
    const uuid = await enrolled();
    const other = await enrolled({ ...credentials, redfish_address: 'https://203.0.113.9', redfish_password: 'mine' });
    const { driver_info } = await nodeOf(uuid);
    await change(other, { redfish_password: driver_info.redfish_password });
    expect(await lookedAt(other)).toMatchObject({ how: 'failed', sent: [] });
    await asApi`update nodes set driver = 'fake-hardware' where uuid = ${uuid}`;
    expect((await lookedAt(uuid)).sent).toEqual([]);
  });

  test('leave the image of the ramdisk its account: that URL is the argument of the step that boots it, and no more', async () => {
    const deploy_iso = 'https://images:hunter2@images.example.org/ramdisk.iso';
    const node = await nodeOf(await enrolled({ ...credentials, deploy_iso }));
    const reference = node.driver_info.deploy_iso as { $secret: string };
    const deps = { inventory: bmc, vault: testVault };
    const values = await openSecrets(node, { image_url: reference }, deps);
    expect(values.get(reference.$secret)).toBe(deploy_iso);
    const elsewhere = { ...node, instance_info: { a: reference } };
    await expect(openSecrets(elsewhere, {}, deps)).rejects.toMatchObject({ code: 'SecretMisplaced' });
  });

  test('are no argument of a step, and no other field', async () => {
    const node = await nodeOf(await enrolled());
    const reference = node.driver_info.redfish_password;
    const deps = { inventory: bmc, vault: testVault };
    const misplaced = { code: 'SecretMisplaced' };
    await expect(openSecrets(node, { image_url: reference }, deps)).rejects.toMatchObject({
      ...misplaced,
      facts: { field: 'args.image_url', node: node.uuid },
    });
    await expect(openSecrets({ ...node, instance_info: { a: reference } }, {}, deps)).rejects.toMatchObject(misplaced);
    const swapped = { ...node, driver_info: { ...node.driver_info, redfish_username: reference } };
    await expect(openSecrets(swapped, {}, deps)).rejects.toMatchObject(misplaced);
    const run = testVault.seal({ args: { password: 'of a step' } }, ofRun(randomUUID()));
    await api.secrets.insert(run.secrets);
    expect([...(await openSecrets(node, run.document.args, deps)).values()].sort()).toEqual(['calvin', 'of a step']);
  });
});

describe('arguments of steps', () => {
  const deps = { inventory: undefined as never as Inventory, vault: testVault };
  beforeAll(() => {
    deps.inventory = bmc;
  });
  const given = { settings: [{ name: 'AdminPassword', value: 'hunter2' }] };
  const clean = planSteps([{ interface: 'bios', step: 'apply_configuration', args: given }], 'clean', {
    driver: 'redfish',
  });

  /** A cleaning as the API accepts it, with a password among its arguments. */
  const accepted = async (uuid: NodeUuid): Promise<PlannedStep['args']> => {
    await owner`update nodes set provision_state = 'manageable' where uuid = ${uuid}`;
    const { name, driver, conductor_group, provision_state } = (await api.nodes.find({ uuid }))!;
    const order: RunOrder = {
      node: { uuid, name, driver, conductor_group, provision_state },
      verb: 'clean',
      kind: 'clean',
      event: 'clean',
      ends: 'manage',
      target: 'manageable',
      fault: null,
      steps: clean.map((step) => ({ ...step, args: given })),
      runbook: null,
      asked: { requester: worldRequester, rule: 'x', rule_set: 'x' },
    };
    const { input } = await accept(order, { inventory: api, vault: testVault, timing: quickTiming });
    return input.steps[0]!.args;
  };
  const valuesOf = async (uuid: NodeUuid, args: unknown) => [
    ...(await openSecrets(await nodeOf(uuid), args, deps)).values(),
  ];

  test('open for the BMC that they were given for, where they were given', async () => {
    const uuid = await enrolled();
    const args = await accepted(uuid);
    expect(await valuesOf(uuid, args)).toEqual(['calvin', 'hunter2']);
    // As the retry of a step and an edit of a runbook may have it: at another position of the same list.
    const [setting] = args.settings as unknown[];
    expect(await valuesOf(uuid, { settings: [{ name: 'Other', value: 'x' }, setting] })).toContain('hunter2');
  });

  test('do not follow a run to another node, nor the node to another address', async () => {
    const uuid = await enrolled();
    const args = await accepted(uuid);
    const other = await enrolled({ ...credentials, redfish_address: 'https://203.0.113.9', redfish_password: 'mine' });
    const moved = { code: 'CredentialsMoved' };
    await expect(valuesOf(other, args)).rejects.toMatchObject({ ...moved, facts: { node: other } });
    const named = { ...(await nodeOf(other)), name: 'n2' };
    await expect(openSecrets(named, args, deps)).rejects.toMatchObject({ ...moved, facts: { node: 'n2' } });
    const apart = { ...(await nodeOf(uuid)), driver_info: { redfish_address: 'https://203.0.113.9' } };
    await expect(openSecrets(apart, args, deps)).rejects.toMatchObject(moved);
  });

  test('are no argument of another name, such as a URL that is fetched', async () => {
    const uuid = await enrolled();
    const [{ value }] = (await accepted(uuid)).settings as [{ value: unknown }];
    for (const args of [{ image_url: value }, { settings: [{ name: value }] }, { settings: [{ value: { a: value } }] }])
      await expect(valuesOf(uuid, args)).rejects.toMatchObject({ code: 'SecretMisplaced' });
  });

  test.each([
    ['runbook', 'steps', [{ args: { password: 'x' } }], true],
    ['deploy_template', 'steps', [{ args: { password: 'x' } }], true],
    ['volume_target', 'properties', { password: 'x' }, false],
    ['inspection_rule', 'actions', [{ args: { password: 'x' } }], false],
  ] as const)('may be those of a %s: %s', async (holder, field, document, opens) => {
    const uuid = await enrolled();
    const { secrets } = testVault.seal(document, { holder, holder_id: randomUUID(), field, groups: 'all' });
    await api.secrets.insert(secrets);
    const reference = { $secret: secrets[0]!.id };
    const opened = valuesOf(uuid, { password: reference });
    if (opens) expect(await opened).toContain('x');
    else await expect(opened).rejects.toMatchObject({ code: 'SecretMisplaced' });
    await expect(valuesOf(uuid, { image_url: reference })).rejects.toMatchObject({ code: 'SecretMisplaced' });
  });
});

describe('the store', () => {
  test('does not let the API’s role say whose or for which BMC a stored secret is', async () => {
    await enrolled();
    for (const column of ['holder', 'holder_id', 'bound', 'path'])
      await expect(asApi`update secrets set ${asApi({ [column]: randomUUID() } as never)}`).rejects.toThrow('denied');
    await expect(asApi`select ciphertext from secrets`).rejects.toThrow('permission denied');
    await expect(asApi`select boxes from secrets`).rejects.toThrow('permission denied');
  });

  test('takes no secret without a box', async () => {
    const [{ boxes: _boxes, ...unboxed }] = testVault.seal({ password: 'x' }, ofRun(randomUUID())).secrets as [
      BoxedSecret,
    ];
    await expect(asApi`insert into secrets ${asApi(unboxed)}`).rejects.toThrow('null value in column "boxes"');
  });

  test.each(['bound', 'path', 'holder_id', 'holder'])('opens nothing whose %s was altered', async (column) => {
    const uuid = await enrolled();
    const [row] = await bmc.secrets.read([
      ((await nodeOf(uuid)).driver_info.redfish_password as { $secret: string }).$secret,
    ]);
    expect(testVault.open(row!)).toBe('calvin');
    expect(() => testVault.open({ ...row!, [column]: `${row![column as keyof typeof row]} ` })).toThrow(
      /unable to authenticate/,
    );
  });

  test.each([
    ['owner', 'x'],
    ['conductor_group', 'x'],
    ['driver_info', {}],
    ['driver', 'x'],
    ['protected', true],
  ])('lets no worker change %s of a node', async (column, value) => {
    const uuid = await enrolled();
    for (const sql of [asBmc, asControl])
      await expect(sql`update nodes set ${sql({ [column]: value } as never)} where uuid = ${uuid}`).rejects.toThrow(
        'permission denied',
      );
  });

  test('lets no worker change on whose behalf a run is, and no BMC worker whose lease a node is', async () => {
    for (const sql of [asBmc, asControl]) {
      await expect(sql`update runs set owner = 'x'`).rejects.toThrow('permission denied');
      await expect(sql`update runs set requester = '{}'`).rejects.toThrow('permission denied');
    }
    await expect(asBmc`update nodes set lessee = 'x'`).rejects.toThrow('permission denied');
  });
});

describe('a key of its own for each conductor group', () => {
  const [general, blue, red] = [newPair(), newPair(), newPair()];
  const sealer = createSealer([
    { id: 'all', group: null, raw: general.publicRaw },
    { id: 'blue', group: 'blue', raw: blue.publicRaw },
    { id: 'red', group: 'red', raw: red.publicRaw },
  ]);
  const worker = {
    blue: createOpener(new Map([['blue', blue.privateRaw]])),
    red: createOpener(new Map([['red', red.privateRaw]])),
  };

  test('a worker opens its own group’s credentials only', async () => {
    const uuid = await enrolled(credentials, { group: 'blue', vault: sealer });
    expect((await lookedAt(uuid, worker.blue)).sent).toEqual(['calvin']);
    const { sent, warned } = await lookedAt(uuid, worker.red);
    expect([sent, warned]).toEqual([
      [],
      [expect.stringContaining('sealed to key blue, which the worker does not hold')],
    ]);
  });

  test('what a runbook holds is sealed to all groups', () => {
    const { secrets } = sealer.seal(
      { password: 'x' },
      { holder: 'runbook', holder_id: randomUUID(), field: 'steps', groups: 'all' },
    );
    expect(secrets[0]!.key_id).toBe('all,blue,red');
    expect([worker.blue.open(secrets[0]!), worker.red.open(secrets[0]!)]).toEqual(['x', 'x']);
  });

  test('a node that changes its group is sealed again by a worker of the old one', async () => {
    const uuid = await enrolled(credentials, { group: 'blue', vault: sealer });
    await asApi`update nodes set conductor_group = 'red' where uuid = ${uuid}`;
    const keyOf = { blue: 'blue', red: 'red' };
    expect(await bmc.resealing.strayed(worker.red.keyIds, keyOf, 'all', 10)).toEqual([]);
    expect(await bmc.resealing.strayed(worker.blue.keyIds, keyOf, 'all', 10)).toHaveLength(1);
    const { counts } = await resealAll({ inventory: bmc, opener: worker.blue, sealer });
    expect(counts).toMatchObject({ sealed: 1, foreign: 0 });
    expect((await lookedAt(uuid, worker.red)).sent).toEqual(['calvin']);
    expect((await lookedAt(uuid, worker.blue)).sent).toEqual([]);
  });
});

describe('sealing again', () => {
  const fresh = newPair();
  const both = createOpener(new Map([['new', fresh.privateRaw]]));
  const sealer = createSealer([{ id: 'new', group: null, raw: fresh.publicRaw }]);

  test('after a change of keys leaves nothing to the old one, and is safe to repeat', async () => {
    const uuid = await enrolled();
    const run = testVault.seal(
      { password: 'x' },
      { holder: 'runbook', holder_id: randomUUID(), field: 'steps', groups: 'all' },
    );
    await api.secrets.insert(run.secrets);
    const before = await resealAll({ inventory: bmc, opener: both, sealer });
    expect(before.counts).toEqual({ kept: 0, sealed: 0, foreign: 2, unused: 0 });
    const deps = { inventory: bmc, opener: testVault, sealer };
    expect(await resealAll(deps)).toEqual({
      counts: { kept: 0, sealed: 2, foreign: 0, unused: 0 },
      keys: [{ key_id: 'new', count: 2 }],
    });
    expect((await resealAll(deps)).counts).toMatchObject({ kept: 2, sealed: 0 });
    expect((await lookedAt(uuid, both)).sent).toEqual(['calvin']);
    const { sent, warned } = await lookedAt(uuid);
    expect(sent).toEqual([]);
    expect(warned).toEqual([expect.stringMatching(/sealed to key new, .* seal it again: temper secrets reseal/)]);
  });

  test('keeps to the BMC that they were given for', async () => {
    const uuid = await enrolled();
    await change(uuid, { redfish_address: 'https://203.0.113.9' });
    await resealAll({ inventory: bmc, opener: testVault, sealer });
    expect((await lookedAt(uuid, both)).sent).toEqual([]);
  });

  test('moves credentials to another BMC where an operator says so at a worker, with a row of the trail', async () => {
    const uuid = await enrolled();
    const deps = { inventory: bmc, opener: testVault, sealer: testVault };
    const missing = () => {
      throw new Error('missing');
    };
    expect(await moveOf({ uuid }, deps, missing)).toBeUndefined();
    await change(uuid, { redfish_address: 'https://192.0.2.8/bmc' });
    const move = (await moveOf({ uuid }, deps, missing))!;
    expect([move.from.destination, move.to.destination]).toEqual(['https://192.0.2.7/bmc', 'https://192.0.2.8/bmc']);
    await makeMove(move, 'ada', deps);
    expect((await lookedAt(uuid)).sent).toEqual(['calvin']);
    const [line] = await owner`select requester, data from audit where action = 'node.move_credentials'`;
    expect(line).toMatchObject({
      requester: { user_name: 'ada', strategy: 'command' },
      data: { secrets: ['/driver_info/redfish_password'] },
    });
    await expect(moveOf({ uuid: randomUUID() }, deps, missing)).rejects.toThrow('missing');
  });
});
