/** Freezes on the wire: who makes, sees and ends them, when they hold, and what a frozen node refuses. */
import type { NodeUuid } from '../../src/model/ids';
import { addWorker, faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api?.close());

let count = 0;
const newNode = async (values: Record<string, unknown> = {}): Promise<{ uuid: NodeUuid; name: string }> => {
  const [node] = await api.sql<{ uuid: NodeUuid; name: string }[]>`
    insert into nodes ${api.sql({ name: `frozen-${++count}`, driver: 'fake-hardware', provision_state: 'active', owner, lessee, ...values } as never)}
    returning uuid, name`;
  return node!;
};

const freeze = (node: string, body: unknown, who: Persona = 'operator') =>
  api.as(who, 'POST', `/temper/v1/nodes/${node}/freezes`, { body });
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const powerOff = (node: string, who: Persona = 'operator') =>
  api.as(who, 'PUT', `/v1/nodes/${node}/states/power`, { body: { target: 'power off' } });
const over = (id: string) => api.sql`update freezes set until = now() - interval '1 second' where id = ${id}`;

describe('a node is frozen', () => {
  test('by an operator, with a reason and a time, and the answer says all of it', async () => {
    const node = await newNode();
    const until = tomorrow();
    const made = await freeze(node.name, { reason: 'fan swap', until });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toMatch(new RegExp(`/temper/v1/freezes/${made.body.uuid}$`));
    expect(made.body).toMatchObject({
      node_uuid: node.uuid,
      node_name: node.name,
      reason: 'fan swap',
      requester: { user_name: 'user-of-system' },
      until,
      active: true,
      ended_at: null,
      ended_by: null,
    });
  });

  test.each([
    ['system-member', 201],
    ['system-reader', 403],
    ['owner-admin', 403],
    ['lessee-admin', 403],
    ['stranger-admin', 404],
  ] as const)('or not, as %s: %s', async (who, status) => {
    const node = await newNode();
    expect((await freeze(node.uuid, { reason: 'x' }, who)).status).toBe(status);
    const rows = await api.sql`select 1 from freezes where node_uuid = ${node.uuid}`;
    expect(rows).toHaveLength(status === 201 ? 1 : 0);
  });

  test('in the audit trail and the events of those whom the node concerns', async () => {
    const node = await newNode();
    const { body } = await freeze(node.uuid, { reason: 'fan swap' });
    await api.as('operator', 'DELETE', `/temper/v1/freezes/${body.uuid}`);
    const audit = await api.sql`select action, rule from audit where resource_id = ${body.uuid} order by seq`;
    expect(audit).toEqual([
      { action: 'freeze.create', rule: 'temper:freeze:create' },
      { action: 'freeze.delete', rule: 'temper:freeze:delete' },
    ]);
    const told =
      await api.sql`select kind, project, lessee, data from events where node_uuid = ${node.uuid} order by seq`;
    expect(told).toMatchObject([
      {
        kind: 'node.frozen',
        project: owner,
        lessee,
        data: { freeze_uuid: body.uuid, reason: 'fan swap', until: null },
      },
      { kind: 'node.unfrozen', project: owner, lessee, data: { freeze_uuid: body.uuid } },
    ]);
  });

  test.each([
    ['without a reason', {}, 'reason'],
    ['with an empty reason', { reason: '  ' }, 'say why'],
    ['until a time that is over', { reason: 'x', until: '2020-01-01T00:00:00Z' }, 'is over already'],
    ['until a time without a zone', { reason: 'x', until: '2099-01-01T00:00:00' }, 'with its zone'],
    ['until what is no time', { reason: 'x', until: 'Friday' }, 'with its zone'],
    ['with a word that means nothing', { reason: 'x', forever: true }, 'forever'],
  ])('but not %s', async (_, body, says) => {
    const reply = await freeze((await newNode()).uuid, body);
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toContain(says);
  });
});

test.each([-3_600_000, 3_600_000])('whether a freeze is over already, the store says (%d ms off)', async (ms) => {
  const node = await newNode();
  const trueNow = Date.now.bind(Date);
  const skewed = jest.spyOn(Date, 'now').mockImplementation(() => trueNow() + ms);
  const at = (minutes: number) => new Date(trueNow() + minutes * 60_000).toISOString();
  try {
    expect((await freeze(node.uuid, { reason: 'x', until: at(30) })).status).toBe(201);
    expect((await freeze(node.uuid, { reason: 'x', until: at(-30) })).status).toBe(400);
  } finally {
    skewed.mockRestore();
  }
});

