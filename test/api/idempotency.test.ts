/** Idempotency-Key: however often something is asked for, and whichever process dies meanwhile, its work is done once. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { routes } from '../../src/api';
import { createOnce, honoursKey } from '../../src/api/idempotency/idempotency';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { livesForMs } from '../../src/inventory/idempotency';
import { TemperError } from '../../src/model/errors';
import { createRuns } from '../../src/runs';
import { reconcileOnce } from '../../src/runs/reconcile';
import { addWorker, faultOf, type Reply, type Request, startTestApi, type TestApi } from '../support/api';
import { type Answers, logOf, storeOf } from '../support/run-doubles';
import { type Persona, personas } from '../support/world';

let api: TestApi;

/** An engine that is away: runs are accepted, and the relay's to start. */
const away = () => Promise.reject(new Error('the engine is away'));
const noEngine = { withDeadline: (_: unknown, work: () => unknown) => work(), workflow: { start: away } };

beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
  const { start, move } = createRuns({
    inventory: api.inventory,
    vault: api.rooms.vault,
    client: noEngine as never,
    timing: { powerTimeoutMs: 1_000, softPowerTimeoutMs: 1_000, settleMs: 1_000, pollMs: 100 },
    log: api.rooms.log,
  });
  Object.assign(api.rooms.runs, { start, move });
});
afterAll(() => api.close());

let key: string;
beforeEach(async () => {
  key = randomUUID();
  jest.restoreAllMocks();
  await api.sql`update nodes set reservation = null`;
  await api.sql`delete from runs`;
  await api.sql`delete from nodes`;
  await api.sql`delete from idempotency`;
});

type Ask = Request & { readonly who?: Persona };

const ask = (method: string, path: string, { who = 'operator', headers, ...request }: Ask = {}): Promise<Reply> =>
  api.as(who, method, path, { ...request, headers: { 'idempotency-key': key, ...headers } });

const node = { name: 'n1', driver: 'fake-hardware' };
const create = (body: object = node, more: Ask = {}) => ask('POST', '/v1/nodes', { body, ...more });
const clean = (more: object = {}) =>
  ask('PUT', '/v1/nodes/n1/states/provision', {
    body: { target: 'clean', clean_steps: [{ interface: 'power', step: 'reboot', args: {} }], ...more },
  });

const count = async (table: string): Promise<number> =>
  Number((await api.sql`select count(*) from ${api.sql(table)}`)[0]!.count);
const audited = async (action: string): Promise<number> =>
  Number(
    (await api.sql`select count(*) from audit where action = ${action} and at > now() - interval '1 hour'`)[0]!.count,
  );
const again = (reply: Reply) => reply.headers.get('idempotent-replayed');

/** The process that serves the key counts as dead. */
const die = () => api.sql`update idempotency set lives_until = now() - interval '1 second'`;

