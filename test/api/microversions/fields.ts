/** Shows of a field that older versions leave it out and refuse it, and that the version which brought it does neither. */
import { allocationTable } from '../../../src/model/resources/allocations';
import { driverTable } from '../../../src/model/resources/driver-fields';
import { type FieldRow, fieldOf, isSortable, type ResourceTable } from '../../../src/model/resources/fields';
import { historyTable } from '../../../src/model/resources/history';
import { biosTable, firmwareTable } from '../../../src/model/resources/node-details';
import { interfaceFieldNames, nodeTable, offered } from '../../../src/model/resources/nodes';
import { portgroupTable } from '../../../src/model/resources/portgroups';
import { portTable } from '../../../src/model/resources/ports';
import { runbookTable } from '../../../src/model/resources/runbooks';
import type { Change, Changing } from '../../../tools/gen/version-changes';
import { happened } from '../../support/happenings';
import { type Fill, type NodeColumns, step } from '../../support/rule-world';
import { lessee, owner, stranger } from '../../support/world';
import { ask, type Bench, expectGood, expectRefused, fresh, freshMac, sidesOf } from './bench';

type Body = Readonly<Record<string, unknown>>;

/** Where a resource is shown, listed and written. */
type Desk = {
  readonly table?: ResourceTable;
  readonly show: string;
  /** The object within the answer. */
  readonly pick?: (body: Body) => Body;
  readonly prepare?: (bench: Bench, node: string) => Promise<unknown>;
  /** Takes `fields` from this version on. */
  readonly list?: { readonly path: string; readonly chosenSince: number };
  /** A list of all fields. */
  readonly whole?: string;
  readonly create?: { readonly request: string; readonly body: () => Body };
  readonly patch?: string;
};

const first = (key: string) => (body: Body) => (body[key] as Body[])[0]!;
const bios = [{ name: 'ProcTurbo', value: 'Enabled' }];
const firmware = [{ component: 'bmc', current_version: '1.0' }];

const desks: Readonly<Record<Changing, Desk>> = {
  node: {
    table: nodeTable,
    show: 'GET /v1/nodes/{node}',
    list: { path: '/v1/nodes', chosenSince: 8 },
    whole: '/v1/nodes/detail',
    create: { request: 'POST /v1/nodes', body: () => ({ driver: 'redfish' }) },
    patch: 'PATCH /v1/nodes/{node}',
  },
  'node states': { show: 'GET /v1/nodes/{node}/states' },
  port: {
    table: portTable,
    show: 'GET /v1/ports/{port}',
    list: { path: '/v1/ports', chosenSince: 8 },
    whole: '/v1/ports/detail',
    create: { request: 'POST /v1/ports', body: () => ({ node_uuid: '{node}', address: freshMac() }) },
    patch: 'PATCH /v1/ports/{port}',
  },
  portgroup: {
    table: portgroupTable,
    show: 'GET /v1/portgroups/{portgroup}',
    list: { path: '/v1/portgroups', chosenSince: 23 },
    whole: '/v1/portgroups/detail',
    create: { request: 'POST /v1/portgroups', body: () => ({ node_uuid: '{node}' }) },
    patch: 'PATCH /v1/portgroups/{portgroup}',
  },
  allocation: {
    table: allocationTable,
    show: 'GET /v1/allocations/{allocation}',
    list: { path: '/v1/allocations', chosenSince: 52 },
    whole: '/v1/allocations',
    create: { request: 'POST /v1/allocations', body: () => ({ resource_class: 'none' }) },
  },
  runbook: {
    table: runbookTable,
    show: 'GET /v1/runbooks/{runbook}',
    list: { path: '/v1/runbooks', chosenSince: 92 },
    whole: '/v1/runbooks?detail=true',
    create: {
      request: 'POST /v1/runbooks',
      body: () => ({ name: `CUSTOM_F${fresh()}`, steps: [{ ...step, order: 1 }] }),
    },
    patch: 'PATCH /v1/runbooks/{runbook}',
  },
  driver: { table: driverTable, show: 'GET /v1/drivers/redfish', list: { path: '/v1/drivers', chosenSince: 77 } },
  'bios setting': {
    table: biosTable,
    show: 'GET /v1/nodes/{node}/bios/ProcTurbo',
    pick: (body) => body.ProcTurbo as Body,
    prepare: ({ api }, node) => api.inventory.details.write(node as never, { bios }),
    list: { path: '/v1/nodes/{node}/bios', chosenSince: 74 },
  },
  'firmware component': {
    table: firmwareTable,
    show: 'GET /v1/nodes/{node}/firmware',
    pick: first('firmware'),
    prepare: ({ api }, node) => api.inventory.details.write(node as never, { firmware }),
    list: { path: '/v1/nodes/{node}/firmware', chosenSince: 86 },
  },
  history: {
    table: historyTable,
    show: 'GET /v1/nodes/{node}/history?detail=true',
    pick: first('history'),
    prepare: ({ api }, node) => happened(api, { node: node as never, run: null }, 'node.moved', { from: 'a', to: 'b' }),
    list: { path: '/v1/nodes/{node}/history', chosenSince: 78 },
  },
};

