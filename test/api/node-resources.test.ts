/** Portgroups, volume connectors and volume targets alike: who may what, hidden nodes, versions, pages, and the record. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from nodes`;
});

const missing = '11111111-2222-4333-8444-555555555555';

/** A node as it stands in the store. */
const node = async (name: string, more: Record<string, unknown> = {}): Promise<string> => {
  const columns = { name, driver: 'redfish', provision_state: 'manageable', power_state: 'power off', ...more };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  return row!.uuid;
};
const tenanted = (more: Record<string, unknown> = {}) => node('n1', { owner, lessee, ...more });

type Verdicts = Readonly<Record<Persona, readonly [creates: number, changes: number, deletes: number]>>;

const portgroupVerdicts: Verdicts = {
  operator: [201, 200, 204],
  'system-member': [403, 200, 403],
  'system-reader': [403, 403, 403],
  'owner-admin': [201, 200, 204],
  'owner-manager': [201, 200, 204],
  'owner-member': [403, 403, 403],
  'owner-reader': [403, 403, 403],
  'lessee-admin': [403, 403, 403],
  'lessee-manager': [403, 403, 403],
  'lessee-member': [403, 403, 403],
  'lessee-reader': [403, 403, 403],
  'stranger-admin': [403, 404, 404],
};

const volumeVerdicts: Verdicts = {
  ...portgroupVerdicts,
  'system-member': [201, 200, 204],
  'owner-member': [403, 200, 403],
  'lessee-admin': [201, 200, 204],
  'lessee-manager': [201, 200, 204],
};

const resources = [
  {
    what: 'portgroup',
    rules: 'baremetal:portgroup',
    path: 'portgroups',
    key: 'portgroups',
    since: 23,
    nestedSince: 24,
    body: (nth: number) => ({ address: `52:54:00:00:00:0${nth}` }),
    short: ['uuid', 'address', 'name', 'links'],
    verdicts: portgroupVerdicts,
  },
  {
    what: 'volume_connector',
    rules: 'baremetal:volume',
    path: 'volume/connectors',
    key: 'connectors',
    since: 32,
    nestedSince: 32,
    body: (nth: number) => ({ type: 'iqn', connector_id: `iqn.2026-11.example:${nth}` }),
    short: ['uuid', 'node_uuid', 'type', 'connector_id', 'links'],
    verdicts: volumeVerdicts,
  },
  {
    what: 'volume_target',
    rules: 'baremetal:volume',
    path: 'volume/targets',
    key: 'targets',
    since: 32,
    nestedSince: 32,
    body: (nth: number) => ({ volume_type: 'iscsi', volume_id: `v${nth}`, boot_index: nth }),
    short: ['uuid', 'node_uuid', 'volume_type', 'volume_id', 'boot_index', 'links'],
    verdicts: volumeVerdicts,
  },
] as const;

type Of = (typeof resources)[number];

/** The requests of a kind of resource, and what their answers list. */
const requestsOf = ({ path, key, body }: Pick<Of, 'path' | 'key' | 'body'>) => {
  const all = `/v1/${path}`;
  const create = (who: Persona, node_uuid: string, nth = 1, request: Request = {}) =>
    api.as(who, 'POST', all, { body: { node_uuid, ...body(nth) }, ...request });
  const made = async (node_uuid: string, nth = 1): Promise<string> =>
    (await create('operator', node_uuid, nth)).body.uuid;
  const patch = (who: Persona, uuid: string, sent: unknown = ops, request: Request = {}) =>
    api.as(who, 'PATCH', `${all}/${uuid}`, { body: sent, ...request });
  const listed = (reply: { body: Record<string, { uuid: string }[]> }) => reply.body[key]!.map(({ uuid }) => uuid);
  return { all, create, made, patch, listed };
};
const ops = [{ op: 'add', path: '/extra/a', value: 1 }];

