/** `temper import` from databases that Ironic itself made and filled: what both sides show, what is refused, what a repeat does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { importIronic, openSource, SourceFault } from '../../src/import';
import { startTestApi, type TestApi } from '../support/api';
import { baremetalCli, clientsMissing } from '../support/clients';
import { emptyMariadb, emptyPostgres, ironicMissing, mariadbMissing, startIronic } from '../support/ironic';
import { testVault } from '../support/vault';

const run = promisify(execFile);

type Shown = Readonly<Record<string, unknown>>;

const nodeList = async (...auth: string[]): Promise<Shown[]> => {
  const { stdout } = await run(
    baremetalCli(),
    [...auth, '--os-baremetal-api-version', '1.95', 'node', 'list', '--long', '-f', 'json'],
    { maxBuffer: 2 ** 26 },
  );
  return JSON.parse(stdout);
};

// The process that serves a node, and what belonged to Ironic's conductors.
const differing = ['driver_internal_info', 'conductor', 'reservation'];

/** Temper keeps times to the millisecond; the only lists are of traits, which Ironic shows in no order of its own. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return [...value].sort();
  if (typeof value !== 'string') return value;
  // Neither side shows a fraction that is nothing.
  return value.replace(/(:\d\d\.\d{3})\d{3}\+00:00$/, '$1000+00:00').replace(/\.000000\+00:00$/, '+00:00');
};

/** In one order: lists are paged by each side's own numbers. */
const compared = (nodes: readonly Shown[], names: ReadonlySet<unknown>): Shown[] =>
  nodes
    .filter((node) => names.has(node.name))
    .map((node) =>
      Object.fromEntries(
        Object.entries(node).flatMap(([field, value]) =>
          differing.includes(field) ? [] : [[field, comparable(value)]],
        ),
      ),
    )
    .sort((a, b) => String(a.name).localeCompare(String(b.name)));

const uuid = (number: number): string => `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`;
const taken = ['rest-1', 'rest-2', 'rest-3', 'rest-4', 'rest-5', 'rest-6', 'rest-7', 'red', 'ipmi'];

const databases = [
  { name: 'PostgreSQL', missing: clientsMissing() ?? ironicMissing, make: emptyPostgres },
  { name: 'MariaDB', missing: clientsMissing() ?? ironicMissing ?? mariadbMissing, make: emptyMariadb },
];

