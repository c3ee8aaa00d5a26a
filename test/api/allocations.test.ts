/** Allocations: who may ask for a node, see, change and give one back; what is refused; and what a node shows of it. */
import { randomUUID } from 'node:crypto';
import type { Allocation } from '../../src/model/resources/allocations';
import { allocateAll } from '../../src/runs/allocating';
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(async () => {
  await api.sql`delete from allocations`;
  await api.sql`delete from nodes`;
  api.setPolicy({ set: 'temper' });
});

const path = '/v1/allocations';
const create = (who: Persona, more: object = {}, request: Request = {}) =>
  api.as(who, 'POST', path, { body: { resource_class: 'gold', ...more }, ...request });
const show = (who: Persona, ident: string, request: Request = {}) => api.as(who, 'GET', `${path}/${ident}`, request);
const list = (who: Persona, query = '', request: Request = {}) => api.as(who, 'GET', `${path}${query}`, request);
const patch = (who: Persona, ident: string, ops: unknown, request: Request = {}) =>
  api.as(who, 'PATCH', `${path}/${ident}`, { body: ops, ...request });
const remove = (who: Persona, ident: string, request: Request = {}) =>
  api.as(who, 'DELETE', `${path}/${ident}`, request);
const outcome = (reply: { status: number; body?: unknown }) => [reply.status, faultOf(reply as never)];

const node = async (more: Record<string, unknown> = {}): Promise<string> => {
  const values = {
    uuid: randomUUID(),
    driver: 'fake-hardware',
    provision_state: 'available',
    power_state: 'power off',
    resource_class: 'gold',
    ...more,
  };
  await api.sql`insert into nodes ${api.sql(values)}`;
  return values.uuid;
};
/** The passes of the control worker, here with the rights of the API. */
const passes = () => allocateAll({ inventory: api.inventory, log: { info() {}, warn() {} } });
/** An allocation that has been given a node. */
const given = async (more: object = {}, nodeMore: Record<string, unknown> = {}) => {
  const uuid = await node({ owner, lessee, ...nodeMore });
  const made = await create('operator', { name: 'web', owner, ...more });
  await passes();
  const { body } = await show('operator', made.body.uuid);
  expect(body).toMatchObject({ state: 'active', node_uuid: uuid });
  return { node: uuid, allocation: body as Allocation };
};

