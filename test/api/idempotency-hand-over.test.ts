/** A kept answer belongs to what it is about: a repeat by a former tenant is answered as for a node that is missing. */
import { randomUUID } from 'node:crypto';
import { routes } from '../../src/api';
import { honoursKey } from '../../src/api/idempotency/idempotency';
import { shownIn } from '../../src/api/idempotency/seen';
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { projectAdminCanManageOwnNodes: true } });
  await addWorker(api.sql);
});
afterAll(() => api?.close());

const leased = async (power_state = 'power on'): Promise<string> => {
  const values = { driver: 'fake-hardware', provision_state: 'active', power_state, owner, lessee };
  const [node] = await api.sql`insert into nodes ${api.sql(values)} returning uuid`;
  return node!.uuid;
};
const leaseTo = (node: string, to: string | null) => api.sql`update nodes set lessee = ${to} where uuid = ${node}`;

/** Says the same again, and again, under one key. */
const keyed = (who: Persona, method: string, path: string, body?: unknown) => {
  const headers = { 'idempotency-key': randomUUID() };
  return () => api.as(who, method, path, { body, headers });
};
const again = ({ headers }: Reply) => headers.get('idempotent-replayed');
const volume = (node_uuid: string) => ({
  node_uuid,
  volume_type: 'iscsi',
  volume_id: node_uuid,
  boot_index: 0,
  properties: { target_iqn: 'iqn.of-the-lessee' },
});

const requests: readonly (readonly [what: string, (node: string) => () => Promise<Reply>])[] = [
  [
    'a power request',
    (node) => keyed('lessee-manager', 'PUT', `/v1/nodes/${node}/states/power`, { target: 'rebooting' }),
  ],
  ['maintenance', (node) => keyed('lessee-manager', 'PUT', `/v1/nodes/${node}/maintenance`, { reason: 'mine' })],
  ['a network', (node) => keyed('lessee-manager', 'POST', `/v1/nodes/${node}/vifs`, { id: 'mine' })],
  ['a volume target', (node) => keyed('lessee-manager', 'POST', '/v1/volume/targets', volume(node))],
];

test.each(requests)('%s is repeated while the lease lasts, and missing to who had it after that', async (what, ask) => {
  const node = await leased(what === 'a volume target' ? 'power off' : 'power on');
  const send = ask(node);
  const first = await send();
  expect([first.status < 300, again(first)]).toEqual([true, null]);
  const second = await send();
  expect([second.status, second.text, again(second)]).toEqual([first.status, first.text, 'true']);
  await leaseTo(node, stranger);
  const [hidden, missing] = [await send(), await ask(randomUUID())()];
  expect([hidden.status, again(hidden)]).toEqual([missing.status, null]);
  expect(hidden.status).toBeGreaterThanOrEqual(403);
  const words = (reply: Reply) => faultOf(reply).replace(/[\da-f]{8}-[\da-f-]{27}/g, 'X');
  expect(words(hidden)).toBe(words(missing));
});

test('a dead process is not answered for to a former tenant either', async () => {
  const node = await leased();
  const send = keyed('lessee-manager', 'PUT', `/v1/nodes/${node}/maintenance`, { reason: 'mine' });
  jest.spyOn(api.inventory.idempotency, 'answered').mockRejectedValueOnce(new Error('died'));
  expect((await send()).status).toBe(202);
  await leaseTo(node, null);
  await api.sql`update idempotency set lives_until = now() - interval '1 second' where status is null`;
  expect((await send()).status).toBe(404);
});

test('what a project enrolled and does not own any more is answered by its address, and is not made a second time', async () => {
  const send = keyed('owner-admin', 'POST', '/v1/nodes', { driver: 'fake-hardware', description: 'of the owner' });
  const first = await send();
  expect([first.status, (await send()).text]).toEqual([201, first.text]);
  await api.sql`update nodes set owner = ${stranger} where uuid = ${first.body.uuid}`;
  const second = await send();
  expect([second.status, second.text, again(second)]).toEqual([201, '', 'true']);
  expect(second.headers.get('location')).toBe(first.headers.get('location'));
  expect(await api.sql`select from nodes where description = 'of the owner'`).toHaveLength(1);
});

test('every object that a path of such a request names is looked for again, but for those that no tenant has', () => {
  const named = routes.filter(
    (route) => honoursKey(route) && !(route.answers && Object.keys(route.answers).length === 0),
  );
  const params = named.flatMap(({ path }) => [...path.matchAll(/:(\w+)/g)].map(([, param]) => param!));
  const unlooked = [...new Set(params)].filter((param) => !shownIn[param]).sort();
  // Parts of what stands before them in the path, an operator's machines, drivers.
  expect(unlooked).toEqual(['driver_name', 'indicator', 'machine', 'method', 'revision', 'trait']);
});