describe('freezes are listed', () => {
  test.each([
    ['operator', 200],
    ['system-reader', 200],
    ['owner-reader', 200],
    ['lessee-reader', 200],
    ['stranger-admin', 404],
  ] as const)('of a node, to %s: %s', async (who, status) => {
    const node = await newNode();
    const { body } = await freeze(node.uuid, { reason: 'x' });
    const list = await api.as(who, 'GET', `/temper/v1/nodes/${node.uuid}/freezes`);
    const one = await api.as(who, 'GET', `/temper/v1/freezes/${body.uuid}`);
    expect([list.status, one.status]).toEqual([status, status]);
    if (status === 200) expect(list.body.freezes.map(({ uuid }: { uuid: string }) => uuid)).toEqual([body.uuid]);
  });

  test('of all nodes a caller may see, and of no other', async () => {
    const [mine, foreign] = [await newNode(), await newNode({ owner: 'project-x', lessee: null })];
    const a = await freeze(mine.uuid, { reason: 'a' });
    const b = await freeze(foreign.uuid, { reason: 'b' });
    const seen = async (who: Persona) => {
      const { body } = await api.as(who, 'GET', '/temper/v1/freezes?limit=1000');
      return (body.freezes as { uuid: string }[])
        .map(({ uuid }) => uuid)
        .filter((uuid) => uuid === a.body.uuid || uuid === b.body.uuid);
    };
    expect(await seen('operator')).toEqual([b.body.uuid, a.body.uuid]);
    expect(await seen('owner-reader')).toEqual([a.body.uuid]);
    expect(await seen('lessee-reader')).toEqual([a.body.uuid]);
    expect(await seen('stranger-admin')).toEqual([]);
    expect((await api.as('owner-reader', 'GET', `/temper/v1/freezes?marker=${b.body.uuid}`)).status).toBe(404);
  });

  test('page by page, and only active ones unless all are asked for', async () => {
    const node = await newNode();
    const made = [];
    for (const reason of ['a', 'b', 'c']) made.push((await freeze(node.uuid, { reason })).body);
    const path = `/temper/v1/nodes/${node.uuid}/freezes`;
    const reasons = async (query: string) =>
      (await api.as('operator', 'GET', `${path}${query}`)).body.freezes.map(({ reason }: { reason: string }) => reason);
    expect(await reasons('?limit=2')).toEqual(['c', 'b']);
    expect(await reasons(`?limit=2&marker=${made[1].uuid}`)).toEqual(['a']);
    await over(made[0].uuid);
    await api.as('operator', 'DELETE', `/temper/v1/freezes/${made[1].uuid}`);
    expect(await reasons('')).toEqual(['c']);
    expect(await reasons('?all=true')).toEqual(['c', 'b', 'a']);
  });
});

describe('a freeze ends', () => {
  test('by an operator, who stands in it, and only once', async () => {
    const { body } = await freeze((await newNode()).uuid, { reason: 'x' });
    const path = `/temper/v1/freezes/${body.uuid}`;
    expect((await api.as('operator', 'DELETE', path)).status).toBe(204);
    expect((await api.as('operator', 'GET', path)).body).toMatchObject({
      active: false,
      ended_at: expect.any(String),
      ended_by: { user_name: 'user-of-system' },
    });
    const again = await api.as('operator', 'DELETE', path);
    expect(again.status).toBe(409);
    expect(faultOf(again)).toContain('no longer active');
  });

  test('and the run that waits for it is notified', async () => {
    const node = await newNode();
    const { body } = await freeze(node.uuid, { reason: 'x' });
    api.runs.contacts.length = 0;
    await api.as('operator', 'DELETE', `/temper/v1/freezes/${body.uuid}`);
    expect(api.runs.contacts).toEqual([{ node: node.uuid, kind: 'unfreeze' }]);
  });

  test.each([
    ['system-reader', 403],
    ['owner-admin', 403],
    ['lessee-admin', 403],
    ['stranger-admin', 404],
  ] as const)('not by %s: %s', async (who, status) => {
    const { body } = await freeze((await newNode()).uuid, { reason: 'x' });
    const path = `/temper/v1/freezes/${body.uuid}`;
    expect((await api.as(who, 'DELETE', path)).status).toBe(status);
    expect((await api.as('operator', 'GET', path)).body.active).toBe(true);
  });

  test('which a caller reads who names none', async () => {
    for (const id of ['nothing', '6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11'])
      expect((await api.as('operator', 'DELETE', `/temper/v1/freezes/${id}`)).status).toBe(404);
  });
});

describe('a frozen node', () => {
  test('refuses power with who, why and until when, and nothing is started', async () => {
    const node = await newNode();
    const until = tomorrow();
    const { body } = await freeze(node.uuid, { reason: 'fan swap', until });
    const before = api.runs.started.length;
    const reply = await powerOff(node.name, 'lessee-member');
    expect(reply.status).toBe(409);
    for (const part of [node.name, 'user-of-system', until, 'fan swap', body.uuid])
      expect(faultOf(reply)).toContain(part);
    expect(api.runs.started).toHaveLength(before);
  });

  test('does not tell a caller without the right why', async () => {
    const node = await newNode();
    await freeze(node.uuid, { reason: 'fan swap' });
    const reply = await powerOff(node.uuid, 'lessee-reader');
    expect(reply.status).toBe(403);
    expect(reply.text).not.toContain('fan swap');
  });

  test('is read as ever', async () => {
    const node = await newNode();
    await freeze(node.uuid, { reason: 'x' });
    expect((await api.as('lessee-reader', 'GET', `/v1/nodes/${node.uuid}/states`)).status).toBe(200);
  });

  test('stays so until the last of several freezes is over, the longest being named', async () => {
    const node = await newNode();
    const short = await freeze(node.uuid, { reason: 'short', until: tomorrow() });
    const long = await freeze(node.uuid, { reason: 'long' });
    expect(faultOf(await powerOff(node.uuid))).toContain('until an operator ends it: long');
    await api.as('operator', 'DELETE', `/temper/v1/freezes/${long.body.uuid}`);
    expect(faultOf(await powerOff(node.uuid))).toContain(': short');
    await over(short.body.uuid);
    expect((await powerOff(node.uuid)).status).toBe(202);
  });
});

test('a freeze goes with its node', async () => {
  const node = await newNode({ provision_state: 'manageable' });
  const { body } = await freeze(node.uuid, { reason: 'x' });
  expect((await api.as('operator', 'DELETE', `/v1/nodes/${node.uuid}`)).status).toBe(204);
  expect((await api.as('operator', 'GET', `/temper/v1/freezes/${body.uuid}`)).status).toBe(404);
});