describe('asking for a node', () => {
  test('answers 201 with the allocation as it was committed, and the pass does the rest', async () => {
    const uuid = await node({ traits: ['CUSTOM_A'] });
    const more = { name: 'web', traits: ['CUSTOM_A'], candidate_nodes: [uuid], extra: { a: 1 } };
    const made = await create('operator', more);
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`${api.url}${path}/${made.body.uuid}`);
    expect(made.body).toEqual({
      uuid: expect.any(String),
      ...more,
      resource_class: 'gold',
      owner: null,
      state: 'allocating',
      node_uuid: null,
      last_error: null,
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: null,
      links: [
        { href: `${api.url}${path}/${made.body.uuid}`, rel: 'self' },
        { href: `${api.url}/allocations/${made.body.uuid}`, rel: 'bookmark' },
      ],
    });
    await passes();
    expect((await show('operator', 'web')).body).toMatchObject({ state: 'active', node_uuid: uuid });
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${uuid}`);
    expect(body).toMatchObject({
      allocation_uuid: made.body.uuid,
      instance_uuid: made.body.uuid,
      instance_info: { traits: ['CUSTOM_A'] },
    });
  });

  test.each([
    ['operator', 201, null],
    ['system-member', 201, null],
    ['system-reader', 403, undefined],
    ['owner-admin', 201, owner],
    ['owner-manager', 201, owner],
    ['owner-member', 201, owner],
    ['owner-reader', 403, undefined],
    ['lessee-member', 201, lessee],
    ['lessee-reader', 403, undefined],
    ['stranger-admin', 201, stranger],
  ] as const)('as %s answers %i, owner %j', async (who, status, whose) => {
    const made = await create(who);
    expect([made.status, made.body.owner]).toEqual([status, whose]);
  });

  test.each([
    ['operator', owner, 201],
    ['system-member', stranger, 201],
    ['owner-member', owner, 201],
    ['owner-member', lessee, 403],
    ['stranger-admin', owner, 403],
    ['owner-reader', owner, 403],
    ['system-reader', owner, 403],
  ] as const)('as %s for project %s answers %i', async (who, whose, status) => {
    const made = await create(who, { owner: whose });
    expect([made.status, made.body.owner]).toEqual([status, status === 201 ? whose : undefined]);
  });

  test('for another project says which rule that needs', async () => {
    const refused = await create('owner-member', { owner: stranger });
    expect(faultOf(refused)).toContain('baremetal:allocation:create');
  });

  describe('where only the restricted form is open to projects, as the guide has it', () => {
    beforeEach(() =>
      api.setPolicy({
        set: 'temper',
        overrides: {
          'baremetal:allocation:create': 'role:admin and system_scope:all',
          'baremetal:allocation:create_restricted': '',
          'baremetal:allocation:get': 'role:admin and system_scope:all or rule:is_allocation_owner',
        },
      }),
    );

    test.each([
      ['operator', undefined, 201, null],
      ['operator', stranger, 201, stranger],
      ['owner-reader', undefined, 201, owner],
      ['owner-admin', owner, 201, owner],
      ['owner-admin', stranger, 403, undefined],
      ['system-member', undefined, 403, undefined],
      ['system-member', owner, 403, undefined],
    ] as const)('as %s with owner %s answers %i, owner %j', async (who, asked, status, whose) => {
      const made = await create(who, asked === undefined ? {} : { owner: asked });
      expect([made.status, made.body.owner]).toEqual([status, whose]);
    });

    test('nodes of others are neither candidates nor given', async () => {
      const foreign = await node({ owner: stranger });
      const mine = await node({ owner: stranger, lessee: owner });
      const [status, says] = outcome(await create('owner-member', { candidate_nodes: [mine, foreign] }));
      expect([status, says]).toEqual([400, expect.stringContaining(`candidate_nodes: ${foreign} is no node`)]);
      const made = await create('owner-member');
      const second = await create('owner-member');
      await passes();
      expect((await show('owner-member', made.body.uuid)).body).toMatchObject({ state: 'active', node_uuid: mine });
      expect((await show('owner-member', second.body.uuid)).body).toMatchObject({
        state: 'error',
        last_error: expect.stringContaining('no available nodes match the resource class gold'),
      });
    });
  });
});

describe('the candidates of an allocation', () => {
  test('a missing, a hidden and a foreign candidate are refused alike', async () => {
    const hidden = await node({ owner: stranger });
    const says = async (ident: string) =>
      outcome(await create('owner-member', { candidate_nodes: [ident] })).map((one) =>
        String(one).replace(ident, 'IT'),
      );
    const missing = await says(randomUUID());
    expect(missing).toEqual(['400', expect.stringContaining('candidate_nodes: IT is no node')]);
    expect(await says(hidden)).toEqual(missing);
    expect(await says('no-such-name')).toEqual(missing);
  });

  test('candidates are kept as UUIDs, in their order, each once', async () => {
    const [a, b] = [await node({ name: 'a' }), await node({ name: 'b' })];
    const made = await create('operator', { candidate_nodes: ['b', a, a.toUpperCase(), b, 'a'] });
    expect(made.body.candidate_nodes).toEqual([b, a]);
  });

  test.each([
    [{ resource_class: undefined }, 'resource_class: is required'],
    [{ resource_class: '' }, 'resource_class'],
    [{ resource_class: 'x'.repeat(81) }, 'resource_class'],
    [{ name: 'with space' }, 'name: 1-255 letters'],
    [{ name: randomUUID() }, 'not a UUID'],
    [{ uuid: 'x' }, 'uuid: must be a UUID'],
    [{ traits: 'CUSTOM_A' }, 'traits'],
    [{ traits: ['lower'] }, 'traits: "lower" is not a trait'],
    [{ traits: Array.from({ length: 51 }, (_, n) => `CUSTOM_${n}`) }, 'traits: at most 50'],
    [{ candidate_nodes: ['not a name!'] }, 'candidate_nodes'],
    [{ candidate_nodes: [1] }, 'candidate_nodes'],
    [{ extra: [] }, 'extra'],
    [{ owner: '' }, 'owner'],
    [{ state: 'active' }, 'Unexpected arguments: state'],
    [{ node_uuid: randomUUID() }, 'Unexpected arguments: node_uuid'],
    [{ colour: 'red' }, 'Unexpected arguments: colour'],
  ])('with %j is refused, saying why', async (more, says) => {
    expect(outcome(await create('operator', more))).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    ['name', { name: 'web' }],
    ['uuid', { uuid: '11111111-2222-4333-8444-555555555555' }],
  ])('a %s that exists is a conflict', async (field, more) => {
    expect((await create('operator', more)).status).toBe(201);
    expect(outcome(await create('operator', more))).toEqual([409, expect.stringContaining(`with ${field} `)]);
  });

  test('null is as good as nothing, and no candidates mean any node', async () => {
    const made = await create('operator', {
      name: null,
      traits: null,
      candidate_nodes: null,
      extra: null,
      owner: null,
    });
    expect(made.body).toMatchObject({ name: null, traits: [], candidate_nodes: [], extra: {}, owner: null });
  });

  test('who asked by which rule is on record, and the project gets the event', async () => {
    const made = await create('owner-member', { name: 'web' });
    const [row] = await api.sql`select requester, action, rule, data from audit where resource_id = ${made.body.uuid}`;
    expect(row).toMatchObject({
      requester: { user_id: `user-of-${owner}` },
      action: 'allocation.create',
      rule: 'baremetal:allocation:create_restricted',
      data: { name: 'web', resource_class: 'gold', owner },
    });
    const [event] = await api.sql`select kind, project from events where data->>'allocation_uuid' = ${made.body.uuid}`;
    expect(event).toEqual({ kind: 'allocation.created', project: owner });
  });
});

describe('recording a node that is in use already', () => {
  const active = (more: Record<string, unknown> = {}) => node({ provision_state: 'active', owner, lessee, ...more });

  test('takes what it does not say from the node, and is active at once', async () => {
    const instance_uuid = randomUUID();
    const uuid = await active({ instance_uuid, name: 'n1', traits: ['CUSTOM_A'] });
    const made = await create('operator', { resource_class: undefined, node: 'n1', traits: ['CUSTOM_A'] });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      uuid: instance_uuid,
      resource_class: 'gold',
      state: 'active',
      node_uuid: uuid,
    });
    expect(made.body).not.toHaveProperty('node');
    const { body } = await api.as('operator', 'GET', `/v1/nodes/${uuid}`);
    expect(body).toMatchObject({
      allocation_uuid: instance_uuid,
      instance_uuid,
      instance_info: { traits: ['CUSTOM_A'] },
    });
    expect(outcome(await create('operator', { node: 'n1' }))[0]).toBe(409);
  });

  test('gives the node an instance where it has none', async () => {
    const uuid = await active();
    const made = await create('lessee-member', { node: uuid });
    expect(made.body).toMatchObject({ state: 'active', owner: lessee });
    expect((await api.as('operator', 'GET', `/v1/nodes/${uuid}`)).body.instance_uuid).toBe(made.body.uuid);
  });

  test.each([
    ['is not active', { provision_state: 'available' }, {}, 409, 'in state "available"'],
    ['has another instance', { instance_uuid: randomUUID() }, { uuid: randomUUID() }, 409, 'is associated with'],
    ['is of another class', {}, { resource_class: 'silver' }, 400, 'resource_class: node'],
    ['has no class', { resource_class: null }, { resource_class: undefined }, 400, 'resource_class: is missing'],
    ['lacks a trait', {}, { traits: ['CUSTOM_A'] }, 400, 'does not have CUSTOM_A'],
    ['is not the project’s', {}, { owner: stranger }, 400, `owned nor leased by project ${stranger}`],
    ['is held by a run', { reservation: randomUUID() }, {}, 409, 'is busy'],
  ] as const)('is refused where the node %s', async (_what, nodeMore, more, status, says) => {
    const uuid = await active(nodeMore);
    expect(outcome(await create('operator', { node: uuid, ...more }))).toEqual([status, expect.stringContaining(says)]);
    const [row] = await api.sql`select allocation_uuid from nodes`;
    expect(row!.allocation_uuid).toBeNull();
    expect((await list('operator')).body.allocations).toEqual([]);
  });

  test('is refused where the node is not among the candidates, or its new instance is another’s', async () => {
    const [uuid, other] = [await active(), await node({ instance_uuid: randomUUID() })];
    expect(outcome(await create('operator', { node: uuid, candidate_nodes: [other] }))[1]).toContain('not among');
    const [{ instance_uuid } = { instance_uuid: '' }] =
      await api.sql`select instance_uuid from nodes where uuid = ${other}`;
    expect(outcome(await create('operator', { node: uuid, uuid: instance_uuid }))[0]).toBe(409);
  });

  test('a hidden node is refused as a missing one', async () => {
    const hidden = await active();
    const says = async (ident: string) =>
      outcome(await create('stranger-admin', { node: ident })).map((one) => String(one).replace(ident, 'IT'));
    expect(await says(hidden)).toEqual(await says(randomUUID()));
    expect((await says(hidden))[0]).toBe('400');
  });
});

describe('seeing allocations', () => {
  test.each([
    ['operator', 200],
    ['system-reader', 200],
    ['owner-reader', 200],
    ['lessee-admin', 404],
    ['stranger-admin', 404],
  ] as const)('as %s answers %i, a hidden one as a missing one', async (who, status) => {
    await given();
    const reply = await show(who, 'web');
    expect(reply.status).toBe(status);
    if (status === 404) expect(faultOf(reply)).toBe(faultOf(await show(who, 'none')).replace('none', 'web'));
  });

  test('a list holds all for the system, and their own for projects', async () => {
    for (const [name, whose] of [
      ['a', owner],
      ['b', lessee],
      ['c', null],
    ] as const)
      await create('operator', { name, owner: whose });
    const names = async (who: Persona, query = '') =>
      (await list(who, query)).body.allocations.map((one: Allocation) => one.name);
    expect(await names('operator')).toEqual(['a', 'b', 'c']);
    expect(await names('system-reader')).toEqual(['a', 'b', 'c']);
    expect(await names('owner-reader')).toEqual(['a']);
    expect(await names('lessee-reader')).toEqual(['b']);
    expect(await names('stranger-admin')).toEqual([]);
    expect(await names('operator', `?owner=${lessee}`)).toEqual(['b']);
    expect(await names('owner-reader', `?owner=${owner}`)).toEqual(['a']);
    expect((await list('owner-reader', `?owner=${lessee}`)).status).toBe(403);
    const page = (await list('operator', '?limit=2&sort_key=name&sort_dir=desc')).body;
    expect(page.allocations.map((one: Allocation) => one.name)).toEqual(['c', 'b']);
    const next = await api.as('operator', 'GET', page.next.slice(api.url.length));
    expect(next.body.allocations.map((one: Allocation) => one.name)).toEqual(['a']);
  });

  test('a marker outside of what the caller sees is no marker', async () => {
    const { body } = await create('operator', { owner });
    expect((await list('owner-reader', `?marker=${body.uuid}`)).status).toBe(200);
    expect((await list('lessee-reader', `?marker=${body.uuid}`)).status).toBe(404);
  });

  test('filters select, and those of others tell nothing', async () => {
    const { node: uuid } = await given();
    await api.sql`update nodes set name = 'n1'`;
    await create('operator', { name: 'other', resource_class: 'silver' });
    const names = async (who: Persona, query: string) =>
      (await list(who, query)).body.allocations?.map((one: Allocation) => one.name);
    expect(await names('operator', `?node=${uuid}`)).toEqual(['web']);
    expect(await names('operator', '?node=n1')).toEqual(['web']);
    expect(await names('operator', '?state=allocating')).toEqual(['other']);
    expect(await names('operator', '?resource_class=silver&state=allocating')).toEqual(['other']);
    expect(await names('operator', '?resource_class=silver&state=active')).toEqual([]);
    expect(await names('owner-reader', '?node=n1')).toEqual(['web']);
    expect(await names('lessee-reader', '?node=n1')).toEqual([]);
    expect((await list('stranger-admin', '?node=n1')).status).toBe(404);
    expect((await list('stranger-admin', `?node=${randomUUID()}`)).status).toBe(404);
  });

  test('chosen fields come with the links, and every field of a list is in it', async () => {
    await given();
    expect(Object.keys((await show('operator', 'web', {})).body)).toEqual(
      Object.keys((await list('operator')).body.allocations[0]),
    );
    expect(Object.keys((await list('operator', '?fields=name,state')).body.allocations[0]).sort()).toEqual(
      ['links', 'name', 'state'].sort(),
    );
  });

  test.each([
    ['?detail=true', 400],
    ['?state=busy', 400],
    ['?fields=node', 400],
    ['?sort_key=traits', 400],
    ['?sort_key=extra', 400],
    ['?sort_key=candidate_nodes', 400],
    ['?limit=0', 400],
    ['?colour=red', 400],
  ])('a list with %s answers %i', async (query, status) => {
    expect((await list('operator', query)).status).toBe(status);
  });
});

describe('changing an allocation', () => {
  const rename = [{ op: 'replace', path: '/name', value: 'db' }];

  test('name and extra change, and nothing else', async () => {
    await create('operator', { name: 'web', extra: { a: 1 } });
    const changed = await patch('operator', 'web', [...rename, { op: 'add', path: '/extra/b', value: 2 }]);
    expect(changed.body).toMatchObject({ name: 'db', extra: { a: 1, b: 2 }, updated_at: expect.any(String) });
    expect((await patch('operator', 'db', [{ op: 'remove', path: '/name' }])).body.name).toBeNull();
    for (const name of ['owner', 'traits', 'resource_class', 'node_uuid', 'state', 'uuid', 'candidate_nodes', 'node'])
      expect(
        (await patch('operator', changed.body.uuid, [{ op: 'replace', path: `/${name}`, value: 'x' }])).status,
      ).toBe(400);
  });

  test.each([
    ['operator', 200],
    ['system-member', 200],
    ['system-reader', 403],
    ['owner-member', 200],
    ['owner-reader', 403],
    ['lessee-admin', 404],
    ['stranger-admin', 404],
  ] as const)('as %s answers %i', async (who, status) => {
    await create('operator', { name: 'web', owner });
    expect((await patch(who, 'web', rename)).status).toBe(status);
  });

  test('a name that exists is a conflict', async () => {
    await create('operator', { name: 'web' });
    await create('operator', { name: 'db' });
    expect((await patch('operator', 'web', rename)).status).toBe(409);
  });
});

describe('giving a node back', () => {
  test.each([
    ['operator', 204],
    ['system-member', 204],
    ['system-reader', 403],
    ['owner-member', 204],
    ['owner-reader', 403],
    ['lessee-admin', 404],
    ['stranger-admin', 404],
  ] as const)('as %s answers %i', async (who, status) => {
    const { node: uuid } = await given();
    expect((await remove(who, 'web')).status).toBe(status);
    const [row] = await api.sql`select instance_uuid, allocation_uuid from nodes where uuid = ${uuid}`;
    expect(row!.allocation_uuid === null).toBe(status === 204);
    expect(row!.instance_uuid === null).toBe(status === 204);
  });

  test('the node can be given again, without what the allocation brought', async () => {
    const { node: uuid, allocation } = await given({ traits: ['CUSTOM_A'] }, { traits: ['CUSTOM_A'] });
    expect((await remove('owner-member', 'web')).status).toBe(204);
    expect((await show('operator', allocation.uuid)).status).toBe(404);
    expect((await api.as('operator', 'GET', `/v1/nodes/${uuid}`)).body.instance_info).toEqual({});
    const again = await create('operator');
    await passes();
    expect((await show('operator', again.body.uuid)).body.node_uuid).toBe(uuid);
    const kinds = await api.sql`
      select kind, project from events where data->>'allocation_uuid' = ${allocation.uuid} order by seq`;
    expect(kinds.map(({ kind }) => kind)).toEqual(['allocation.created', 'allocation.reserved', 'allocation.deleted']);
    expect(new Set(kinds.map(({ project }) => project))).toEqual(new Set([owner]));
    const [row] = await api.sql`
      select rule, requester from audit where resource_id = ${allocation.uuid} and action = 'allocation.delete'`;
    expect(row).toMatchObject({ rule: 'baremetal:allocation:delete', requester: { user_id: `user-of-${owner}` } });
  });

  test('one that waits or has failed goes at once', async () => {
    await create('operator', { name: 'waiting' });
    expect((await remove('operator', 'waiting')).status).toBe(204);
    await create('operator', { name: 'failed' });
    await passes();
    expect((await show('operator', 'failed')).body.state).toBe('error');
    expect((await remove('operator', 'failed')).status).toBe(204);
  });

  test.each([
    [{ provision_state: 'active' }, 409],
    [{ provision_state: 'rescue' }, 409],
    [{ provision_state: 'deploying', target_provision_state: 'active' }, 409],
    [{ provision_state: 'wait call-back', target_provision_state: 'active' }, 409],
    [{ provision_state: 'deleting', target_provision_state: 'available' }, 409],
    [{ reservation: '99999999-2222-4333-8444-555555555555' }, 409],
    [{ reservation: '99999999-2222-4333-8444-555555555555', maintenance: true }, 409],
    [{ provision_state: 'active', maintenance: true }, 204],
    [{ provision_state: 'deploy failed', target_provision_state: 'active' }, 204],
    [{ provision_state: 'manageable' }, 204],
  ])('while the node is %j answers %i, by either path', async (state, status) => {
    for (const way of [
      () => remove('operator', 'web'),
      (uuid: string) => api.as('operator', 'DELETE', `/v1/nodes/${uuid}/allocation`),
    ]) {
      const { node: uuid } = await given();
      await api.sql`update nodes set ${api.sql(state)} where uuid = ${uuid}`;
      expect((await way(uuid)).status).toBe(status);
      expect((await show('operator', 'web')).status).toBe(status === 204 ? 404 : 200);
      await api.sql`delete from allocations`;
      await api.sql`delete from nodes`;
    }
  });
});

describe('what a node shows of its allocation', () => {
  test('its allocation is below it, as it is by itself', async () => {
    const { node: uuid, allocation } = await given();
    expect((await api.as('owner-reader', 'GET', `/v1/nodes/${uuid}/allocation`)).body).toEqual(allocation);
    const chosen = await api.as('operator', 'GET', `/v1/nodes/${uuid}/allocation?fields=state`);
    expect(Object.keys(chosen.body).sort()).toEqual(['links', 'state']);
    expect((await api.as('owner-member', 'DELETE', `/v1/nodes/${uuid}/allocation`)).status).toBe(204);
    const gone = await api.as('owner-member', 'GET', `/v1/nodes/${uuid}/allocation`);
    expect([gone.status, faultOf(gone)]).toEqual([404, `Node ${uuid} has no allocation.`]);
  });

  test.each([
    ['GET', 'owner-reader', 200],
    ['GET', 'lessee-admin', 404],
    ['GET', 'stranger-admin', 404],
    ['DELETE', 'owner-member', 204],
    ['DELETE', 'owner-reader', 403],
    ['DELETE', 'lessee-admin', 404],
    ['DELETE', 'stranger-admin', 404],
  ] as const)(
    '%s as %s answers %i: an allocation that the caller may not see is missing',
    async (method, who, status) => {
      const { node: uuid } = await given();
      expect((await api.as(who, method, `/v1/nodes/${uuid}/allocation`)).status).toBe(status);
    },
  );

  test.each(['GET', 'DELETE'])(
    '%s answers alike where there is none and where it is hidden, in every set',
    async (method) => {
      const { node: uuid } = await given();
      for (const set of ['temper', 'ironic'] as const) {
        api.setPolicy({ set });
        const hidden = await api.as('lessee-admin', method, `/v1/nodes/${uuid}/allocation`);
        expect(outcome(hidden)).toEqual([404, `Node ${uuid} has no allocation.`]);
      }
      api.setPolicy({ set: 'temper' });
      expect((await api.as('owner-reader', 'GET', `/v1/nodes/${uuid}/allocation`)).status).toBe(200);
      await remove('operator', 'web');
      const missing = await api.as('lessee-admin', method, `/v1/nodes/${uuid}/allocation`);
      expect(outcome(missing)).toEqual([404, `Node ${uuid} has no allocation.`]);
    },
  );

  test('removing the instance from the node ends the allocation', async () => {
    const { node: uuid } = await given();
    const freed = await api.as('owner-member', 'PATCH', `/v1/nodes/${uuid}`, {
      body: [{ op: 'remove', path: '/instance_uuid' }],
    });
    expect([freed.status, freed.body.instance_uuid, freed.body.allocation_uuid]).toEqual([200, null, null]);
    expect((await show('operator', 'web')).status).toBe(404);
  });

  test('a node that is held for a project keeps its owner', async () => {
    const { node: uuid } = await given();
    const move = () =>
      api.as('operator', 'PATCH', `/v1/nodes/${uuid}`, { body: [{ op: 'replace', path: '/owner', value: stranger }] });
    expect(outcome(await move())).toEqual([409, expect.stringContaining('cannot change while allocation')]);
    await remove('operator', 'web');
    expect((await move()).status).toBe(200);
  });

  test('a node that is gone takes its allocation with it', async () => {
    const { node: uuid } = await given();
    expect((await api.as('operator', 'DELETE', `/v1/nodes/${uuid}`)).status).toBe(409);
    await api.sql`update nodes set maintenance = true`;
    expect((await api.as('operator', 'DELETE', `/v1/nodes/${uuid}`)).status).toBe(204);
    expect((await show('operator', 'web')).status).toBe(404);
  });
});

describe('by version', () => {
  test.each([
    ['GET', path, 51, 404],
    ['GET', path, 52, 200],
    ['POST', path, 51, 405],
    ['GET', `${path}/web`, 51, 404],
    ['GET', `${path}/web`, 52, 200],
    ['PATCH', `${path}/web`, 56, 405],
    ['PATCH', `${path}/web`, 57, 200],
    ['DELETE', `${path}/web`, 51, 405],
    ['DELETE', `${path}/web`, 52, 204],
    ['GET', '/v1/nodes/n1/allocation', 51, 404],
    ['GET', '/v1/nodes/n1/allocation', 52, 200],
    ['GET', `${path}?owner=${owner}`, 59, 406],
    ['GET', `${path}?fields=owner`, 59, 406],
    ['GET', `${path}?owner=${owner}`, 60, 200],
  ] as const)('%s %s at 1.%i answers %i', async (method, where, minor, status) => {
    await given({}, { name: 'n1' });
    const body = { POST: { resource_class: 'gold' }, PATCH: [{ op: 'replace', path: '/name', value: 'db' }] };
    const sent = method === 'POST' || method === 'PATCH' ? { body: body[method] } : {};
    expect((await api.as('operator', method, where, { minor, ...sent })).status).toBe(status);
  });

  test('the owner is known from 1.60, the node from 1.58', async () => {
    expect((await create('operator', { owner }, { minor: 59, body: { resource_class: 'gold', owner } })).status).toBe(
      406,
    );
    const older = await create('owner-member', {}, { minor: 59 });
    expect([older.status, 'owner' in older.body]).toEqual([201, false]);
    expect((await show('operator', older.body.uuid)).body.owner).toBe(owner);
    const uuid = await node({ provision_state: 'active' });
    const body = { node: uuid };
    expect((await api.as('operator', 'POST', path, { minor: 57, body })).status).toBe(400);
    expect((await api.as('operator', 'POST', path, { minor: 58, body })).status).toBe(201);
  });
});

test('hundreds of allocations of others do not keep a page from being full', async () => {
  await api.sql`
    insert into allocations (name, resource_class, owner, state)
    select 'n-' || n, 'gold', case when n % 50 = 0 then ${owner} else ${stranger} end, 'error' from generate_series(1, 500) n`;
  const page = (await list('owner-reader', '?limit=4')).body;
  expect(page.allocations.map((one: Allocation) => one.name)).toEqual(['n-50', 'n-100', 'n-150', 'n-200']);
  const next = await api.as('owner-reader', 'GET', page.next.slice(api.url.length));
  expect(next.body.allocations.map((one: Allocation) => one.name)).toEqual(['n-250', 'n-300', 'n-350', 'n-400']);
});