/** Asks until no process serves the key any more. */
const insist = async (send: () => Promise<Reply>): Promise<Reply> => {
  for (;;) {
    const reply = await send();
    if (reply.status !== 409 || !reply.headers.has('retry-after')) return reply;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** Holds the n-th call of a query from then on until it is let go. */
const held = <Part extends object>(part: Part, name: keyof Part & string) => {
  const real = (part[name] as (...args: unknown[]) => Promise<unknown>).bind(part);
  let letGo = () => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let arrived = () => {};
  const inside = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  jest.spyOn(part as Record<string, (...args: unknown[]) => unknown>, name).mockImplementationOnce(async (...args) => {
    arrived();
    await free;
    return real(...args);
  });
  return { inside, letGo };
};

const manageable = async (): Promise<void> => {
  await api.as('operator', 'POST', '/v1/nodes', { body: node });
  await api.sql`update nodes set provision_state = 'manageable'`;
};

describe('said twice', () => {
  test('a creation is answered as before, byte by byte: one node, one row in the audit trail', async () => {
    const before = await audited('node.create');
    const [first, second] = [await create(), await create()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('location')).toBe(`${api.url}/v1/nodes/${first.body.uuid}`);
    expect([again(first), again(second)]).toEqual([null, 'true']);
    expect(second.headers.get('x-openstack-request-id')).not.toBe(first.headers.get('x-openstack-request-id'));
    expect(second.headers.get('x-openstack-ironic-api-version')).toBe('1.115');
    expect([await count('nodes'), (await audited('node.create')) - before]).toEqual([1, 1]);
  });

  test('the repeat stands in the audit trail as what it was', async () => {
    await create();
    const { headers } = await create();
    const [row] =
      await api.sql`select verdict, code from audit where request_id = ${headers.get('x-openstack-request-id')}`;
    expect(row).toEqual({ verdict: 'granted', code: 'Repeated' });
  });

  test('a run is started once', async () => {
    await manageable();
    const [first, second] = [await clean(), await clean()];
    expect([first.status, second.status, first.text, second.text]).toEqual([202, 202, '', '']);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(second.headers.get('content-type')).toBeNull();
    expect(await count('runs')).toBe(1);
  });

  test('without a key the second creation is a conflict, and so is one under another key', async () => {
    const uuid = randomUUID();
    await create({ ...node, uuid });
    expect((await api.as('operator', 'POST', '/v1/nodes', { body: { ...node, uuid } })).status).toBe(409);
    key = randomUUID();
    const other = await create({ driver: 'fake-hardware', uuid });
    expect([other.status, other.headers.has('retry-after')]).toEqual([409, false]);
  });

  test('twenty at once are one', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => insist(() => create())));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([replies[0]!.status, await count('nodes')]).toEqual([201, 1]);
  });

  test('the order of keys in the body does not matter', async () => {
    await create({ name: 'n1', driver: 'fake-hardware', extra: { a: 1, b: { c: 2, d: 3 } } });
    const reply = await create({ extra: { b: { d: 3, c: 2 }, a: 1 }, driver: 'fake-hardware', name: 'n1' });
    expect([reply.status, again(reply)]).toEqual([201, 'true']);
  });

  test('the order of arguments in the query does not matter', async () => {
    await manageable();
    const power = (query: string) => ask('PUT', `/v1/nodes/n1/states/power?${query}`);
    const first = await power('target=power%20on&timeout=30');
    const reply = await power('timeout=30&target=power%20on');
    expect([first.status, reply.status, again(reply), await count('runs')]).toEqual([202, 202, 'true', 1]);
    expect((await power('target=power%20on&timeout=31')).status).toBe(422);
  });

  test.each([
    ['POST', ['a:rule'], undefined, true],
    ['PUT', ['a:rule'], undefined, true],
    ['PATCH', ['a:rule'], undefined, false],
    ['POST', 'public', undefined, false],
    ['POST', [], undefined, false],
    ['POST', ['a:rule'], true, false],
  ])('a route with method %s, rules %j and open %j honours a key: %s', (method, rules, open, honours) => {
    expect(honoursKey({ method, rules, open } as never)).toBe(honours);
  });

  test('a route that changes nothing honours no key', () => {
    expect(honoursKey({ method: 'POST', rules: ['a:rule'], changesNothing: true } as never)).toBe(false);
  });

  const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
  test.each<[string, object]>([
    ['/temper/v1/policy/can', { asks: [{ rule: 'baremetal:node:create' }] }],
    ['/temper/v1/nodes/n1/plan', { target: 'manage' }],
    ['/temper/v1/runbooks/check', { steps }],
    ['/temper/v1/runbooks/CUSTOM_KEYED/check', {}],
  ])('of what POST %s answers nothing is kept', async (path, body) => {
    await api.as('operator', 'POST', '/v1/nodes', { body: node });
    await api.as('operator', 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_KEYED', steps } });
    const replies = [await ask('POST', path, { body }), await ask('POST', path, { body })];
    expect(replies.map((reply) => [reply.status, again(reply)])).toEqual([
      [200, null],
      [200, null],
    ]);
    expect(await count('idempotency')).toBe(0);
  });

  test('under another key of digests it is the same request, as long as the older one is known', async () => {
    const first = await create();
    const { digests } = api.rooms.vault;
    jest
      .spyOn(api.rooms.vault, 'digests')
      .mockImplementation((text) => [Buffer.alloc(digests(text)[0]!.length, 1), ...digests(text)]);
    const reply = await create();
    expect([reply.text, again(reply)]).toEqual([first.text, 'true']);
  });

  test('every route that creates or starts honours the key, but for those of ramdisks and those that change nothing', () => {
    const not = routes.filter((one) => /POST|PUT/.test(one.method) && !honoursKey(one)).map(({ path }) => path);
    expect(not.sort()).toEqual([
      '/temper/v1/nodes/:node/plan',
      '/temper/v1/nodes/bulk/preview',
      '/temper/v1/policy/can',
      '/temper/v1/rollouts/preview',
      '/temper/v1/runbooks/:runbook/check',
      '/temper/v1/runbooks/check',
      '/v1/continue_inspection',
      '/v1/heartbeat/:node_ident',
    ]);
  });
});

