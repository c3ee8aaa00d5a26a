/** The audit trail: one row for every request for a change, granted or refused; and who reads it. */

import { randomUUID } from 'node:crypto';

import { routes } from '../../src/api';
import { createAuditTrail } from '../../src/api/audit/middleware';
import { createRepeats } from '../../src/api/audit/refusal-counter';
import type { RequestRow } from '../../src/inventory/audit';
import { anonymous } from '../../src/model/access/callers';
import { sha256Of } from '../../src/model/digests';
import type { ProjectId } from '../../src/model/ids';
import { startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona, personas } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

// Of one caller only so many are written in a minute.
const everybody = Object.keys(personas) as Persona[];
let asked = 0;

let count = 0;
const madeNode = async (): Promise<{ uuid: string; name: string }> => {
  const [node] = await api.sql<{ uuid: string; name: string }[]>`
    insert into nodes (name, driver, provision_state, owner, lessee)
    values (${`audit-node-${++count}`}, 'fake-hardware', 'active', ${owner}, ${lessee}) returning uuid, name`;
  return node!;
};

// biome-ignore lint/suspicious/noExplicitAny: rows of the store
const rowsOf = async (reply: { headers: Headers }): Promise<any[]> =>
  api.sql`select * from audit where request_id = ${reply.headers.get('x-openstack-request-id')} order by seq`;

const patch = (who: Persona, ident: string, value: unknown = { a: 1 }, headers = {}) =>
  api.as(who, 'PATCH', `/v1/nodes/${ident}`, { body: [{ op: 'add', path: '/extra', value }], headers });

describe('a request for a change leaves one row', () => {
  test('where it was granted: who, from where, rule, rule set, node, its project and the request', async () => {
    const node = await madeNode();
    const reply = await patch('owner-manager', node.name, { a: 1 }, { 'x-forwarded-for': '192.0.2.7, 198.51.100.1' });
    expect(reply.status).toBe(200);
    const rows = await rowsOf(reply);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      action: 'node.update',
      verdict: 'granted',
      code: null,
      rule_set: api.rooms.policy().hash,
      node_uuid: node.uuid,
      project: owner,
      asked_by: owner,
      origin: { address: '127.0.0.1', forwarded_for: '192.0.2.7, 198.51.100.1' },
      requester: { user_id: `user-of-${owner}`, project_id: owner, strategy: 'static_tokens' },
    });
    expect(rows[0].rule).toContain('baremetal:node:update');
  });

  test.each([
    ['POST', '/v1/allocations', { resource_class: 'gold' }, 'allocation.create'],
    ['POST', '/v1/chassis', {}, 'chassis.create'],
    [
      'POST',
      '/v1/runbooks',
      { name: 'CUSTOM_AUDITED', steps: [{ interface: 'power', step: 'reboot', args: {}, order: 1 }] },
      'runbook.create',
    ],
  ])('with the address that %s %s came from', async (method, path, body, action) => {
    const reply = await api.as('operator', method, path, { body });
    expect(reply.status).toBe(201);
    expect(await rowsOf(reply)).toMatchObject([{ action, origin: { address: '127.0.0.1' } }]);
  });

  test('where a rule refused it, with that rule and nothing of the body', async () => {
    const node = await madeNode();
    const reply = await patch('lessee-reader', node.name, { note: 'hunter2' });
    expect(reply.status).toBe(403);
    const rows = await rowsOf(reply);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      action: 'PATCH /v1/nodes/:node_ident',
      verdict: 'refused',
      code: 'PolicyDenied',
      rule_set: api.rooms.policy().hash,
      resource: 'node',
      resource_id: node.name,
      node_uuid: node.uuid,
      project: owner,
      asked_by: lessee,
      times: 1,
      data: {},
    });
    expect(reply.text).toContain(rows[0].rule);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  });

  test('where the node was hidden, which the row says and the answer does not', async () => {
    const node = await madeNode();
    const [hidden, missing] = [await patch('stranger-admin', node.uuid), await patch('stranger-admin', 'nowhere')];
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    const [row] = await rowsOf(hidden);
    expect(row).toMatchObject({ verdict: 'refused', rule: 'baremetal:node:get', node_uuid: node.uuid });
    const [none] = await rowsOf(missing);
    expect(none).toMatchObject({ verdict: 'failed', rule: null, code: 'NodeNotFound', node_uuid: null });
  });

  test.each([
    ['a body that is none', 'PATCH', '', { raw: '{' }, 400],
    ['a version that is too old', 'PUT', '/traits/CUSTOM_A', { minor: 1 }, 405],
    ['a state that is not the right one', 'PUT', '/states/provision', { body: { target: 'provide' } }, 400],
  ] as const)('where it failed for %s', async (_why, method, suffix, request, status) => {
    const node = await madeNode();
    const reply = await api.as('operator', method, `/v1/nodes/${node.uuid}${suffix}`, request);
    expect(reply.status).toBe(status);
    const rows = await rowsOf(reply);
    expect(rows.map(({ verdict, node_uuid }) => [verdict, node_uuid])).toEqual([['failed', node.uuid]]);
  });
});

