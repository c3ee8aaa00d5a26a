/** Hidden equals missing: on every route that names an object, a stranger gets the same answer for one that is there and one that is not. */
import { routes } from '../../src/api';
import { startTestApi, type TestApi } from '../support/api';
import { discoveredMachine } from '../support/discovered-machines';
import { rolloutOf } from '../support/rule-world';
import { bodyFor, kindOf, missing } from '../support/walk';
import { owner } from '../support/world';

let api: TestApi;
let there: Readonly<Record<string, string>>;

const mac = '52:54:00:00:00:01';

/** The uuids of one object of each kind, all of them of `owner` or of the installation. */
const world = async (): Promise<Record<string, string>> => {
  const make = async (path: string, body: object): Promise<string> => {
    const reply = await api.as('operator', 'POST', path, { body });
    if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
    return reply.body.uuid;
  };
  const node_uuid = await make('/v1/nodes', { name: 'n1', driver: 'fake-hardware', owner });
  const run = '33333333-3333-4333-8333-333333333333';
  const [requester, input] = [api.sql.json({}), api.sql.json({ steps: [] })];
  const state = { state: 'failed', finished_at: new Date(), rule_set: 'x', workflow_id: 'w' };
  await api.sql`insert into runs ${api.sql({ id: run, node_uuid, fence: 1, kind: 'clean', verb: 'clean', owner, requester, input, ...state })}`;
  const [allocation] = await api.sql`
    insert into allocations (name, resource_class, owner) values ('a1', 'x', ${owner}) returning uuid`;
  return {
    nodes: node_uuid,
    runs: run,
    allocations: allocation!.uuid,
    ports: await make('/v1/ports', { node_uuid, address: mac }),
    portgroups: await make('/v1/portgroups', { node_uuid }),
    'volume/connectors': await make('/v1/volume/connectors', { node_uuid, type: 'ip', connector_id: '192.0.2.1' }),
    'volume/targets': await make('/v1/volume/targets', { node_uuid, volume_type: 'x', volume_id: 'v', boot_index: 0 }),
    chassis: await make('/v1/chassis', {}),
    runbooks: await make('/v1/runbooks', {
      name: 'CUSTOM_R',
      owner,
      steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }],
    }),
    deploy_templates: await make('/v1/deploy_templates', {
      name: 'CUSTOM_T',
      steps: [{ interface: 'power', step: 'reboot', args: {}, priority: 1 }],
    }),
    inspection_rules: await make('/v1/inspection_rules', { actions: [{ op: 'fail' }] }),
    freezes: await make('/temper/v1/nodes/n1/freezes', { reason: 'x' }),
    webhooks: await make('/temper/v1/webhooks', {
      url: 'https://hooks.example.org/x',
      kinds: ['*'],
      secret: `whsec_${'x'.repeat(32)}`,
    }),
    windows: (
      await api.as('owner-manager', 'POST', '/temper/v1/windows', {
        body: { name: 'w', days: ['sat'], from: '22:00', minutes: 60, zone: 'UTC' },
      })
    ).body.uuid,
    'disruption-budgets': (
      await api.as('owner-manager', 'POST', '/temper/v1/disruption-budgets', { body: { max_unavailable: 1 } })
    ).body.uuid,
    rollouts: await rolloutOf(api, node_uuid, 'planned'),
    ramdisks: await make('/temper/v1/ramdisks', {
      name: 'hidden',
      iso_sha256: 'a'.repeat(64),
      iso_bytes: 2_048,
      arguments_at: 0,
      arguments_bytes: 1_024,
      files_at: 1_024,
      files_bytes: 1_024,
    }),
    images: await make('/temper/v1/images', {
      name: 'hidden',
      sha256: 'a'.repeat(64),
      bytes: 2_048,
      disk_format: 'raw',
    }),
    'discovered-machines': await discoveredMachine(api.sql),
    drivers: 'fake-hardware',
    conductors: 'worker-1',
  };
};

beforeAll(async () => {
  api = await startTestApi({
    webhooks: true,
    settings: { webhookOrigins: ['https://hooks.example.org'], lookup: async () => ['192.0.2.1'] },
  });
  there = await world();
});
afterAll(() => api.close());

// What a ramdisk asks is asked of no caller in particular.
const named = routes.filter(({ path, open, rules }) => path.includes(':') && !open && rules !== 'public');

const filled = (path: string, id: string): string =>
  path
    .replace(/:\w+/, id)
    .replace(':indicator', 'led@chassis')
    .replace(':trait', 'CUSTOM_X')
    .replace(':revision', '1')
    .replace(/:\w+/g, missing);

test('every kind of object that a path names is in the world of this test', () => {
  expect([...new Set(named.map(({ path }) => kindOf(path)))].filter((kind) => !there[kind])).toEqual([]);
});

test.each(named.map(({ method, path }) => [`${method} ${path}`, method, path] as const))(
  '%s answers a stranger alike',
  async (_, method, path) => {
    const kind = kindOf(path);
    const ask = async (id: string) => {
      const reply = await api.as('stranger-admin', method, filled(path, id), { body: bodyFor(method, path) });
      return [reply.status, reply.text.replaceAll(id, 'X')];
    };
    const hidden = await ask(there[kind]!);
    expect(hidden).toEqual(await ask(kind === 'drivers' || kind === 'conductors' ? 'none' : missing));
    // What is refused before the object is looked for is 403; a list below a chassis holds the caller's own nodes, whatever it is.
    const expected = method === 'GET' && /^\/v1\/chassis\/:ident\/nodes(?:\/detail)?$/.test(path) ? [200] : [403, 404];
    expect(expected).toContain(hidden[0]);
  },
);