/** A value to write, what must come with it, and how its node must be. */
type Sample = { readonly value: unknown; readonly with?: Body; readonly columns?: NodeColumns };

const text = (value = 'sampled'): Sample => ({ value });
const yes: Sample = { value: true };
const connection = { port_id: 'eth1', switch_id: '0a:1b:2c:3d:4e:5f' };

const samples: Partial<Readonly<Record<Changing, Readonly<Record<string, Sample>>>>> = {
  node: {
    name: text('named-'),
    resource_class: text(),
    conductor_group: text(),
    automated_clean: yes,
    protected: { ...yes, columns: { provision_state: 'active' } },
    protected_reason: { ...text(), with: { protected: true }, columns: { provision_state: 'active' } },
    owner: text(owner),
    description: text(),
    retired: yes,
    retired_reason: { ...text(), with: { retired: true } },
    lessee: text(lessee),
    network_data: { value: { links: [], networks: [], services: [] } },
    boot_mode: text('uefi'),
    secure_boot: yes,
    shard: text(),
    parent_node: { ...text('{other}'), with: { owner } },
    disable_power_off: yes,
    instance_name: text(),
  },
  port: {
    local_link_connection: { value: connection },
    pxe_enabled: { value: false },
    portgroup_uuid: text('{portgroup}'),
    physical_network: text(),
    is_smartnic: { ...yes, with: { local_link_connection: { port_id: 'eth1', hostname: 'nic' } } },
    name: text('port-'),
    description: text(),
    vendor: text(),
    category: text(),
    available_for_dynamic_portgroup: { value: false },
  },
  portgroup: {
    mode: text('802.3ad'),
    properties: { value: { miimon: 100 } },
    physical_network: text(),
    category: text(),
  },
  allocation: { owner: text(stranger) },
  runbook: { description: text() },
};

const sampleOf = (of: Changing, name: string): Sample => {
  if (of === 'node' && interfaceFieldNames.includes(name)) return { value: offered('redfish', name)[0] };
  const found = samples[of]?.[name] ?? fail(`no value is known for ${of}.${name}`);
  // Where values are unique, each write has its own.
  return typeof found.value === 'string' && found.value.endsWith('-')
    ? { ...found, value: `${found.value}${fresh()}` }
    : found;
};

const fail = (says: string): never => {
  throw new Error(says);
};

type Asked = {
  readonly bench: Bench;
  readonly desk: Desk;
  readonly name: string;
  readonly minor: number;
  readonly below: number;
};