describe('a request for a change leaves one row also', () => {
  test('where it changed nothing', async () => {
    const node = await madeNode();
    const reply = await api.as('owner-manager', 'PATCH', `/v1/nodes/${node.uuid}`, {
      body: [{ op: 'add', path: '/protected', value: false }],
    });
    expect(reply.status).toBe(200);
    expect(await rowsOf(reply)).toMatchObject([{ action: 'node.update', verdict: 'granted' }]);
  });

  test('where its handler keeps none of its own', async () => {
    const node = await madeNode();
    const trail = createAuditTrail(api.rooms);
    const route = routes.find(({ method, path }) => method === 'PUT' && path === '/v1/nodes/:node_ident/states/power')!;
    const requestId = `req-${randomUUID()}`;
    const who = { ...anonymous, project_id: owner as ProjectId, roles: ['member'] };
    const followed = trail.follow({ route, params: { node_ident: node.uuid }, who, requestId, origin: () => ({}) })!;
    expect(followed.ctx.policy().allows('baremetal:node:set_power_state', who, { 'node.owner': owner })).toBe(true);
    await followed.granted();
    await trail.close();
    expect(await api.sql`select action, verdict, rule from audit where request_id = ${requestId}`).toEqual([
      {
        action: 'PUT /v1/nodes/:node_ident/states/power',
        verdict: 'granted',
        rule: 'baremetal:node:set_power_state',
      },
    ]);
  });

  test('with bounds: what a caller names is cut and holds no control characters', async () => {
    const reply = await api.as('operator', 'DELETE', `/v1/nodes/${'x'.repeat(3_000)}%1b%5b31m`, {
      headers: { 'x-forwarded-for': 'y'.repeat(3_000) },
    });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    const [row] = await rowsOf(reply);
    expect(row.resource_id).toBe('x'.repeat(255));
    expect(row.origin.forwarded_for).toHaveLength(200);
    const short = await api.as('operator', 'DELETE', '/v1/nodes/a%1b%5b31m');
    expect((await rowsOf(short))[0].resource_id).toBe('a?[31m');
  });
});