describe.each(resources.map((one) => [one.what, one] as const))('%s', (_what, resource) => {
  const { all, create, made, patch, listed } = requestsOf(resource);
  const { rules, path, body, verdicts } = resource;

  test('is made whole, at a place of its own, and read back the same', async () => {
    const uuid = await tenanted();
    const reply = await create('operator', uuid);
    expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
    expect(reply.headers.get('location')).toBe(`${api.url}${all}/${reply.body.uuid}`);
    expect(reply.body).toMatchObject({ ...body(1), node_uuid: uuid, extra: {}, updated_at: null });
    expect((await api.as('system-reader', 'GET', `${all}/${reply.body.uuid}`)).body).toEqual(reply.body);
  });

  test.each(Object.entries(verdicts) as [Persona, readonly [number, number, number]][])(
    'as %s: making, changing and deleting answer %j',
    async (who, [creates, changes, deletes]) => {
      const home = await tenanted();
      const uuid = await made(home);
      expect((await create(who, home, 2)).status).toBe(creates);
      expect((await patch(who, uuid)).status).toBe(changes);
      expect((await api.as(who, 'DELETE', `${all}/${uuid}`)).status).toBe(deletes);
    },
  );

  test.each([
    ['operator', true, true],
    ['system-reader', true, true],
    ['owner-reader', true, false],
    ['lessee-reader', true, false],
    ['stranger-admin', false, true],
  ] as const)('%s lists and sees exactly what is of visible nodes', async (who, first, second) => {
    const uuids = [await made(await tenanted()), await made(await node('n2', { owner: stranger }), 2)];
    const expected = uuids.filter((_, at) => [first, second][at]);
    expect(listed(await api.as(who, 'GET', all))).toEqual(expected);
    for (const uuid of uuids)
      expect((await api.as(who, 'GET', `${all}/${uuid}`)).status).toBe(expected.includes(uuid) ? 200 : 404);
    for (const [ident, visible] of [
      ['n1', first],
      ['n2', second],
    ] as const) {
      expect((await api.as(who, 'GET', `/v1/nodes/${ident}/${path}`)).status).toBe(visible ? 200 : 404);
      expect((await api.as(who, 'GET', `${all}?node=${ident}`)).status).toBe(visible ? 200 : 404);
    }
  });

  test('a list follows the rule that shows one: what a policy hides is not listed', async () => {
    await made(await tenanted());
    api.setPolicy({ set: 'temper', overrides: { [`${rules}:get`]: 'project_id:%(node.lessee)s' } });
    expect(listed(await api.as('lessee-reader', 'GET', all))).toHaveLength(1);
    expect(listed(await api.as('owner-reader', 'GET', all))).toEqual([]);
    api.setPolicy({ set: 'temper' });
  });

  test('hidden and missing give one answer, on every method', async () => {
    const uuid = await made(await tenanted());
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', ops],
      ['DELETE', undefined],
    ] as const) {
      const hidden = await api.as('stranger-admin', method, `${all}/${uuid}`, { body: sent });
      const none = await api.as('stranger-admin', method, `${all}/${missing}`, { body: sent });
      expect([hidden.status, hidden.text.replaceAll(uuid, missing)]).toEqual([404, none.text]);
    }
  });

  test('on a hidden node is refused as on a missing one', async () => {
    const uuid = await tenanted();
    const hidden = await create('stranger-admin', uuid);
    const none = await create('stranger-admin', missing);
    expect([hidden.status, hidden.text.replaceAll(uuid, missing)]).toEqual([403, none.text]);
    const operators = await create('operator', missing);
    expect([operators.status, faultOf(operators)]).toEqual([400, expect.stringContaining('could not be found')]);
  });
});