/** The object in every answer that shows the whole of it: by itself, in a list, after a change of something else. */
const looksAt = async ({ bench, desk }: Asked, fill: Fill, minor: number): Promise<Body[]> => {
  const shown = await ask(bench, minor, await fill(desk.show));
  expectGood(desk.show, shown);
  const found = [desk.pick ? desk.pick(shown.body) : shown.body];
  if (desk.whole) {
    const newest = `GET ${desk.whole}${desk.whole.includes('?') ? '&' : '?'}sort_dir=desc`;
    const { body } = await ask(bench, minor, newest);
    const rows = Object.values(body)[0] as Body[];
    found.push(rows.find(({ uuid }) => uuid === shown.body.uuid)!);
  }
  if (desk.patch) {
    const changed = await ask(bench, minor, await fill(desk.patch), [{ op: 'add', path: '/extra/a', value: minor }]);
    expectGood(desk.patch, changed);
    found.push(changed.body);
  }
  return found;
};

const shown = async (asked: Asked): Promise<void> => {
  const { bench, desk, name, minor } = asked;
  const fill = bench.world();
  await desk.prepare?.(bench, await fill('{node}'));
  const { before, from } = sidesOf(minor);
  for (const [at, there] of [
    [before, false],
    [from, true],
  ] as const)
    for (const body of await looksAt(asked, fill, at))
      expect([name, `1.${at}`, name in body]).toEqual([name, `1.${at}`, there]);
};

const written = async (
  { bench, name, minor, below }: Asked,
  fill: Fill,
  { request, body, value }: { request: string; body: unknown; value: unknown },
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  const [whole, sent, wanted] = [await fill(request), await fill(body), await fill(value)];
  const refused = await ask(bench, before, whole, sent);
  expectRefused(`${whole} ${name} at 1.${before}`, refused, below, minor);
  const done = await ask(bench, from, whole, sent);
  expectGood(`${whole} ${name} at 1.${from}`, done);
  expect(done.body[name]).toEqual(wanted);
};

const created = async (asked: Asked, of: Changing, create: NonNullable<Desk['create']>): Promise<void> => {
  const { value, with: more, columns } = sampleOf(of, asked.name);
  const body = { ...create.body(), [asked.name]: value, ...more };
  await written(asked, asked.bench.world(columns), { request: create.request, body, value });
};

const patched = async (asked: Asked, of: Changing, request: string): Promise<void> => {
  const { value, with: more, columns } = sampleOf(of, asked.name);
  const body = Object.entries({ ...more, [asked.name]: value }).map(([name, one]) => ({
    op: 'add',
    path: `/${name}`,
    value: one,
  }));
  await written(asked, asked.bench.world(columns), { request, body: body.reverse(), value });
};

/** A list by query: refused before, answered from then on. */
const listed = async ({ bench, name, minor, below }: Asked, path: string, query: string): Promise<void> => {
  const request = `GET ${await bench.world()(path)}?${query}=${name}`;
  const { before, from } = sidesOf(minor);
  expectRefused(request, await ask(bench, before, request), below, minor);
  expectGood(request, await ask(bench, from, request));
};

const choosable = (row: FieldRow): boolean => !row.hidden && !row.unlessFields;

/** Shows each of the fields on both sides of the version. */
export const showFields = async (
  bench: Bench,
  { of, names, below }: Extract<Change, { is: 'fields' }>,
  minor: number,
): Promise<void> => {
  const desk = desks[of];
  for (const name of names) {
    const asked: Asked = { bench, desk, name, minor, below };
    const row = desk.table && (fieldOf(desk.table, name) ?? fail(`${of} has no field ${name}`));
    await shown(asked);
    if (row?.create && desk.create) await created(asked, of, desk.create);
    if (row?.patch && desk.patch) await patched(asked, of, desk.patch);
    const { path, chosenSince } = desk.list ?? { path: '', chosenSince: Number.POSITIVE_INFINITY };
    if (row && choosable(row) && minor > chosenSince) await listed(asked, path, 'fields');
    if (row && isSortable(row) && of in samples) await listed(asked, path, 'sort_key');
  }
};