for (const { name, missing, make } of databases) {
  if (missing !== undefined) test.skip(`an import from Ironic’s ${name}: ${missing}`, () => undefined);
  (missing === undefined ? describe : describe.skip)(`an import from Ironic’s ${name}`, () => {
    let database: Awaited<ReturnType<typeof emptyPostgres>>;
    let ironic: Awaited<ReturnType<typeof startIronic>>;
    let api: TestApi;

    beforeAll(async () => {
      database = await make();
      [ironic, api] = await Promise.all([startIronic(database), startTestApi()]);
    });
    afterAll(async () => {
      await ironic?.stop();
      await database?.drop();
      await api?.close();
    });

    const doImport = async (dryRun = false) => {
      const source = await openSource(database.ironicUrl);
      try {
        const context = { inventory: api.inventory, sealer: testVault, user: 'tester' };
        // Most of its nodes are not in maintenance, and no conductor runs.
        return await importIronic(source, context, { dryRun, ironicStopped: true });
      } finally {
        await source.close();
      }
    };
    const ofTemper = () =>
      nodeList('--os-auth-type', 'admin_token', '--os-endpoint', api.url, '--os-token', 'operator');
    const ofIronic = () => nodeList('--os-auth-type', 'none', '--os-endpoint', ironic.url);
    const secretOf = async (path: string): Promise<unknown> => {
      const rows = await api.sql`select * from secrets where path = ${path}`;
      return rows.map((row) => testVault.open(row as never));
    };

    let first: Awaited<ReturnType<typeof doImport>>;

    test('a dry run says what would be taken and stores nothing', async () => {
      const dry = await doImport(true);
      expect(await api.sql`select 1 from nodes union all select 1 from secrets union all select 1 from events`).toEqual(
        [],
      );
      first = await doImport();
      expect({ ...dry, dry_run: false }).toEqual(first);
      expect(first.counts.node).toEqual({ new: 10, changed: 0, same: 0, kept: 0, refused: 6 });
      expect(first.counts.port).toEqual({ new: 2, changed: 0, same: 0, kept: 0, refused: 1 });
    });

    test('what cannot be taken is said line by line, with its reason', () => {
      expect(first.lines.map(({ name: who, is, reason }) => `${is} ${who}: ${reason}`).sort()).toEqual([
        'changed anaconda: deploy_interface anaconda is none of Temper’s redfish: direct instead',
        'refused CUSTOM_EMPTY: it has no step',
        'refused asking: it is allocating and has no node: ask Temper for a new one',
        'refused attached: network_interface neutron: Neutron attaches for it, which Temper does not',
        'refused forged: an object with the single key $secret is reserved',
        'refused locked: conductor conductor-1 holds its lock: wait until it is free',
        'refused moving: it is moving (cleaning): wait until it rests, then import again',
        'refused other: Temper has no driver snmp',
        'refused port-3: its node is not taken',
        'refused waiting: it is moving (clean wait): wait until it rests, then import again',
        'warning CUSTOM_WIPE: Step management.reset_idrac is not in the catalogue: it runs only on nodes whose ramdisk has it. Did you mean management.reset_bmc?',
      ]);
    });

    test('what is not taken at all is counted, kind by kind', () => {
      expect(first.not_taken.map(({ what, count }) => `${count} ${what}`)).toEqual([
        '1 inspection rule',
        '1 inventory',
        '2 BIOS settings',
        '1 firmware component',
        '3 entries of history',
      ]);
    });

    test('runbooks and deploy templates come with their steps, owners, traits and revisions', async () => {
      const get = async (path: string) => (await api.as('operator', 'GET', path)).body;
      expect(await get(`/v1/runbooks/${uuid(130)}`)).toMatchObject({
        name: 'CUSTOM_WIPE',
        owner: 'project-owner',
        public: false,
        description: 'before a new tenant',
        traits: ['CUSTOM_GPU'],
        steps: [
          { interface: 'management', step: 'reset_idrac', args: { password: '******' }, order: 1 },
          { interface: 'deploy', step: 'erase_devices_metadata', args: {}, order: 2 },
        ],
      });
      // As Ironic's own migration has it: one without traits is approved by its name.
      expect(await get(`/v1/runbooks/${uuid(131)}`)).toMatchObject({
        public: true,
        owner: null,
        traits: ['CUSTOM_ALL'],
      });
      expect((await get(`/temper/v1/runbooks/${uuid(130)}/revisions`)).revisions).toMatchObject([
        { revision: 1, author: { user_id: 'tester', strategy: 'import' } },
      ]);
      expect(await get(`/v1/deploy_templates/${uuid(140)}`)).toMatchObject({
        name: 'CUSTOM_RAID',
        extra: { for: 'disks' },
        steps: [{ interface: 'raid', step: 'apply_configuration', priority: 10 }],
      });
      expect(await secretOf('/steps/0/args/password')).toEqual(['book-secret']);
    });

    test('both sides list the same nodes', async () => {
      const [before, after] = await Promise.all([ofIronic(), ofTemper()]);
      const names = new Set(taken);
      expect(compared(before, names)).toHaveLength(taken.length);
      expect(compared(after, names)).toEqual(compared(before, names));
    });

    test('what belongs to a node comes with it, by the same UUIDs', async () => {
      const get = async (path: string) => (await api.as('operator', 'GET', path)).body;
      expect(await get(`/v1/ports/${uuid(101)}`)).toMatchObject({
        address: '52:54:00:00:00:01',
        portgroup_uuid: uuid(100),
        node_uuid: uuid(20),
        extra: { slot: 1 },
        local_link_connection: { switch_id: 'aa:bb:cc:dd:ee:ff', port_id: 'Eth1' },
      });
      expect(await get(`/v1/portgroups/${uuid(100)}`)).toMatchObject({ mode: '802.3ad', properties: { miimon: 100 } });
      expect(await get(`/v1/nodes/${uuid(20)}/traits`)).toEqual({ traits: ['CUSTOM_GPU', 'HW_CPU_X86_VMX'] });
      expect(await get(`/v1/volume/targets/${uuid(111)}`)).toMatchObject({ properties: { auth_password: '******' } });
      expect(await get(`/v1/volume/connectors/${uuid(110)}`)).toMatchObject({
        connector_id: 'iqn.2017-07.org.example:1',
      });
      expect(await get(`/v1/chassis/${uuid(900)}`)).toMatchObject({ description: 'rack 7' });
      expect(await get(`/v1/allocations/${uuid(120)}`)).toMatchObject({
        state: 'active',
        node_uuid: uuid(20),
        name: 'web',
      });
      expect(await get(`/v1/nodes/${uuid(20)}`)).toMatchObject({ allocation_uuid: uuid(120) });
    });

    test('secrets are sealed, and open for the BMC worker alone; agents’ tokens are not taken', async () => {
      expect(await secretOf('/driver_info/redfish_password')).toEqual(['red-secret']);
      expect(await secretOf('/driver_info/ipmi_password')).toEqual(['ipmi-secret']);
      expect(await secretOf('/instance_info/configdrive')).toEqual(['H4sIsecret']);
      expect(await secretOf('/properties/auth_password')).toEqual(['volume-secret']);
      const [{ text }] = await api.sql<[{ text: string }]>`
        select coalesce((select string_agg(n::text, '') from nodes n), '') || (select string_agg(i::text, '') from imports i)
          || (select string_agg(a::text, '') from audit a) || (select string_agg(e::text, '') from events e) as text`;
      for (const word of ['red-secret', 'ipmi-secret', 'H4sIsecret', 'volume-secret', 't0ken', 'book-secret'])
        expect(text).not.toContain(word);
    });

    test('a second run changes nothing and says so', async () => {
      const rows = () =>
        api.sql`select uuid, xmin::text from nodes union all select uuid, xmin::text from ports order by 1`;
      const before = await rows();
      const second = await doImport();
      expect(
        Object.values(second.counts)
          .flatMap(({ new: fresh, changed }) => [fresh, changed])
          .every((n) => n === 0),
      ).toBe(true);
      expect(second.counts.node).toMatchObject({ same: 10, refused: 6 });
      expect(await rows()).toEqual(before);
    });

    test('a third takes what changed in Ironic alone; what changed in Temper too stands', async () => {
      await ironic.change('change');
      await api.sql`update nodes set description = 'changed in Temper' where uuid = ${uuid(2)}`;
      const third = await doImport();
      expect(third.counts.node).toEqual({ new: 1, changed: 2, same: 6, kept: 1, refused: 5 });
      expect(third.lines.filter(({ is }) => is === 'kept' || is === 'gone')).toEqual([
        {
          kind: 'node',
          uuid: uuid(2),
          name: 'rest-2',
          is: 'kept',
          reason: 'it changed in Temper as well as in Ironic',
        },
        { kind: 'node', uuid: uuid(3), name: null, is: 'gone', reason: 'it is no longer in Ironic; Temper keeps it' },
      ]);
      const described =
        await api.sql`select description from nodes where uuid in (${uuid(1)}, ${uuid(2)}) order by uuid`;
      expect(described.map(({ description }) => description)).toEqual(['changed in Ironic', 'changed in Temper']);
      expect(await secretOf('/driver_info/redfish_password')).toEqual(['new-secret']);
    });

    test('a database of another release is refused', async () => {
      await expect(
        importIronic(
          { rows: async () => [{ version_num: 'abc' }], count: async () => 0, close: async () => {} },
          { inventory: api.inventory, sealer: testVault, user: 'tester' },
          { dryRun: true },
        ),
      ).rejects.toThrow(SourceFault);
    });
  });
}