describe('what nobody may delete keeps little of a request', () => {
  const long = 'x'.repeat(900_000);
  const digest = (value: unknown) => ({
    $bytes: JSON.stringify(value).length,
    $sha256: sha256Of(JSON.stringify(value)),
  });
  const eventsOf = (node: { uuid: string }) =>
    api.sql`select data from events where node_uuid = ${node.uuid} order by seq`;

  test('of a long value of a node its size and its SHA-256, in the trail and in the event, and the rest as it is', async () => {
    const node = await madeNode();
    const extra = { blob: long, rack: 'r1' };
    const reply = await patch('lessee-manager', node.uuid, extra);
    expect(reply.status).toBe(200);
    const changed = { extra: digest(extra) };
    expect((await rowsOf(reply))[0].data).toEqual({ changed, before: { extra: {} } });
    expect(await eventsOf(node)).toMatchObject([{ data: { changed, node_uuid: node.uuid } }]);
    const [kept] = await api.sql`select extra from nodes where uuid = ${node.uuid}`;
    expect(kept!.extra).toEqual(extra);
  });

  test('of a short value all of it', async () => {
    const node = await madeNode();
    const extra = { note: 'y'.repeat(4_000) };
    const reply = await patch('lessee-manager', node.uuid, extra);
    expect((await rowsOf(reply))[0].data).toMatchObject({ changed: { extra } });
  });

  test('of a list or a document of many short values one digest where they pass the row', async () => {
    const extra = Object.fromEntries(Array.from({ length: 7_000 }, (_, n) => [`k${n}`, 'v'.repeat(9)]));
    const made = await api.as('operator', 'POST', '/v1/chassis', { body: { description: 'many', extra } });
    expect(made.status).toBe(201);
    const [row] = await rowsOf(made);
    expect(JSON.stringify(row.data).length).toBeLessThan(64 * 1024);
    expect(row.data).toMatchObject({ description: 'many', extra: { $bytes: JSON.stringify(extra).length } });
  });

  test('of the steps of a runbook each that is long, and the page of the trail shows the digest', async () => {
    const steps = [{ interface: 'power', step: 'reboot', args: { why: long }, order: 1 }];
    const made = await api.as('operator', 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_LONG_STEP', steps } });
    expect(made.status).toBe(201);
    const [row] = await rowsOf(made);
    expect(row.data.steps).toEqual([{ $bytes: expect.any(Number), $sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    const page = await api.as('operator', 'GET', `/temper/v1/audit?request=${row.request_id}`);
    expect(page.body.audit[0].data).toEqual(row.data);
  });
});

const changing = routes.filter(
  ({ method, rules, open, changesNothing }) => method !== 'GET' && rules !== 'public' && !open && !changesNothing,
);

test.each(changing.map(({ method, path }) => [method, path] as const))(
  '%s %s leaves one row when it is refused',
  async (method, path) => {
    const who = everybody[asked++ % everybody.length]!;
    const filled = path.replace(/:\w+/g, '3f2b1d4c-5a69-4788-9c01-2d3e4f506172');
    const reply = await api.as(who, method, filled, { raw: '{"nonsense": "hunter2"' });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    const rows = await rowsOf(reply);
    expect(rows).toEqual([expect.objectContaining({ action: `${method} ${path}`, times: 1 })]);
    expect(rows[0].resource).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  },
);

describe('reading the trail leaves one row', () => {
  test('for each page, which says what was looked for; the page itself does not hold it', async () => {
    const reply = await api.as(
      'system-reader',
      'GET',
      '/temper/v1/audit?action=node.create&limit=7&since=2026-01-01T00:00:00Z',
    );
    expect(reply.status).toBe(200);
    const [row, ...more] = await rowsOf(reply);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      action: 'audit.read',
      verdict: 'granted',
      rule: 'temper:audit:get',
      rule_set: api.rooms.policy().hash,
      resource: 'audit',
      requester: { strategy: expect.any(String), system_scope: 'all' },
      data: { action: 'node.create', limit: 7, since: '2026-01-01T00:00:00.000Z' },
    });
    expect(reply.body.audit.map(({ request_id }: { request_id: string }) => request_id)).not.toContain(row.request_id);
  });

  test('where it was refused, or failed', async () => {
    const refused = await api.as('lessee-admin', 'GET', '/temper/v1/audit');
    expect((await rowsOf(refused)).map(({ action, verdict, rule }) => [action, verdict, rule])).toEqual([
      ['GET /temper/v1/audit', 'refused', 'temper:audit:get'],
    ]);
    const failed = await api.as('system-reader', 'GET', '/temper/v1/audit?marker=999999999');
    expect((await rowsOf(failed)).map(({ verdict, code }) => [verdict, code])).toEqual([['failed', 'MarkerNotFound']]);
  });

  test('is not answered where that row cannot be written', async () => {
    const broken = jest.spyOn(api.inventory.audit, 'write').mockRejectedValueOnce(new Error('the trail is full'));
    expect((await api.as('system-reader', 'GET', '/temper/v1/audit')).status).toBe(500);
    broken.mockRestore();
  });
});

test('reading anything else, an unknown caller and a path that is not offered leave nothing', async () => {
  const node = await madeNode();
  const before = await api.sql`select count(*) from audit`;
  await api.as('stranger-admin', 'GET', `/v1/nodes/${node.uuid}`);
  await api.as(null, 'DELETE', `/v1/nodes/${node.uuid}`);
  await api.as('operator', 'POST', '/v1/nothing');
  await api.as('operator', 'POST', `/v1/nodes/${node.uuid}`);
  expect(await api.sql`select count(*) from audit`).toEqual(before);
});

test('equal refusals of one caller are written once and counted, and another caller’s are not among them', async () => {
  const node = await madeNode();
  for (let n = 0; n < 5; n++) await api.as('lessee-reader', 'DELETE', `/v1/nodes/${node.uuid}`);
  await api.as('owner-reader', 'DELETE', `/v1/nodes/${node.uuid}`);
  const rows = await api.sql`select asked_by from audit where node_uuid = ${node.uuid} order by seq`;
  expect(rows.map(({ asked_by }) => asked_by)).toEqual([lessee, owner]);
});

describe('refusals again and again', () => {
  const row = (resource_id: string, request_id = 'r'): RequestRow => ({
    requester: { user_id: 'u', user_name: 'u', project_id: null, system_scope: null, strategy: 'keystone', request_id },
    origin: {},
    action: 'DELETE /v1/nodes/:node_ident',
    verdict: 'refused',
    rule: 'r',
    rule_set: 's',
    code: 'PolicyDenied',
    resource: 'node',
    resource_id,
    node: null,
    run_id: null,
    times: 1,
  });
  const noting = (most: number) => {
    const written: RequestRow[] = [];
    const clock = { now: 0 };
    const write = async (one: RequestRow) => void written.push(one);
    return { written, clock, repeats: createRepeats({ write, now: () => clock.now, windowMs: 1_000, most }) };
  };

  test('are counted until their minute is over, and the count names the last of them', async () => {
    const { written, clock, repeats } = noting(9);
    for (const request of ['1', '2', '3']) await repeats.note(row('a', request));
    await repeats.flush();
    expect(written.map(({ times }) => times)).toEqual([1]);
    clock.now = 1_000;
    await repeats.flush();
    expect(written.map(({ times, requester }) => [times, requester.request_id])).toEqual([
      [1, '1'],
      [2, '3'],
    ]);
    await repeats.note(row('a', '4'));
    expect(written).toHaveLength(3);
  });

  test('of ever new targets end in one row that says how many there were', async () => {
    const { written, repeats } = noting(3);
    for (let n = 0; n < 1_000; n++) await repeats.note(row(`node-${n}`));
    expect(written).toHaveLength(3);
    await repeats.flush(true);
    expect(written).toHaveLength(4);
    expect(written[3]).toMatchObject({ times: 997, resource: '*', action: '*', rule: null, verdict: 'refused' });
  });
});

describe('the list', () => {
  const read = (who: Persona, query = '') => api.as(who, 'GET', `/temper/v1/audit${query}`);

  test.each([
    ['operator', 200],
    ['system-reader', 200],
    ['owner-admin', 403],
    ['lessee-reader', 403],
    ['stranger-admin', 403],
  ] as const)('is answered to %s with %i', async (who, status) => {
    for (const set of ['temper', 'ironic', 'closed'] as const) {
      api.setPolicy({ set });
      expect([set, (await read(who)).status]).toEqual([set, status]);
    }
    api.setPolicy({ set: 'temper' });
  });

  test('tells of a node, a project, an action, a verdict and a time, newest first', async () => {
    const node = await madeNode();
    await patch('owner-manager', node.uuid);
    const until = new Date(Date.now() + 60_000).toISOString();
    await patch('lessee-reader', node.uuid);
    const named = async (query: string) => {
      const { body } = await read('system-reader', query);
      return body.audit.map(({ action }: { action: string }) => action);
    };
    const [refused, granted] = ['PATCH /v1/nodes/:node_ident', 'node.update'];
    expect(await named(`?node=${node.uuid}`)).toEqual([refused, granted]);
    expect(await named(`?node=${node.uuid}&verdict=refused`)).toEqual([refused]);
    expect(await named(`?node=${node.uuid}&action=node.update`)).toEqual([granted]);
    expect(await named(`?node=${node.uuid}&project=${owner}`)).toEqual([refused, granted]);
    expect(await named(`?node=${node.uuid}&project=${lessee}`)).toEqual([refused]);
    expect(await named(`?node=${node.uuid}&project=nobody`)).toEqual([]);
    expect(await named(`?node=${node.uuid}&user=user-of-${lessee}`)).toEqual([refused]);
    expect(await named(`?node=${node.uuid}&until=${until}&since=2020-01-01T00:00:00Z`)).toEqual([refused, granted]);
    expect(await named(`?node=${node.uuid}&since=${until}`)).toEqual([]);
  });

  test('tells of a run', async () => {
    const run = '5a4e4a0e-4d0e-4cf5-8f3d-0d2a0f6d7a11';
    await api.as('lessee-member', 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'x' } });
    const { body } = await read('operator', `?run=${run}`);
    expect(body.audit).toEqual([
      expect.objectContaining({ run_uuid: run, resource: 'run', code: 'RunNotFound', verdict: 'failed' }),
    ]);
  });

  test('shows an entry whole, and no secret', async () => {
    const node = await madeNode();
    await patch('operator', node.uuid, { admin_password: 'hunter2' });
    const { body, text } = await read('operator', `?node=${node.uuid}`);
    expect(Object.keys(body.audit[0]).sort()).toEqual(
      [
        ...[
          'seq',
          'at',
          'who',
          'address',
          'forwarded_for',
          'request_id',
          'global_request_id',
          'action',
          'verdict',
          'rule',
          'rule_set',
          'code',
        ],
        ...['resource', 'resource_id', 'node_uuid', 'node_name', 'project', 'run_uuid', 'times', 'data'],
      ].sort(),
    );
    expect(body.audit[0].who).not.toHaveProperty('request_id');
    expect(text).not.toContain('hunter2');
  });

  test('comes in pages that follow each other', async () => {
    const node = await madeNode();
    for (let n = 0; n < 5; n++) await patch('operator', node.uuid, { n });
    const seen: number[] = [];
    let path: string | undefined = `/temper/v1/audit?node=${node.uuid}&limit=2`;
    while (path) {
      const { body } = await api.as('operator', 'GET', path);
      seen.push(...body.audit.map(({ seq }: { seq: number }) => seq));
      path = body.next?.replace(api.url, '');
    }
    expect(seen).toHaveLength(5);
    expect(seen).toEqual([...seen].sort((a, b) => b - a));
  });

  test.each([
    ['?limit=0', 400],
    ['?node=a%20b', 400],
    ['?since=yesterday', 400],
    ['?verdict=maybe', 400],
    ['?marker=x', 400],
    ['?colour=red', 400],
    ['?marker=999999999', 404],
  ])('refuses %s with %i', async (query, status) => expect((await read('operator', query)).status).toBe(status));
});