describe.each(resources.map((one) => [one.what, one] as const))('%s', (what, resource) => {
  const { all, create, made, patch, listed } = requestsOf(resource);
  const { rules, path, key, since, nestedSince, short } = resource;

  test('is known from its version on, below nodes too', async () => {
    const uuid = await made(await tenanted());
    const old = { minor: since - 1 };
    expect((await api.as('operator', 'GET', all, old)).status).toBe(404);
    expect((await api.as('operator', 'GET', `${all}/${uuid}`, old)).status).toBe(404);
    expect((await patch('operator', uuid, ops, old)).status).toBe(404);
    expect((await api.as('operator', 'DELETE', `${all}/${uuid}`, old)).status).toBe(404);
    expect((await api.as('operator', 'GET', all, { minor: since })).status).toBe(200);
    const nested = `/v1/nodes/n1/${path}`;
    expect((await api.as('operator', 'GET', nested, { minor: nestedSince - 1 })).status).toBe(404);
    expect((await api.as('operator', 'GET', nested, { minor: nestedSince })).status).toBe(200);
  });

  test('a list is short, whole with detail, and goes on by its next link', async () => {
    const home = await tenanted();
    const uuids = [await made(home, 1), await made(home, 2), await made(home, 3)];
    const short_ = await api.as('owner-reader', 'GET', all);
    expect(Object.keys(short_.body[key][0])).toEqual(short);
    const whole = Object.keys((await api.as('owner-reader', 'GET', `${all}/${uuids[0]}`)).body);
    expect(Object.keys((await api.as('owner-reader', 'GET', `${all}?detail=True`)).body[key][0])).toEqual(whole);
    for (const path_ of [all, `/v1/nodes/n1/${path}`]) {
      const first = await api.as('owner-reader', 'GET', `${path_}?limit=2`);
      const second = await api.as('owner-reader', 'GET', first.body.next.replace(api.url, ''));
      expect([...listed(first), ...listed(second)]).toEqual(uuids);
    }
    expect((await api.as('owner-reader', 'GET', `${all}?marker=${missing}`)).status).toBe(404);
    expect((await api.as('owner-reader', 'GET', `${all}?marker=nonsense`)).status).toBe(400);
    expect((await api.as('owner-reader', 'GET', `${all}?colour=red`)).status).toBe(400);
  });

  test('a marker that is hidden is none', async () => {
    const theirs = await made(await node('n2', { owner: stranger }), 2);
    await tenanted();
    expect((await api.as('owner-reader', 'GET', `${all}?marker=${theirs}`)).status).toBe(404);
  });

  test('moves only to a visible node of the same owner; anything else is one answer', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    const idle = { power_state: 'power off' };
    const [same, theirs] = [await node('n2', { owner, ...idle }), await node('n3', { owner: stranger, ...idle })];
    const move = async (to: string) => {
      const reply = await patch('owner-manager', uuid, [{ op: 'replace', path: '/node_uuid', value: to }]);
      return [reply.status, reply.status === 200 ? reply.body.node_uuid : faultOf(reply).replace(to, 'X')];
    };
    const none = await move(missing);
    expect(none[0]).toBe(400);
    expect(await move(theirs)).toEqual(none);
    expect(await move(same)).toEqual([200, same]);
  });

  test('of a node that a run holds has to wait', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await api.sql`update nodes set reservation = ${missing} where uuid = ${home}`;
    expect((await create('operator', home, 2)).status).toBe(409);
    expect((await patch('operator', uuid)).status).toBe(409);
    expect((await api.as('operator', 'DELETE', `${all}/${uuid}`)).status).toBe(409);
  });

  test('goes with its node', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    expect((await api.as('operator', 'DELETE', '/v1/nodes/n1')).status).toBe(204);
    expect((await api.as('operator', 'GET', `${all}/${uuid}`)).status).toBe(404);
  });

  test.each([
    [[{ op: 'replace', path: '/uuid', value: missing }], 'uuid cannot be changed'],
    [[{ op: 'remove', path: '/node_uuid' }], 'node_uuid is required'],
    [[{ op: 'move', path: '/extra' }], 'must be add, replace or remove'],
    [[{ op: 'add', path: '/extra/a' }], 'needs a value'],
  ])('a patch by %j is refused, saying why', async (sent, says) => {
    const refused = await patch('operator', await made(await tenanted()), sent);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  });

  test('every write leaves an audit row, and an event for the owner and lessee of the node', async () => {
    const home = await tenanted();
    const uuid = await made(home);
    await patch('lessee-member', uuid);
    await patch('operator', uuid);
    await api.as('operator', 'DELETE', `${all}/${uuid}`);
    const rows = await api.sql`select action, rule from audit
      where resource_id = ${uuid} and verdict = 'granted' order by seq`;
    expect(rows).toEqual(
      ['create', 'update', 'delete'].map((act) => ({ action: `${what}.${act}`, rule: `${rules}:${act}` })),
    );
    const events = await api.sql`
      select kind, project, lessee from events where node_uuid = ${home} order by seq`;
    expect(events).toEqual(
      ['created', 'updated', 'deleted'].map((kind) => ({ kind: `${what}.${kind}`, project: owner, lessee })),
    );
  });
});