describe('another request under the same key is refused', () => {
  test.each<[string, () => Promise<Reply>]>([
    ['with another body', () => create({ ...node, name: 'n2' })],
    ['in another version', () => create(node, { minor: 90 })],
    ['with a query', () => ask('POST', '/v1/nodes?x=1', { body: node })],
    ['at another path', () => ask('POST', '/v1/ports', { body: node })],
  ])('%s', async (_, send) => {
    await create();
    const reply = await send();
    expect(again(reply)).toBeNull();
    // What is no good request at all is refused as such first.
    expect([400, 422]).toContain(reply.status);
    expect(await count('nodes')).toBe(1);
  });

  test('and the text says what to do', async () => {
    await create();
    expect(faultOf(await create({ ...node, name: 'n2' }))).toMatch(
      /^You used this Idempotency-Key for another request/,
    );
  });

  test('so that who has lost a role is not shown what was answered with it', async () => {
    await create();
    const spy = jest
      .spyOn(api.rooms.identity, 'identify')
      .mockResolvedValue({ ...personas.operator, roles: ['reader'] });
    expect((await create()).status).toBe(422);
    spy.mockRestore();
  });

  test.each([
    ['nothing', ''],
    ['two words', 'two words'],
    ['256 characters', 'x'.repeat(256)],
    ['what is not ASCII', Buffer.from('ümlaut').toString('latin1')],
  ])('%s is no key', async (_, bad) => {
    key = bad;
    const reply = await create();
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(/^Idempotency-Key: must be/)]);
    expect(await count('nodes')).toBe(0);
  });
});

describe('keys belong to who sends them', () => {
  test('the same key of another caller is other work', async () => {
    const allocate = (who: Persona) => ask('POST', '/v1/allocations', { who, body: { resource_class: 'x' } });
    const replies = [await allocate('owner-admin'), await allocate('lessee-admin'), await allocate('owner-admin')];
    expect(replies.map((reply) => [reply.status, again(reply)])).toEqual([
      [201, null],
      [201, null],
      [201, 'true'],
    ]);
    expect(replies[1]!.body.uuid).not.toBe(replies[0]!.body.uuid);
    await api.sql`delete from allocations`;
  });

  test('nothing of a request that is refused is kept: the key is free again', async () => {
    const refused = await create(node, { who: 'stranger-admin' });
    expect([refused.status, await count('idempotency')]).toEqual([403, 0]);
    expect((await create({ driver: 'no-such' })).status).toBe(400);
    expect((await create({ ...node, chassis_uuid: randomUUID() })).status).toBe(400);
    await api.as('operator', 'POST', '/v1/nodes', { body: node });
    expect((await create()).status).toBe(409);
    await api.sql`delete from nodes`;
    const reply = await create();
    expect([reply.status, again(reply)]).toEqual([201, null]);
  });

  test('no secret of request or answer is kept', async () => {
    const body = {
      ...node,
      driver: 'redfish',
      driver_info: { redfish_address: 'https://192.0.2.7', redfish_password: 'hunter2' },
    };
    const reply = await create(body);
    expect(reply.status).toBe(201);
    expect((await create(body)).text).toBe(reply.text);
    const rows = await api.sql`select idempotency::text as text from idempotency`;
    expect([rows.length, JSON.stringify(rows)]).toEqual([1, expect.not.stringContaining('hunter2')]);
  });

  test('a key lasts as long as the setting says, and is swept by the reconciler', async () => {
    await create();
    await api.sql`update idempotency set expires_at = now() - interval '1 second'`;
    const reply = await create({ driver: 'fake-hardware' });
    expect([reply.status, again(reply), await count('nodes')]).toEqual([201, null, 2]);
    const [row] = await api.sql`select extract(epoch from expires_at - begun_at) / 3600 as hours from idempotency`;
    expect(Number(row!.hours)).toBeCloseTo(24);
    await api.sql`update idempotency set expires_at = now() - interval '1 second'`;
    const [{ name }] = (await api.sql`select current_database() as name`) as unknown as [{ name: string }];
    const url = new URL(process.env.TEMPER_TEST_DATABASE_URL!);
    Object.assign(url, {
      pathname: `/${name}`,
      username: 'temper_control',
      password: process.env.TEMPER_TEST_ROLE_PASSWORD,
    });
    const control = connect(url.href, { max: 1 });
    await reconcileOnce({ inventory: createInventory(control), client: noEngine as never, log: api.rooms.log });
    await control.end();
    expect(await count('idempotency')).toBe(0);
  });
});

