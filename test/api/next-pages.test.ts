/** Every list of the description gives `next` until it ends, and the pages together are the list. */
import { describeApi } from '../../src/api';
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { type Fill, worldOf } from '../support/rule-world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    webhooks: true,
    settings: { webhookOrigins: ['https://hooks.example.org'], lookup: async () => ['192.0.2.1'] },
  });
  for (const hostname of ['worker-1', 'worker-2']) await addWorker(api.sql, { hostname });
});
afterAll(() => api.close());

type Row = Readonly<Record<string, unknown>>;
const send = async (method: string, path: string, body: object): Promise<Row> => {
  const reply = await api.as('operator', method, path, { body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply.body;
};

/** Adds two rows to a list. A text that it returns is a filter for them. */
type TwoRows = (path: string, fill: Fill) => Promise<unknown>;

/** One object of a name in each of two worlds. */
const two =
  (name: string): TwoRows =>
  async () => {
    for (const _ of [1, 2]) await worldOf(api, {})(`{${name}}`);
  };
const posted =
  (...bodies: readonly object[]): TwoRows =>
  async (path) => {
    for (const body of bodies) await send('POST', path, body);
  };
/** Objects of these names at the list's own node. */
const beside =
  (...names: readonly string[]): TwoRows =>
  async (_path, fill) => {
    for (const name of names) await fill(`{${name}}`);
  };
/** Two rows of a list without a node, at the list's own node. */
const at =
  (path: string, ...bodies: readonly object[]): TwoRows =>
  async (_path, fill) => {
    for (const body of bodies) await send('POST', path, { node_uuid: await fill('{node}'), ...body });
  };

const ports = [{ address: '52:54:00:aa:00:01' }, { address: '52:54:00:aa:00:02' }];
const portsOf = (more: number) => at('/v1/ports', ...ports.map(({ address }) => ({ address: address.replace('aa', `a${more}`) }))); // biome-ignore format: one row
const portgroups = (prefix: string) => at('/v1/portgroups', { name: `${prefix}1` }, { name: `${prefix}2` });
const connectors = (prefix: string) =>
  at('/v1/volume/connectors', { type: 'ip', connector_id: `${prefix}1` }, { type: 'ip', connector_id: `${prefix}2` });
const targets = at(
  '/v1/volume/targets',
  { volume_type: 'iscsi', volume_id: '1', boot_index: 1 },
  { volume_type: 'iscsi', volume_id: '2', boot_index: 2 },
);
const portsOfGroup =
  (more: number): TwoRows =>
  async (path, fill) => {
    const [portgroup_uuid] = path.match(/[0-9a-f-]{36}/)!;
    for (const last of [1, 2])
      await send('POST', '/v1/ports', {
        node_uuid: await fill('{node}'),
        portgroup_uuid,
        address: `52:54:00:b${more}:00:0${last}`,
      });
  };
const nodesOfChassis: TwoRows = async (path) => {
  const [chassis_uuid] = path.match(/[0-9a-f-]{36}/)!;
  for (const _ of [1, 2]) await send('POST', '/v1/nodes', { driver: 'redfish', chassis_uuid });
};
const freezes = async (fill: Fill): Promise<string> => {
  const node = await fill('{node}');
  for (const reason of ['x', 'y']) await send('POST', `/temper/v1/nodes/${node}/freezes`, { reason });
  return node;
};

/** How each list of the description gets two rows. */
const lists: Readonly<Record<string, TwoRows>> = {
  '/v1/nodes': two('node'),
  '/v1/nodes/detail': two('node'),
  '/v1/nodes/{node}/history': async (_path, fill) => {
    for (const error of ['x', 'y'])
      await api.sql`
          insert into events (kind, node_uuid, data)
          values ('node.state', ${await fill('{node}')}, ${api.sql.json({ error })})`;
  },
  '/v1/ports': portsOf(1),
  '/v1/ports/detail': portsOf(2),
  '/v1/nodes/{node_ident}/ports': portsOf(3),
  '/v1/nodes/{node_ident}/ports/detail': portsOf(4),
  '/v1/portgroups/{ident}/ports': portsOfGroup(1),
  '/v1/portgroups/{ident}/ports/detail': portsOfGroup(2),
  '/v1/portgroups': portgroups('a'),
  '/v1/portgroups/detail': portgroups('b'),
  '/v1/nodes/{ident}/portgroups': portgroups('c'),
  '/v1/nodes/{ident}/portgroups/detail': portgroups('d'),
  '/v1/volume/connectors': connectors('a'),
  '/v1/nodes/{ident}/volume/connectors': connectors('b'),
  '/v1/volume/targets': targets,
  '/v1/nodes/{ident}/volume/targets': targets,
  '/v1/allocations': two('allocation'),
  '/v1/runbooks': two('runbook'),
  '/v1/conductors': async () => {},
  '/v1/chassis': two('chassis'),
  '/v1/chassis/detail': two('chassis'),
  '/v1/chassis/{ident}/nodes': nodesOfChassis,
  '/v1/chassis/{ident}/nodes/detail': nodesOfChassis,
  '/v1/deploy_templates': two('template'),
  '/v1/inspection_rules': two('inspection'),
  '/temper/v1/nodes/{node}/runs': beside('running', 'failed'),
  '/temper/v1/runs': two('running'),
  '/temper/v1/nodes/{node}/freezes': posted({ reason: 'x' }, { reason: 'y' }),
  '/temper/v1/freezes': two('freeze'),
  '/temper/v1/webhooks': two('webhook'),
  '/temper/v1/webhooks/{webhook}/deliveries': async (_path, fill) => {
    for (const seq of [1, 2])
      await api.sql`
          insert into webhook_deliveries (webhook_uuid, event_seq, kind, state)
          values (${await fill('{webhook}')}, ${seq}, 'node.frozen', 'delivered')`;
  },
  '/temper/v1/ramdisks': two('ramdisk'),
  '/temper/v1/images': two('image'),
  '/temper/v1/discovered-machines': two('discovered'),
  '/temper/v1/disruption-budgets': two('budget'),
  '/temper/v1/windows': two('window'),
  '/temper/v1/firmware': async (_path, fill) => {
    const firmware = ['bios', 'bmc'].map((component) => ({ component, current_version: '1' }));
    await api.inventory.details.write((await fill('{node}')) as never, { firmware } as never);
  },
  '/temper/v1/policy/history': async () => {
    // Of one moment, so that the digest alone decides.
    for (const digest of ['a', 'b', 'c'])
      await api.sql`
          insert into policy_texts (digest, rule_set, set_name, mode, files, first_at)
          values (${digest.repeat(64)}, 'x', 'temper', 'strict', '[]', '2026-01-01')`;
  },
  '/temper/v1/events': async (_path, fill) => `node=${await freezes(fill)}`,
  // Each reading of the audit trail adds a row to it.
  '/temper/v1/audit': async (_path, fill) =>
    `node=${await freezes(fill)}&action=freeze.create&since=2026-01-01T00:00:00Z`,
  '/temper/v1/runbooks/{runbook}/revisions': async (_path, fill) => {
    const change = [{ op: 'add', path: '/steps/0/order', value: 7 }];
    await send('PATCH', await fill('/v1/runbooks/{runbook}'), change);
  },
  '/temper/v1/rollouts': two('rollout'),
  '/temper/v1/rollouts/{rollout}/targets': async (_path, fill) => {
    const [rollout, node] = [await fill('{rollout}'), await fill('{other}')];
    await api.sql`insert into rollout_targets (rollout, position, node_uuid, wave) values (${rollout}, 1, ${node}, 0)`;
  },
};

/** Lists that are whole in one answer, because what they are of bounds them. */
const unpaged = [
  '/v1/nodes/{node_ident}/traits', '/v1/nodes/{node_ident}/bios', '/v1/nodes/{node_ident}/firmware',
  '/v1/nodes/{node_ident}/management/indicators', '/v1/runbooks/{runbook_ident}/traits', '/v1/drivers', '/v1/shards',
  '/v1/nodes/{node_ident}/vifs', '/v1/nodes/{node_ident}/children', '/temper/v1/nodes/{node}/steps',
  '/temper/v1/runbooks/{runbook}/parameters', '/temper/v1/incidents',
]; // biome-ignore format: one row of paths

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
const document: any = describeApi();
const keyOf = (path: string): string => path.replace(/\/detail$/, '').split('/').at(-1)!.replaceAll('-', '_'); // biome-ignore format: one row
// biome-ignore lint/suspicious/noExplicitAny: a schema of every shape
const deref = (schema: any): any =>
  schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;

const described = Object.keys(document.paths).filter((path) => {
  const { get } = document.paths[path];
  const schema = deref(get?.responses[200]?.content?.['application/json']?.schema);
  return deref(schema?.properties?.[keyOf(path)])?.type === 'array';
});

test('every list of the description has a row here', () => {
  expect([...Object.keys(lists), ...unpaged].sort()).toEqual(described.sort());
});

const idOf = ({ uuid, seq, revision, position, digest, hostname, component }: Row): unknown =>
  uuid ?? seq ?? revision ?? position ?? digest ?? hostname ?? component;

/** A list's path with names of objects of `worldOf`: `/v1/nodes/{node}/ports`. */
const objectsIn = (path: string): string =>
  path.replace(/\/(\w+)\/\{\w+\}/, (_, of: string) => `/${of}/{${of === 'chassis' ? of : of.slice(0, -1)}}`);

test.each(Object.entries(lists))('%s', async (name, add) => {
  const fill = worldOf(api, {});
  const path = await fill(objectsIn(name));
  const given = await add(path, fill);
  const filter = typeof given === 'string' ? `${given}&` : '';
  const read = async (asked: string) => (await api.as('operator', 'GET', asked)).body;
  const whole = (await read(`${path}?${filter}`))[keyOf(name)].map(idOf);
  expect(whole.length).toBeGreaterThan(1);
  const found: unknown[] = [];
  const sizes: number[] = [];
  for (let next: string | undefined = `${path}?${filter}limit=1`; next !== undefined; ) {
    const page: Row = await read(next);
    const rows = page[keyOf(name)] as readonly Row[];
    found.push(...rows.map(idOf));
    sizes.push(rows.length);
    next = (page.next as string | undefined)?.replace(api.url, '');
    if (sizes.length > whole.length + 1) throw new Error(`${name} does not end: ${next}`);
  }
  expect(found).toEqual(whole);
  // Ironic's lists give `next` with every full page, so they end with an empty one.
  if (!name.startsWith('/v1/')) expect(sizes).not.toContain(0);
});
