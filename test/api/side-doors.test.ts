/** No side door: every way in which steps, or what boots, can reach a node, walked as each persona under each set of rules. */
import { routes } from '../../src/api';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { worldOf } from '../support/rule-world';
import { type Door, doorPersonas, doors, noDoors } from '../support/side-doors';
import { owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: { operatorTraitPrefix: 'CUSTOM_OPERATOR_', imageOrigins: ['https://images.example.org'] },
  });
  await addWorker(api.sql);
});
afterAll(() => api.close());
afterEach(() => {
  api.setPolicy({ set: 'temper' });
});

const letters: Readonly<Record<number, string>> = { 400: 'x', 403: '-', 404: '.' };

type Prepared = { readonly method: string; readonly path: string; readonly body: unknown };

/** The request in a world of its own, so that no persona finds what another has done. */
const prepared = async ({ ask, body, has, node }: Door): Promise<Prepared> => {
  const fill = worldOf(api, node ?? {});
  await fill('{node}');
  await fill(has);
  const [method, path] = (await fill(ask)).split(' ') as [string, string];
  return { method, path, body: await fill(body) };
};

const tried = async ({ method, path, body }: Prepared, who: Persona): Promise<string> => {
  const reply = await api.as(who, method, path, { body });
  await api.sql`delete from runbooks where name = 'CUSTOM_OWN'`;
  await api.sql`delete from deploy_templates where name = 'CUSTOM_MADE'`;
  return reply.status < 300 ? 'Y' : (letters[reply.status] ?? `${reply.status} ${faultOf(reply)}`);
};

test.each(doors.map((one) => [one.door, one] as const))('%s', async (_, one) => {
  const found: Record<string, string> = {};
  await api.sql`update workers set updated_at = now()`; // a long walk outlasts what a silent worker is trusted
  for (const set of ['temper', 'ironic', 'closed'] as const) {
    api.setPolicy({ set: 'temper' });
    const requests = await Promise.all(doorPersonas.map(() => prepared(one)));
    api.setPolicy({ set });
    const verdicts: string[] = [];
    for (const [at, who] of doorPersonas.entries()) verdicts.push(await tried(requests[at]!, who));
    found[set] = verdicts.join('');
  }
  expect(found).toEqual(one.verdicts);
});

const shape = (path: string): string =>
  path.replace(/\?.*/, '').replace(/\{\w+\}|:\w+|CUSTOM_\w+|(?<=\/vendor_passthru\/)\w+/g, '*');

test('every request for a change is a door of this walk, or there is a reason why it is none', () => {
  const walked = new Set(doors.map(({ ask }) => shape(ask)));
  const changes = routes.filter(({ method, open, rules }) => method !== 'GET' && !open && rules !== 'public');
  const names = changes.map(({ method, path }) => `${method} ${path}`);
  const unknown = names.filter((name) => !walked.has(shape(name)) && !noDoors.some(([pattern]) => pattern.test(name)));
  expect(unknown).toEqual([]);
});

describe('a project that may enrol nodes of its own', () => {
  const change = [{ op: 'add', path: '/driver_info/redfish_address', value: 'https://192.0.2.8' }];
  const patch = async (who: Persona, columns: Record<string, unknown> = {}) => {
    const path = await worldOf(api, columns)('/v1/nodes/{node}');
    const reply = await api.as(who, 'PATCH', path, { body: change });
    return [reply.status, reply.status < 300 ? '' : faultOf(reply)];
  };
  const refused = [403, 'Access was denied to the following resource: temper:node:update:bmc_address'];
  const mayEnrol = (projectAdminCanManageOwnNodes: boolean) =>
    Object.assign(api.rooms, { settings: { ...api.rooms.settings, projectAdminCanManageOwnNodes } });
  beforeEach(() => mayEnrol(true));
  afterAll(() => mayEnrol(false));

  test('says of its nodes what it could say of new ones, by the admins who may enrol', async () => {
    expect(await patch('owner-admin')).toEqual([200, '']);
    expect(await patch('owner-manager')).toEqual(refused);
  });

  test('says nothing of nodes that others own', async () => {
    expect((await patch('lessee-admin'))[0]).toBe(403);
    expect(await patch('stranger-admin', { owner: null, lessee: null })).toEqual([404, expect.any(String)]);
  });

  test('does so only while the setting is on', async () => {
    mayEnrol(false);
    expect(await patch('owner-admin', { owner })).toEqual(refused);
  });
});

test('a rule that a file opens lets that key through, and no other', async () => {
  const overrides = { 'temper:node:update:kernel_params': 'role:member and project_id:%(node.owner)s' };
  const path = await worldOf(api, {})('/v1/nodes/{node}');
  api.setPolicy({ set: 'temper', overrides });
  const patch = (key: string) =>
    api.as('owner-member', 'PATCH', path, { body: [{ op: 'add', path: `/driver_info/${key}`, value: 'x' }] });
  expect((await patch('kernel_append_params')).status).toBe(200);
  const reply = await patch('deploy_kernel');
  expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('temper:node:update:ramdisk')]);
});

test('what a client reads and writes back as it was asks for nothing', async () => {
  const path = await worldOf(api, {})('/v1/nodes/{node}');
  const secret = [{ op: 'add', path: '/driver_info/redfish_password', value: 'hunter2' }];
  await api.as('operator', 'PATCH', path, { body: secret });
  const { driver_info } = (await api.as('owner-member', 'GET', path)).body;
  expect(driver_info.redfish_password).toBe('******');
  const back = [{ op: 'replace', path: '/driver_info', value: { ...driver_info, rack: 'r17' } }];
  expect((await api.as('owner-member', 'PATCH', path, { body: back })).status).toBe(200);
});
