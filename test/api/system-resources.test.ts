/** Chassis, deploy templates and inspection rules alike: who may what, versions, pages, patches, and the record. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from chassis`;
  await api.sql`delete from deploy_templates`;
  await api.sql`delete from inspection_rules`;
});

const missing = '11111111-2222-4333-8444-555555555555';

/** A resource: its path, what it is called, since when, a body that makes it (different with every number), its short list. */
const resources = [
  {
    what: 'chassis',
    path: '/v1/chassis',
    key: 'chassis',
    since: 1,
    tooOld: undefined,
    body: (nth: number) => ({ description: `rack ${nth}` }),
    short: ['uuid', 'description', 'links'],
    full: ['uuid', 'description', 'extra', 'nodes', 'created_at', 'updated_at', 'links'],
    member: 200,
    project: 403,
  },
  {
    what: 'deploy_template',
    path: '/v1/deploy_templates',
    key: 'deploy_templates',
    since: 55,
    tooOld: 405,
    body: (nth: number) => ({
      name: `CUSTOM_T${nth}`,
      steps: [{ interface: 'bios', step: 'factory_reset', args: {}, priority: 10 }],
    }),
    short: ['uuid', 'name', 'links'],
    full: ['uuid', 'name', 'steps', 'extra', 'created_at', 'updated_at', 'links'],
    member: 403,
    project: 403,
  },
  {
    what: 'inspection_rule',
    path: '/v1/inspection_rules',
    key: 'inspection_rules',
    since: 96,
    tooOld: 405,
    body: (nth: number) => ({
      description: `rule ${nth}`,
      actions: [{ op: 'set-attribute', args: { path: '/extra/driver', value: 'redfish' } }],
    }),
    short: ['uuid', 'description', 'phase', 'priority', 'links'],
    full: [
      'uuid',
      'description',
      'phase',
      'priority',
      'sensitive',
      'conditions',
      'actions',
      'created_at',
      'updated_at',
      'links',
    ],
    member: 403,
    project: 403,
  },
] as const;

const patchOf = { chassis: '/description', deploy_template: '/extra/a', inspection_rule: '/description' } as const;

const names = resources.map((one) => [one.what, one] as const);

const asking = (what: (typeof resources)[number]['what'], { path, key, body }: (typeof resources)[number]) => {
  const create = (who: Persona, nth = 1, request: Request = {}) =>
    api.as(who, 'POST', path, { body: body(nth), ...request });
  const made = async (nth = 1): Promise<string> => (await create('operator', nth)).body.uuid;
  const ops = [{ op: 'add', path: patchOf[what], value: 'x' }];
  const listed = (reply: { body: Record<string, { uuid: string }[]> }) => reply.body[key]!.map(({ uuid }) => uuid);
  return { create, made, ops, listed };
};

describe.each(names)('%s', (what, resource) => {
  const { path, since, tooOld, full, member, project } = resource;
  const { create, made, ops } = asking(what, resource);

  test('is made whole, at a place of its own, and read back the same', async () => {
    const reply = await create('operator');
    expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
    expect(Object.keys(reply.body)).toEqual(full);
    expect(reply.headers.get('location')).toBe(`${api.url}${path}/${reply.body.uuid}`);
    expect(reply.body.links[0].href).toBe(`${api.url}${path}/${reply.body.uuid}`);
    expect((await api.as('system-reader', 'GET', `${path}/${reply.body.uuid}`)).body).toEqual(reply.body);
  });

  test.each([
    ['operator', 201, 200, 200, 204],
    ['system-member', 403, 200, member, 403],
    ['system-reader', 403, 200, 403, 403],
    ['owner-admin', project, project, project, project],
    ['owner-manager', project, project, project, project],
    ['owner-reader', project, project, project, project],
    ['lessee-admin', project, project, project, project],
    ['stranger-admin', project, project, project, project],
  ] as const)(
    'as %s: making answers %i, reading %i, changing %i, deleting %i',
    async (who, makes, reads, changes, deletes) => {
      const uuid = await made();
      expect((await create(who, 2)).status).toBe(makes);
      expect((await api.as(who, 'GET', path)).status).toBe(reads);
      expect((await api.as(who, 'GET', `${path}/${uuid}`)).status).toBe(reads);
      expect((await api.as(who, 'PATCH', `${path}/${uuid}`, { body: ops })).status).toBe(changes);
      expect((await api.as(who, 'DELETE', `${path}/${uuid}`)).status).toBe(deletes);
    },
  );

  test('one that is there and one that is not give a project the same answer', async () => {
    const uuid = await made();
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', ops],
      ['DELETE', undefined],
    ] as const) {
      const there = await api.as('stranger-admin', method, `${path}/${uuid}`, { body: sent });
      const not = await api.as('stranger-admin', method, `${path}/${missing}`, { body: sent });
      expect([there.status, there.text]).toEqual([not.status, not.text]);
      expect((await api.as('operator', method, `${path}/${missing}`, { body: sent })).status).toBe(404);
    }
  });

  test('is known from its version on', async () => {
    const uuid = await made();
    if (since === 1) return;
    const request = { minor: since - 1 };
    expect((await api.as('operator', 'GET', path, request)).status).toBe(404);
    expect((await api.as('operator', 'GET', `${path}/${uuid}`, request)).status).toBe(404);
    expect((await create('operator', 2, request)).status).toBe(tooOld);
    expect((await api.as('operator', 'PATCH', `${path}/${uuid}`, { body: ops, ...request })).status).toBe(tooOld);
    expect((await api.as('operator', 'DELETE', `${path}/${uuid}`, request)).status).toBe(tooOld);
    expect((await api.as('operator', 'GET', path, { minor: since })).status).toBe(200);
  });
});