describe('while the first is being served', () => {
  test('a repeat is asked to come again, and is then given its answer', async () => {
    const { inside, letGo } = held(api.inventory.nodes, 'enrol');
    const first = create();
    await inside;
    const second = await create();
    expect([second.status, second.headers.get('retry-after'), faultOf(second)]).toEqual([
      409,
      '1',
      expect.stringContaining('still being served'),
    ]);
    letGo();
    expect((await first).status).toBe(201);
    const third = await create();
    expect([third.status, again(third), await count('nodes')]).toEqual([201, 'true', 1]);
  });

  /** Sends a request, or that part of its body, on a socket of its own and destroys it once `when` has come. */
  const cutOff = async (method: string, path: string, body: object, when: Promise<void>, part = 1): Promise<void> => {
    const { port } = new URL(api.url);
    const socket = connectSocket(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const text = JSON.stringify(body);
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      'X-Auth-Token: operator',
      'X-OpenStack-Ironic-API-Version: 1.115',
      `Idempotency-Key: ${key}`,
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${text.slice(0, text.length * part)}`);
    await when;
    socket.destroy();
    await once(socket, 'close');
  };

  test('the same key after a killed connection: one node, one run', async () => {
    const enrolling = held(api.inventory.nodes, 'enrol');
    await cutOff('POST', '/v1/nodes', node, enrolling.inside);
    enrolling.letGo();
    const made = await insist(() => create());
    expect([made.status, again(made), made.body.name, await count('nodes')]).toEqual([201, 'true', 'n1', 1]);

    await api.sql`update nodes set provision_state = 'manageable'`;
    key = randomUUID();
    const starting = held(api.rooms.runs, 'start');
    const body = { target: 'clean', clean_steps: [{ interface: 'power', step: 'reboot', args: {} }] };
    await cutOff('PUT', '/v1/nodes/n1/states/provision', body, starting.inside);
    starting.letGo();
    const started = await insist(() => clean());
    expect([started.status, again(started), await count('runs')]).toEqual([202, 'true', 1]);
    const [row] = await api.sql`select nodes.reservation = runs.id as held from nodes, runs`;
    expect(row!.held).toBe(true);
  });

  // A whole request might be served while the next test is under way.
  test('a connection that is killed before all of a request was sent leaves the key free', async () => {
    await cutOff('POST', '/v1/nodes', node, Promise.resolve(), 0.5);
    const reply = await insist(() => create());
    expect([reply.status, await count('nodes')]).toEqual([201, 1]);
  });
});

describe('a process that died', () => {
  test('after the work: a creation is answered with what it made', async () => {
    jest.spyOn(api.inventory.idempotency, 'answered').mockRejectedValueOnce(new Error('died'));
    const first = await create();
    expect((await create()).status).toBe(409);
    await die();
    const second = await create();
    expect([second.status, second.headers.get('location')]).toEqual([201, first.headers.get('location')]);
    expect(second.body).toEqual(first.body);
    const third = await create();
    expect([third.status, third.text, again(third), await count('nodes')]).toEqual([201, second.text, 'true', 1]);
  });

  test('after the work: what was made and is gone again is answered by its address alone', async () => {
    jest.spyOn(api.inventory.idempotency, 'answered').mockRejectedValueOnce(new Error('died'));
    const first = await create();
    await api.sql`delete from nodes`;
    await die();
    const second = await create();
    expect([second.status, second.text, second.headers.get('location')]).toEqual([
      201,
      '',
      first.headers.get('location'),
    ]);
    expect(await count('nodes')).toBe(0);
  });

  test.each<[string, string, object, number, string | null]>([
    [
      'PUT',
      '/v1/nodes/n1/states/provision',
      { target: 'clean', clean_steps: [{ interface: 'power', step: 'reboot', args: {} }] },
      202,
      '/v1/nodes/n1/states',
    ],
    ['PUT', '/v1/nodes/n1/states/power', { target: 'power on' }, 202, '/v1/nodes/n1/states'],
    ['PUT', '/v1/nodes/n1/maintenance', { reason: 'fan' }, 202, null],
  ])('after the work: %s %s is answered without doing it again', async (method, path, body, status, location) => {
    await manageable();
    jest.spyOn(api.inventory.idempotency, 'answered').mockRejectedValueOnce(new Error('died'));
    await ask(method, path, { body });
    await die();
    const runs = await count('runs');
    const reply = await ask(method, path, { body });
    expect([reply.status, again(reply)]).toEqual([status, null]);
    expect(reply.headers.get('location')).toBe(location && `${api.url}${location}`);
    expect(await count('runs')).toBe(runs);
  });

  test('before the work: a repeat does it', async () => {
    const { inside, letGo } = held(api.inventory.nodes, 'enrol');
    const first = create();
    await inside;
    await die();
    const second = await create();
    expect([second.status, again(second), await count('nodes')]).toEqual([201, null, 1]);
    letGo();
    await first;
    const [row] =
      await api.sql`select code from audit where request_id = ${second.headers.get('x-openstack-request-id')}`;
    expect(row).not.toMatchObject({ code: 'Repeated' });
  });

  const asked = Buffer.from('asked');
  const cutOff = { request_id: 'r0', status: null, alive: false, changed: false, asked };
  /** A request with a key, to a store that answers so. */
  const keyed = (answers: Answers, more: object = {}) => {
    const { inventory } = storeOf(answers);
    const ctx = { inventory, settings: { idempotencyHours: 24 }, vault: { digests: () => [asked] }, log: logOf().log };
    const request = { requestId: 'r1', who: { roles: [] }, version: 1, header: () => 'a-key' };
    const route = { method: 'PUT', rules: ['a:rule'], ...more };
    const doOnce = createOnce(ctx as unknown as Parameters<typeof createOnce>[0], []);
    const work = jest.fn(async () => ({ status: 204 }));
    const asking = { route, request, url: '/x', rawBody: {} } as unknown as Parameters<typeof doOnce>[0];
    return { once: () => doOnce(asking, work), work };
  };

  test.each([
    ['before the work: what its repeat does', { 'idempotency.begin': cutOff, 'idempotency.takeOver': true }],
    ['nowhere: what the first one with a key does', {}],
  ])('%s is no repetition', async (_, answers) => {
    const { once, work } = keyed(answers);
    expect(await once()).toEqual({ answer: { status: 204 }, repeated: false });
    expect(work.mock.calls).toEqual([['r1']]);
  });

  test.each([
    ['before the work', cutOff, {}],
    ['after it', { ...cutOff, changed: true }, {}],
    ['after it, where the work is done again', { ...cutOff, changed: true }, { cutOff: 'again' }],
  ])('%s: of two repeats at once one goes on', async (_, row, more) => {
    const taken = { 'idempotency.begin': row, 'idempotency.takeOver': false, 'idempotency.revive': false };
    const { once, work } = keyed(taken, more);
    await expect(once()).rejects.toMatchObject({ code: 'IdempotencyUnderWay' });
    expect(work).not.toHaveBeenCalled();
  });

  test('does not say any more that it lives, which one that works says three times in its term', async () => {
    const repeating = jest.spyOn(globalThis, 'setInterval');
    const renew = jest.spyOn(api.inventory.idempotency, 'renew').mockResolvedValue(undefined as never);
    const { inside, letGo } = held(api.inventory.nodes, 'enrol');
    const first = create();
    await inside;
    const [beat] = repeating.mock.calls.find(([, ms]) => ms === livesForMs / 3)!;
    beat();
    const [row] = await api.sql`select request_id from idempotency`;
    expect(renew.mock.calls).toEqual([[row!.request_id]]);
    letGo();
    await first;
  });

  test('that was only slow, and finds its work done by another, does nothing', async () => {
    const { inside, letGo } = held(api.inventory.nodes, 'enrol');
    const slow = create({ driver: 'fake-hardware' });
    await inside;
    await die();
    expect((await create({ driver: 'fake-hardware' })).status).toBe(201);
    letGo();
    expect([(await slow).status, await count('nodes')]).toEqual([409, 1]);
    const reply = await create({ driver: 'fake-hardware' });
    expect([reply.status, again(reply), await count('nodes')]).toEqual([201, 'true', 1]);
  });
});

describe('work that was given up', () => {
  test('of the database, not of ours: what was on its way to it and comes after the repeat does nothing', async () => {
    let late: (() => Promise<unknown>) | undefined;
    const real = api.inventory.nodes.enrol;
    jest.spyOn(api.inventory.nodes, 'enrol').mockImplementationOnce(async (...args) => {
      late = () => real(...args);
      throw Object.assign(new Error('the connection is gone'), { code: 'CONNECTION_CLOSED' });
    });
    expect((await create({ driver: 'fake-hardware' })).status).toBe(503);
    const second = await create({ driver: 'fake-hardware' });
    expect([second.status, again(second)]).toEqual([201, null]);
    await expect(late!()).rejects.toThrow(/was given up/);
    expect(await count('nodes')).toBe(1);
  });

  test('of two that find it dead, one does its work', async () => {
    const { inside, letGo } = held(api.inventory.nodes, 'enrol');
    const first = create({ driver: 'fake-hardware' });
    await inside;
    await die();
    const replies = await Promise.all([1, 2, 3, 4].map(() => insist(() => create({ driver: 'fake-hardware' }))));
    letGo();
    await first;
    expect([new Set(replies.map(({ text }) => text)).size, await count('nodes')]).toEqual([1, 1]);
  });

  test.each([
    ['an answer', new TemperError('BmcUnreachable', { node: 'n1', bmc: '192.0.2.7' }), 502, 'true'],
    ['no answer of the work, so that the store is asked', new Error('what was not expected'), 202, null],
  ])('an error after the work is %s, and never a second attempt', async (_, error, status, replayed) => {
    await manageable();
    const real = api.rooms.runs.start;
    jest.spyOn(api.rooms.runs, 'start').mockImplementationOnce(async (order) => {
      await real(order);
      throw error;
    });
    expect((await clean()).status).toBeGreaterThanOrEqual(500);
    const second = await clean();
    expect([second.status, again(second), await count('runs')]).toEqual([status, replayed, 1]);
  });

  test('between an act on a run and its record: the act is sent again, under the id that keeps it from being done twice', async () => {
    await manageable();
    await clean();
    const [run] = await api.sql`update runs set state = 'parked' returning id`;
    const told: string[] = [];
    const operate = jest.spyOn(api.rooms.runs, 'operate');
    operate.mockImplementation(async ({ asked: { requester, ...how }, run: id }) => {
      told.push(requester.request_id);
      if (told.length > 1) return 'taken';
      const row = { requester, ...how, action: 'run.skip', resource: 'node', resource_id: id, run_id: id };
      await api.inventory.audit.write(row);
      throw new Error('died');
    });
    key = randomUUID();
    const skip = () => ask('POST', `/temper/v1/runs/${run!.id}/skip`, { body: { reason: 'seen by hand' } });
    expect((await skip()).status).toBe(500);
    expect((await skip()).status).toBe(202);
    expect(again(await skip())).toBe('true');
    expect([told.length, new Set(told).size]).toEqual([2, 1]);
  });
});
