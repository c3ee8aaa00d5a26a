/** Imports one after the other and side by side: what a repeat takes, what it leaves alone, and that a dry run says what the run does. */
import { importIronic } from '../../src/import';
import { type Source, SourceFault } from '../../src/import/source';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { below, node, sourceOf, uuid } from '../support/ironic-rows';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

let database: TestDatabase;
let inventory: Inventory;
let sql: Sql;

beforeEach(async () => {
  database = await testDatabase();
  inventory = createInventory(connect(database.apiUrl, { max: 4 }));
  sql = connect(database.ownerUrl, { max: 2 });
});
afterEach(async () => {
  await inventory.close();
  await sql.end({ timeout: 5 });
  await database.drop();
});

const imported = (source: Source, wish: { dryRun?: boolean; only?: string[] } = {}) =>
  importIronic(
    source,
    { inventory, sealer: testVault, user: 'tester' },
    { dryRun: wish.dryRun ?? false, ...(wish.only && { only: new Set(wish.only) }) },
  );
const said = ({ lines }: Awaited<ReturnType<typeof imported>>) =>
  lines.map(({ is, kind, name, uuid: id, reason }) => `${is} ${kind} ${name ?? id}: ${reason}`);

const rack = { nodes: [node(1, 'one')], ports: [below(11, 1, { address: '00:00:5e:00:53:01' })] };
const changed = { ...rack, nodes: [node(1, 'one', { description: 'changed in Ironic' })] };

test('a UUID that Ironic has in another spelling is the same one to a repeat', async () => {
  const source = sourceOf({
    nodes: [node(1, 'one', { uuid: 'AAAABBBB-2222-4333-8444-00000000000A' })],
    ports: [below(11, 1, { uuid: 'aaaabbbb22224333844400000000000b', address: '00:00:5e:00:53:01' })],
  });
  await imported(source);
  const second = await imported(source, { only: ['AAAABBBB22224333844400000000000A'] });
  expect([second.counts.node, second.counts.port]).toMatchObject([{ same: 1 }, { same: 1 }]);
  expect(said(await imported(source))).toEqual([]);
});

test('a dry run says of two runbooks that claim one trait what the run does', async () => {
  const book = (id: number, name: string, owner: string) => ({ id, uuid: uuid(id), name, owner, extra: null });
  const source = sourceOf({
    runbooks: [book(1, 'CUSTOM_A', 'one'), book(2, 'CUSTOM_B', 'two')],
    runbook_steps: [1, 2].map((runbook_id) => ({ runbook_id, interface: 'power', step: 'reboot', order: 1 })),
    runbook_traits: [1, 2].map((runbook_id) => ({ runbook_id, trait: 'CUSTOM_GPU' })),
  });
  const dry = await imported(source, { dryRun: true });
  expect(await sql`select 1 from runbooks union all select 1 from runbook_traits`).toEqual([]);
  expect(said(dry)).toEqual([
    expect.stringMatching(/^refused runbook CUSTOM_B: .*CUSTOM_GPU belongs to another project/),
  ]);
  expect({ ...dry, dry_run: false }).toEqual(await imported(source));
});

test('a node that was deleted in Temper is left alone, and comes again with what is below it when it is named', async () => {
  await imported(sourceOf(rack));
  await sql`delete from nodes`;
  for (const source of [sourceOf(rack), sourceOf(changed)])
    expect(said(await imported(source))).toEqual([
      'kept node one: it was deleted in Temper; give its name to take it again',
      `kept port ${uuid(11)}: its node was deleted in Temper`,
    ]);
  const again = await imported(sourceOf(changed), { only: ['one'] });
  expect([again.counts.node, again.counts.port]).toMatchObject([{ new: 1 }, { new: 1 }]);
  expect(await sql`select n.description from nodes n join ports p on p.node_uuid = n.uuid`).toEqual([
    { description: 'changed in Ironic' },
  ]);
  expect((await imported(sourceOf(changed))).counts.node).toMatchObject({ same: 1 });
});

test('of what is below a node, what was deleted in Temper stays away though the node is named', async () => {
  await imported(sourceOf(rack));
  await sql`delete from ports`;
  await imported(sourceOf(changed), { only: ['one'] });
  expect(await sql`select 1 from ports`).toEqual([]);
});

test('what is written in Temper while the import looks at it stands', async () => {
  await imported(sourceOf(rack));
  const writing = connect(database.ownerUrl, { max: 1 });
  let repeat: ReturnType<typeof imported> | undefined;
  await writing.begin(async (tx) => {
    await tx`update nodes set provision_state = 'cleaning', reservation = ${uuid(99)}`;
    repeat = imported(sourceOf(changed));
    let waiting = 0;
    while (waiting === 0)
      waiting = (
        await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      ).length;
  });
  await writing.end();
  expect(said(await repeat!)).toEqual(['kept node one: it changed in Temper as well as in Ironic']);
  expect(await sql`select provision_state, description from nodes`).toEqual([
    { provision_state: 'cleaning', description: null },
  ]);
});

test('of two imports at once one is refused', async () => {
  let begin = (): void => {};
  const begun = new Promise<void>((done) => {
    begin = done;
  });
  let goOn = (): void => {};
  const held = new Promise<void>((done) => {
    goOn = done;
  });
  const whole = sourceOf(rack);
  const slow: Source = {
    ...whole,
    rows: async (table) => {
      begin();
      await held;
      return whole.rows(table);
    },
  };
  const first = imported(slow);
  await begun;
  await expect(imported(whole)).rejects.toThrow(SourceFault);
  expect((await imported(whole, { dryRun: true })).counts.node).toMatchObject({ new: 1 });
  goOn();
  expect((await first).counts.node).toMatchObject({ new: 1 });
});

test('during a recovery nothing is stored, as by no request', async () => {
  await sql`insert into recovery ${sql({ side: 'store', reason: 'the database is older' })}`;
  await expect(imported(sourceOf(rack))).rejects.toThrow(SourceFault);
  expect((await imported(sourceOf(rack), { dryRun: true })).counts.node).toMatchObject({ new: 1 });
  expect(await sql`select 1 from nodes`).toEqual([]);
});

test('a name that Ironic does not have is said', async () => {
  const report = await imported(sourceOf(rack), { only: ['one', 'on'] });
  expect(said(report)).toEqual(['refused node on: Ironic has none of this UUID or name']);
  expect(report.counts.node).toMatchObject({ new: 1, refused: 1 });
});

test('what is gone from Ironic is said of all kinds, while Temper has it', async () => {
  await imported(sourceOf(rack));
  const bare = { nodes: rack.nodes };
  expect(said(await imported(sourceOf(bare)))).toEqual([
    `gone port ${uuid(11)}: it is no longer in Ironic; Temper keeps it`,
  ]);
  await sql`delete from ports`;
  expect(said(await imported(sourceOf(bare)))).toEqual([]);
});