describe.each(names)('a list of %s, and its changes', (what, resource) => {
  const { path, key, body, short, full } = resource;
  const { create, made, ops, listed } = asking(what, resource);
  test('a list is short, whole with detail, and goes on by its next link', async () => {
    const uuids = [await made(1), await made(2), await made(3)];
    const all = await api.as('operator', 'GET', path);
    expect(listed(all)).toEqual(uuids);
    expect(Object.keys(all.body[key][0])).toEqual(short);
    expect(Object.keys((await api.as('operator', 'GET', `${path}?detail=True`)).body[key][0])).toEqual(full);
    expect(Object.keys((await api.as('operator', 'GET', `${path}?fields=uuid`)).body[key][0])).toEqual([
      'uuid',
      'links',
    ]);
    const first = await api.as('operator', 'GET', `${path}?limit=2&sort_dir=desc`);
    const second = await api.as('operator', 'GET', first.body.next.replace(api.url, ''));
    expect([...listed(first), ...listed(second)]).toEqual([...uuids].reverse());
    expect((await api.as('operator', 'GET', `${path}?marker=${missing}`)).status).toBe(404);
    const odd = (await api.as('operator', 'GET', `${path}?marker=nonsense`)).status;
    expect(odd).toBe(path.endsWith('deploy_templates') ? 404 : 400); // there a marker may look like a name
    expect((await api.as('operator', 'GET', `${path}?colour=red`)).status).toBe(400);
  });

  test.each([
    [[{ op: 'replace', path: '/uuid', value: missing }], 'uuid cannot be changed'],
    [[{ op: 'replace', path: '/created_at', value: 'x' }], 'created_at cannot be changed'],
    [[{ op: 'move', path: '/extra' }], 'must be add, replace or remove'],
    [[{ op: 'add', path: 'extra' }], 'must be a path'],
  ])('a patch by %j is refused, saying why', async (patch, says) => {
    const refused = await api.as('operator', 'PATCH', `${path}/${await made()}`, { body: patch });
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  });

  test('an unknown field is refused, and so is what is no identifier', async () => {
    expect((await create('operator', 1, { body: { ...body(1), colour: 'red' } })).status).toBe(400);
    for (const method of ['GET', 'DELETE'])
      expect((await api.as('operator', method, `${path}/a%20b`)).status).toBe(400);
  });

  test('a uuid of the caller’s choice is taken once', async () => {
    expect((await create('operator', 1, { body: { ...body(1), uuid: missing } })).body.uuid).toBe(missing);
    const refused = await create('operator', 2, { body: { ...body(2), uuid: missing } });
    expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`with uuid ${missing}`)]);
  });

  test('every write leaves an audit row and an event that no project gets; a refused one leaves no event', async () => {
    const uuid = await made();
    await api.as('system-reader', 'DELETE', `${path}/${uuid}`);
    await api.as('operator', 'PATCH', `${path}/${uuid}`, { body: ops });
    await api.as('operator', 'DELETE', `${path}/${uuid}`);
    const rows = await api.sql`select action, rule, rule_set from audit
      where resource_id = ${uuid} and verdict = 'granted' order by seq`;
    expect(rows).toEqual(
      ['create', 'update', 'delete'].map((act) => ({
        action: `${what}.${act}`,
        rule: `baremetal:${what}:${act}`,
        rule_set: expect.any(String),
      })),
    );
    const events = await api.sql`
      select kind, project, lessee from events where data ->> ${`${what}_uuid`} = ${uuid} order by seq`;
    expect(events).toEqual(
      ['created', 'updated', 'deleted'].map((kind) => ({ kind: `${what}.${kind}`, project: null, lessee: null })),
    );
  });
});
