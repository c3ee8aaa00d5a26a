/** Runbooks: who may make, see and change one, what is refused, and what the clients' sentences do. */
import { faultOf, type Request, startTestApi, type TestApi } from '../support/api';
import { owner, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from runbooks`;
  await api.sql`delete from secrets`;
});

const steps = [{ interface: 'bios', step: 'factory_reset', args: {}, order: 1 }];
const given = (more: object = {}) => ({ name: 'CUSTOM_RESET', steps, ...more });
const create = (who: Persona, more: object = {}, request: Request = {}) =>
  api.as(who, 'POST', '/v1/runbooks', { body: given(more), ...request });
const patch = (who: Persona, ops: unknown, request: Request = {}, ident = 'CUSTOM_RESET') =>
  api.as(who, 'PATCH', `/v1/runbooks/${ident}`, { body: ops, ...request });
const show = (who: Persona, ident = 'CUSTOM_RESET', request: Request = {}) =>
  api.as(who, 'GET', `/v1/runbooks/${ident}`, request);

/** A runbook as it stands in the store, however it came there. */
const stored = (more: { name?: string; owner?: string | null; public?: boolean; traits?: string[] } = {}) =>
  api.inventory.runbooks.insert({
    name: 'CUSTOM_RESET',
    steps: [{ interface: 'bios', step: 'factory_reset', order: 1, args: {} }],
    disable_ramdisk: false,
    extra: {},
    public: false,
    owner: null,
    description: null,
    traits: [],
    ...more,
  });

describe('making a runbook', () => {
  test('with system scope it belongs to no project, and the answer is the whole of it', async () => {
    const made = await create('system-member', { extra: { a: 1 }, description: 'text' });
    expect(made.status).toBe(201);
    const { uuid } = made.body;
    expect(made.headers.get('location')).toBe(`${api.url}/v1/runbooks/${uuid}`);
    expect(made.body).toEqual({
      uuid,
      name: 'CUSTOM_RESET',
      steps: [{ interface: 'bios', step: 'factory_reset', order: 1, args: {} }],
      disable_ramdisk: false,
      extra: { a: 1 },
      public: false,
      owner: null,
      description: 'text',
      traits: [],
      created_at: expect.stringMatching(/\+00:00$/),
      updated_at: null,
      links: [
        { href: `${api.url}/v1/runbooks/${uuid}`, rel: 'self' },
        { href: `${api.url}/runbooks/${uuid}`, rel: 'bookmark' },
      ],
    });
  });

  test('in a project it belongs to the project, said or unsaid', async () => {
    expect((await create('owner-manager')).body).toMatchObject({ owner, public: false });
    expect((await create('owner-manager', { name: 'CUSTOM_B', owner })).body).toMatchObject({ owner });
  });

  test.each([
    ['owner-manager', { owner: stranger }, 'owner: a project creates runbooks for itself only'],
    ['operator', { owner: '' }, 'owner'],
    ['operator', { public: true, owner }, 'owner: a public runbook belongs to no project'],
    ['operator', { steps: [] }, 'steps: a runbook needs at least one step'],
    ['operator', { steps: undefined }, 'steps'],
    ['operator', { name: 'with space' }, 'name: 1-255 letters'],
    ['operator', { traits: ['CUSTOM_X'] }, 'Unexpected arguments: traits'],
    ['operator', { colour: 'red' }, 'Unexpected arguments: colour'],
    ['operator', { description: 'x'.repeat(256) }, 'description'],
    ['operator', { steps: [{ interface: 'disk', step: 'x', order: 1 }] }, 'steps.0.interface'],
    ['operator', { steps: [{ interface: 'bios', step: '', order: 1 }] }, 'steps.0.step'],
    ['operator', { steps: [{ interface: 'bios', step: 'x' }] }, 'steps.0.order: must be a whole number'],
    ['operator', { steps: [{ interface: 'bios', step: 'x', order: -1 }] }, 'steps.0.order'],
    ['operator', { steps: [{ interface: 'bios', step: 'x', order: 1, priority: 2 }] }, 'steps.0'],
    ['operator', { steps: [{ interface: 'bios', step: 'x', order: 1, temper: { retries: 2 } }] }, 'steps.0.temper'],
    ['operator', { steps: [{ interface: 'vendor', step: 'send_raw', order: 1 }] }, 'switched off by the operator'],
  ] as const)('as %s with %j is refused, saying why', async (who, more, says) => {
    const refused = await create(who, more);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    ['operator', 201],
    ['system-member', 201],
    ['system-reader', 403],
    ['owner-admin', 201],
    ['owner-manager', 201],
    ['owner-member', 403],
    ['owner-reader', 403],
    ['lessee-manager', 201],
  ] as const)('as %s answers %i', async (who, status) => expect((await create(who)).status).toBe(status));

  test('as a project’s manager with public is refused by the rule of publishing', async () => {
    const refused = await create('owner-manager', { public: true });
    expect([refused.status, faultOf(refused)]).toEqual([
      403,
      expect.stringContaining('baremetal:runbook:update:public'),
    ]);
  });

  test('an owner of no letters is refused by a patch as well', async () => {
    await create('operator');
    const { status } = await patch('operator', [{ op: 'add', path: '/owner', value: '' }]);
    expect(status).toBe(400);
  });

  test('is refused before its body is looked at where the caller may not', async () => {
    expect((await api.as('owner-member', 'POST', '/v1/runbooks', { body: 'nonsense' })).status).toBe(403);
    expect((await api.as('operator', 'POST', '/v1/runbooks', { body: 'nonsense' })).status).toBe(400);
  });

  test('an owner of digits that a client sent as a number is a text', async () => {
    expect((await create('operator', { owner: 12345 })).body.owner).toBe('12345');
  });
});

describe('the steps of a new runbook', () => {
  test('steps are stored and listed by order, then place, and orders may be digits', async () => {
    const made = await create('operator', {
      steps: [
        { interface: 'management', step: 'reset_bmc', order: '10' },
        { interface: 'bios', step: 'factory_reset', order: 2 },
        { interface: 'management', step: 'set_indicator', order: 2, args: { state: 'on' } },
      ],
    });
    expect(made.body.steps.map((one: { step: string; order: number }) => [one.step, one.order])).toEqual([
      ['factory_reset', 2],
      ['set_indicator', 2],
      ['reset_bmc', 10],
    ]);
  });

  test('a reserved step may come twice with other settings of ours, which are kept', async () => {
    const wait = { interface: 'power', step: 'wait', order: 1, args: { seconds: 1 } };
    const made = await create('operator', { steps: [{ ...wait, temper: { timeout: 60 } }, wait] });
    expect(made.status).toBe(201);
    expect(made.body.steps).toEqual([{ ...wait, temper: { timeout: 60 } }, wait]);
  });

  test('a step that no driver has is taken: which driver will run it is not known yet', async () => {
    expect((await create('operator', { steps: [{ interface: 'raid', step: 'paint', order: 1 }] })).status).toBe(201);
  });

  test.each([
    ['name', { name: 'CUSTOM_RESET' }],
    ['uuid', { name: 'CUSTOM_B', uuid: '11111111-2222-3333-4444-555555555555' }],
  ])('a %s that exists is a conflict', async (field, more) => {
    await create('operator', { uuid: '11111111222233334444555555555555' });
    const refused = await create('operator', more);
    expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining(`A runbook with ${field}`)]);
  });

  test('leaves an audit row and an event without secrets', async () => {
    const { body } = await create('owner-manager', {
      steps: [{ interface: 'bios', step: 'x', order: 1, args: { password: 'hunter2' } }],
    });
    const [row] = await api.sql`select * from audit where resource_id = ${body.uuid}`;
    expect(row).toMatchObject({
      action: 'runbook.create',
      rule: 'baremetal:runbook:create',
      requester: { project_id: owner },
    });
    const [event] = await api.sql`select * from events where data ->> 'runbook_uuid' = ${body.uuid}`;
    expect(event).toMatchObject({ kind: 'runbook.created', project: owner });
    expect(JSON.stringify([row, event])).not.toContain('hunter2');
  });
});

describe('older versions', () => {
  test.each([
    ['GET', '/v1/runbooks', 91, 404],
    ['POST', '/v1/runbooks', 91, 405],
    ['GET', '/v1/runbooks/CUSTOM_RESET', 91, 404],
    ['PATCH', '/v1/runbooks/CUSTOM_RESET', 91, 405],
    ['DELETE', '/v1/runbooks/CUSTOM_RESET', 91, 405],
    ['GET', '/v1/runbooks/CUSTOM_RESET/traits', 111, 404],
    ['PUT', '/v1/runbooks/CUSTOM_RESET/traits', 111, 404],
    ['PUT', '/v1/runbooks/CUSTOM_RESET/traits/CUSTOM_X', 111, 404],
    ['DELETE', '/v1/runbooks/CUSTOM_RESET/traits', 111, 404],
    ['GET', '/v1/runbooks', 92, 200],
    ['GET', '/v1/runbooks/CUSTOM_RESET/traits', 112, 200],
  ] as const)('%s %s at 1.%i answers %i', async (method, path, minor, status) => {
    await stored();
    expect((await api.as('operator', method, path, { minor })).status).toBe(status);
  });

  test('below 1.112 a name is a trait, and becomes the first trait of the runbook', async () => {
    expect((await create('operator', { name: 'reset' }, { minor: 111 })).status).toBe(400);
    expect((await create('operator', { name: 'reset' }, { minor: 112 })).status).toBe(201);
    const made = await create('operator', {}, { minor: 92 });
    expect(made.body).not.toHaveProperty('traits');
    expect(made.body).not.toHaveProperty('description');
    expect((await show('operator')).body.traits).toEqual(['CUSTOM_RESET']);
    expect((await show('operator', 'reset')).body.traits).toEqual([]);
  });

  test.each(['description', 'traits'])('fields=%s is unknown below 1.112', async (name) => {
    await stored();
    expect((await show('operator', `CUSTOM_RESET?fields=${name}`, { minor: 111 })).status).toBe(400);
    expect((await show('operator', `CUSTOM_RESET?fields=${name}`, { minor: 112 })).status).toBe(200);
  });

  test('a description is unknown below 1.112, made or patched', async () => {
    expect((await create('operator', { description: 'x' }, { minor: 111 })).status).toBe(400);
    await stored();
    const op = [{ op: 'add', path: '/description', value: 'x' }];
    expect((await patch('operator', op, { minor: 111 })).status).toBe(400);
    expect((await patch('operator', op, { minor: 112 })).body.description).toBe('x');
  });

  test('a patch takes a free name at every version', async () => {
    await stored();
    expect((await patch('operator', [{ op: 'replace', path: '/name', value: 'reset' }], { minor: 92 })).status).toBe(
      200,
    );
  });
});

describe('seeing runbooks', () => {
  beforeEach(async () => {
    await stored({ name: 'MINE', owner });
    await stored({ name: 'THEIRS', owner: stranger });
    await stored({ name: 'PUBLIC', public: true });
    await stored({ name: 'PRIVATE' });
  });

  test.each([
    ['operator', ['MINE', 'THEIRS', 'PUBLIC', 'PRIVATE']],
    ['system-reader', ['MINE', 'THEIRS', 'PUBLIC', 'PRIVATE']],
    ['owner-manager', ['MINE', 'PUBLIC']],
    ['owner-reader', ['MINE', 'PUBLIC']],
    ['lessee-member', ['PUBLIC']],
    ['stranger-admin', ['THEIRS', 'PUBLIC']],
  ] as const)('%s lists %j and sees exactly these', async (who, names) => {
    const list = await api.as(who, 'GET', '/v1/runbooks');
    expect(list.body.runbooks.map((one: { name: string }) => one.name)).toEqual(names);
    for (const name of ['MINE', 'THEIRS', 'PUBLIC', 'PRIVATE'])
      expect([name, (await show(who, name)).status]).toEqual([
        name,
        (names as readonly string[]).includes(name) ? 200 : 404,
      ]);
  });

  test('a hidden runbook and a missing one give the same answer, whatever is asked', async () => {
    for (const [method, suffix, body] of [
      ['GET', '', undefined],
      ['GET', '/traits', undefined],
      ['PUT', '/traits', { traits: [] }],
      ['DELETE', '/traits/CUSTOM_X', undefined],
      ['PATCH', '', [{ op: 'add', path: '/public', value: true }]],
      ['DELETE', '', undefined],
    ] as const) {
      const hidden = await api.as('owner-admin', method, `/v1/runbooks/THEIRS${suffix}`, { body });
      const missing = await api.as('owner-admin', method, `/v1/runbooks/NONE${suffix}`, { body });
      expect([method, hidden.status, faultOf(hidden).replace('THEIRS', 'NONE')]).toEqual([
        method,
        missing.status,
        faultOf(missing),
      ]);
      expect(missing.status).toBe(404);
    }
  });

  test('a list shows uuid, name and links, and everything with detail', async () => {
    const [short] = (await api.as('operator', 'GET', '/v1/runbooks?limit=1')).body.runbooks;
    expect(Object.keys(short)).toEqual(['uuid', 'name', 'links']);
    const [long] = (await api.as('operator', 'GET', '/v1/runbooks/?limit=1&detail=True')).body.runbooks;
    expect(Object.keys(long)).toEqual(Object.keys((await show('operator', 'MINE')).body));
    const [chosen] = (await api.as('operator', 'GET', '/v1/runbooks?fields=owner,public&limit=1')).body.runbooks;
    expect(Object.keys(chosen).sort()).toEqual(['links', 'owner', 'public']);
  });

  test('a project is a filter: any for the system, only one’s own for a project', async () => {
    const named = async (who: Persona, project: string) => {
      const reply = await api.as(who, 'GET', `/v1/runbooks?project=${project}`);
      return [reply.status, reply.body.runbooks?.map((one: { name: string }) => one.name)];
    };
    expect(await named('operator', stranger)).toEqual([200, ['THEIRS']]);
    expect(await named('owner-reader', owner)).toEqual([200, ['MINE']]);
    expect(await named('owner-reader', stranger)).toEqual([403, undefined]);
  });

  test('pages follow each other by their next link, in the order asked for', async () => {
    let path: string | undefined = '/v1/runbooks?limit=3&sort_key=name&sort_dir=desc';
    const seen: string[] = [];
    while (path) {
      const { body }: { body: { runbooks: { name: string }[]; next?: string } } = await api.as('operator', 'GET', path);
      seen.push(...body.runbooks.map((one) => one.name));
      path = body.next?.replace(api.url, '');
    }
    expect(seen).toEqual(['THEIRS', 'PUBLIC', 'PRIVATE', 'MINE']);
  });

  test.each([
    ['sort_key=steps', 400],
    ['sort_key=traits', 400],
    ['sort_key=nonsense', 400],
    ['sort_dir=up', 400],
    ['limit=0', 400],
    ['marker=NONE', 404],
    ['marker=11111111-2222-3333-4444-555555555555', 404],
    ['fields=colour', 400],
    ['fields=name&detail=True', 400],
    ['colour=red', 400],
  ])('a list with %s answers %i', async (query, status) =>
    expect((await api.as('operator', 'GET', `/v1/runbooks?${query}`)).status).toBe(status),
  );

  test('a marker that is hidden from the caller is not found', async () => {
    const { uuid } = (await show('operator', 'THEIRS')).body;
    expect((await api.as('owner-reader', 'GET', `/v1/runbooks?marker=${uuid}`)).status).toBe(404);
  });

  test('an identifier that can be no name is refused', async () =>
    expect((await show('operator', 'with%20space')).status).toBe(400));
});

describe('changing a runbook', () => {
  const setPublic = [{ op: 'add', path: '/public', value: 'True' }];
  const setOwner = [{ op: 'add', path: '/owner', value: owner }];
  const setExtra = [{ op: 'add', path: '/extra/a', value: 1 }];

  test.each([
    // who              what                 status
    ['operator', setPublic, 200],
    ['system-member', setPublic, 200],
    ['system-reader', setPublic, 403],
    ['owner-admin', setPublic, 403],
    ['owner-manager', setPublic, 403],
    ['operator', setOwner, 200],
    ['owner-manager', setOwner, 403],
    ['operator', setExtra, 200],
    ['owner-manager', setExtra, 200],
    ['owner-admin', setExtra, 200],
    ['owner-member', setExtra, 403],
    ['owner-reader', setExtra, 403],
    ['stranger-admin', setExtra, 404],
    ['lessee-admin', setExtra, 404],
    ['owner-manager', [...setExtra, ...setOwner], 403],
    ['owner-manager', [], 200],
    ['owner-reader', [], 403],
  ] as const)('of a project as %s by %j answers %i', async (who, ops, status) => {
    await stored({ owner });
    expect((await patch(who, ops)).status).toBe(status);
  });

  test('a public runbook is seen by a project and changed by none', async () => {
    await stored({ public: true });
    expect((await patch('owner-manager', setExtra)).status).toBe(403);
    expect((await api.as('owner-manager', 'DELETE', '/v1/runbooks/CUSTOM_RESET')).status).toBe(403);
    expect((await api.as('owner-manager', 'PUT', '/v1/runbooks/CUSTOM_RESET/traits/CUSTOM_X')).status).toBe(403);
  });

  test.each([
    // stored                    patch                                                              result
    [{ owner }, setPublic, { public: true, owner: null }],
    [{ owner }, [{ op: 'add', path: '/public', value: false }], { public: false, owner: null }],
    [{ public: true }, [{ op: 'remove', path: '/public' }], { public: false, owner: null }],
    [
      { public: true },
      [
        { op: 'remove', path: '/owner' },
        { op: 'remove', path: '/public' },
      ],
      { public: false, owner: null },
    ],
    [
      { public: true },
      [
        { op: 'add', path: '/owner', value: owner },
        { op: 'add', path: '/public', value: 'False' },
      ],
      { public: false, owner },
    ],
    [{ owner: stranger }, setOwner, { public: false, owner }],
    [{ owner }, [{ op: 'remove', path: '/owner' }], { public: false, owner: null }],
    [{}, [{ op: 'add', path: '/owner', value: 12345 }], { owner: '12345' }],
    [{ owner }, [{ op: 'remove', path: '/public' }], { public: false, owner }],
  ] as const)('a runbook that was %j becomes, by %j, %j', async (before, ops, after) => {
    await stored(before);
    const changed = await patch('operator', ops);
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining(after)]);
    expect((await show('operator')).body).toMatchObject(after);
  });

  test.each([
    [{ public: true }, setOwner, 'a public runbook belongs to no project'],
    [{ public: true }, [{ op: 'remove', path: '/owner' }], 'a public runbook belongs to no project'],
    [{}, [...setOwner, ...setPublic], 'a public runbook belongs to no project'],
    [{}, [{ op: 'add', path: '/public', value: 'perhaps' }], 'public: must be true or false'],
    [{}, [{ op: 'add', path: '/traits', value: ['CUSTOM_X'] }], 'traits cannot be changed'],
    [{}, [{ op: 'replace', path: '/uuid', value: 'x' }], 'uuid cannot be changed'],
    [{}, [{ op: 'remove', path: '/name' }], 'name is required'],
    [{}, [{ op: 'remove', path: '/steps' }], 'steps is required'],
    [{}, [{ op: 'remove', path: '/steps/0' }], 'a runbook needs at least one step'],
    [{}, [{ op: 'remove', path: '/extra/none' }], '/extra/none does not exist'],
    [{}, [{ op: 'add', path: '/steps/0/args', value: 'text' }], 'steps.0.args'],
    [{}, [{ op: 'replace', path: '/name', value: 'with space' }], 'name: 1-255'],
  ] as const)('a runbook that is %j is not changed by %j', async (before, ops, says) => {
    await stored(before);
    const refused = await patch('operator', ops);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
    expect((await show('operator')).body).toMatchObject({ owner: null, public: false, ...before, updated_at: null });
  });

  test('a name that another runbook has is a conflict, and nothing changes', async () => {
    await stored();
    await stored({ name: 'OTHER' });
    expect((await patch('operator', [{ op: 'replace', path: '/name', value: 'OTHER' }])).status).toBe(409);
    expect((await show('operator')).status).toBe(200);
  });

  test('steps that are added in a patch find their place by order', async () => {
    await stored();
    const step = { interface: 'management', step: 'reset_bmc', order: 0, args: {} };
    const { body } = await patch('operator', [{ op: 'add', path: '/steps/-', value: step }]);
    expect(body.steps.map((one: { step: string }) => one.step)).toEqual(['reset_bmc', 'factory_reset']);
  });

  test('a deleted runbook is gone, by its owners only', async () => {
    await stored({ owner });
    expect((await api.as('owner-member', 'DELETE', '/v1/runbooks/CUSTOM_RESET')).status).toBe(403);
    const gone = await api.as('owner-manager', 'DELETE', '/v1/runbooks/CUSTOM_RESET');
    expect([gone.status, gone.text, gone.headers.get('content-type')]).toEqual([204, '', null]);
    expect((await show('operator')).status).toBe(404);
  });
});

describe('secrets in steps', () => {
  const secretStep = (password: string, more: object = {}) => ({
    interface: 'bios',
    step: 'apply_configuration',
    order: 1,
    args: { settings: [{ name: 'AdminPassword', value: password }], token: 't0ken', ...more },
  });
  const secretIds = async (): Promise<string[]> =>
    (await api.sql<{ id: string }[]>`select id from secrets where holder = 'runbook' order by id`).map((row) => row.id);

  test('are not shown and lie in no document', async () => {
    const made = await create('operator', { steps: [secretStep('hunter2')] });
    expect(made.body.steps[0].args).toEqual({
      settings: [{ name: 'AdminPassword', value: '******' }],
      token: '******',
    });
    const [row] = await api.sql`select steps::text as text from runbooks`;
    expect(row!.text).not.toMatch(/hunter2|t0ken/);
    expect(await secretIds()).toHaveLength(2);
  });

  test('that come back masked stay what they were, wherever the step has moved', async () => {
    await create('operator', { steps: [secretStep('hunter2')] });
    const before = await secretIds();
    const [step] = (await show('operator')).body.steps;
    const other = { interface: 'management', step: 'reset_bmc', order: 0, args: {} };
    const changed = await patch('operator', [{ op: 'add', path: '/steps', value: [{ ...step, order: 5 }, other] }]);
    expect(changed.status).toBe(200);
    expect(changed.body.steps[1].args).toEqual(step.args);
    expect(await secretIds()).toEqual(before);
  });

  test('of one step twice keep to the step that shows their arguments, and to none if that leaves a doubt', async () => {
    const two = ['one', 'two'].map((user) => secretStep(user, { user }));
    await create('operator', { steps: two });
    const refs = async (): Promise<unknown[]> => {
      const [row] = await api.sql<{ steps: { args: { token: unknown } }[] }[]>`select steps from runbooks`;
      return row!.steps.map(({ args }) => args.token);
    };
    const [first, second] = await refs();
    const [one, other] = (await show('operator')).body.steps;
    await patch('operator', [{ op: 'replace', path: '/steps', value: [other, one] }]);
    expect(await refs()).toEqual([second, first]);
    await patch('operator', [{ op: 'replace', path: '/steps/1/args/user', value: 'three' }]);
    expect(await refs()).toEqual([second, first]);
    await patch('operator', [{ op: 'remove', path: '/steps/0' }]);
    expect(await refs()).toEqual([first]);

    await patch('operator', [{ op: 'replace', path: '/steps', value: [secretStep('x'), secretStep('y')] }]);
    const alike = (await show('operator')).body.steps;
    for (const value of [alike.slice(1), [...alike, alike[0]]]) {
      const refused = await patch('operator', [{ op: 'replace', path: '/steps', value }]);
      expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('send the value itself')]);
    }
    const [, kept] = await refs();
    await patch('operator', [{ op: 'remove', path: '/steps/0' }]);
    expect(await refs()).toEqual([kept]);
  });

  test('of items without a name keep to the item that shows the same, and to none if that leaves a doubt', async () => {
    const item = (user: string, password: string) => ({ user, password });
    const users = [item('a', 'one'), item('b', 'two')];
    await create('operator', { steps: [{ ...secretStep('x'), args: { users } }] });
    const refs = async (): Promise<unknown[]> => {
      const [row] = await api.sql<
        { args: { password: unknown }[] }[]
      >`select steps -> 0 -> 'args' -> 'users' as args from runbooks`;
      return row!.args.map(({ password }) => password);
    };
    const give = (value: object) =>
      patch('operator', [{ op: 'replace', path: '/steps/0/args', value: { users: value } }]);
    const [first, second] = await refs();
    expect((await give([item('b', '******'), item('a', '******')])).status).toBe(200);
    expect(await refs()).toEqual([second, first]);
    expect((await give([item('c', '******'), item('a', '******'), item('d', 'four')])).status).toBe(200);
    expect((await refs()).slice(0, 2)).toEqual([second, first]);
    expect((await give([item('a', '******')])).status).toBe(200);
    expect(await refs()).toEqual([first]);
    await give([item('a', 'one'), item('b', 'two')]);
    const refused = await give([item('z', '******')]);
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('send the value itself')]);
  });

  test('that are replaced or left out are deleted', async () => {
    await create('operator', { steps: [secretStep('hunter2')] });
    const before = await secretIds();
    await patch('operator', [{ op: 'replace', path: '/steps/0/args/token', value: 'new' }]);
    const after = await secretIds();
    expect(after).toHaveLength(2);
    expect(after).not.toEqual(before);
    await patch('operator', [{ op: 'remove', path: '/steps/0/args/token' }]);
    expect(await secretIds()).toHaveLength(1);
    await api.as('operator', 'DELETE', '/v1/runbooks/CUSTOM_RESET');
    expect(await secretIds()).toEqual([]);
  });

  test('cannot be carried to another step, nor stand for nothing', async () => {
    await create('operator', { steps: [secretStep('hunter2')] });
    expect((await patch('operator', [{ op: 'replace', path: '/steps/0/step', value: 'other' }])).status).toBe(400);
    const refused = await create('operator', { name: 'CUSTOM_B', steps: [secretStep('******')] });
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('means a stored secret')]);
  });

  test('of another runbook cannot be referred to', async () => {
    await create('operator', { steps: [secretStep('hunter2')] });
    const [id] = await secretIds();
    const stolen = [{ interface: 'bios', step: 'x', order: 1, args: { value: { $secret: id } } }];
    expect((await create('owner-manager', { name: 'CUSTOM_B', steps: stolen })).status).toBe(400);
    await create('owner-manager', { name: 'CUSTOM_C' });
    const path = { op: 'add', path: '/steps', value: stolen };
    expect((await patch('owner-manager', [path], {}, 'CUSTOM_C')).status).toBe(400);
    const assembled = [
      { op: 'add', path: '/steps/0/args/value', value: { $secret: id, also: 1 } },
      { op: 'remove', path: '/steps/0/args/value/also' },
    ];
    expect((await patch('owner-manager', assembled, {}, 'CUSTOM_C')).status).toBe(400);
  });

  test('of a patch do not reach the audit trail', async () => {
    await create('operator', { steps: [secretStep('hunter2')] });
    await patch('operator', [{ op: 'replace', path: '/steps/0/args/token', value: 'n3w' }]);
    const rows = await api.sql`select * from audit where action = 'runbook.update'`;
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/n3w|hunter2/);
  });
});

describe('traits of a runbook', () => {
  const traits = async (who: Persona = 'operator') =>
    (await api.as(who, 'GET', '/v1/runbooks/CUSTOM_RESET/traits')).body.traits;
  const put = (who: Persona, suffix: string, body?: unknown) =>
    api.as(who, 'PUT', `/v1/runbooks/CUSTOM_RESET/traits${suffix}`, { body });

  test('are added one by one, replaced as a whole, and removed', async () => {
    await stored();
    const added = await put('operator', '/CUSTOM_A');
    expect([added.status, added.headers.get('location')]).toEqual([
      204,
      `${api.url}/v1/runbooks/CUSTOM_RESET/traits/CUSTOM_A`,
    ]);
    expect((await put('operator', '/CUSTOM_A')).status).toBe(204);
    expect(await traits()).toEqual(['CUSTOM_A']);
    expect((await put('operator', '', { traits: ['CUSTOM_B', 'HW_CPU_X86_VMX'] })).status).toBe(204);
    expect(await traits()).toEqual(['CUSTOM_B', 'HW_CPU_X86_VMX']);
    for (const path of ['/CUSTOM_B', '/CUSTOM_NONE'])
      expect((await api.as('operator', 'DELETE', `/v1/runbooks/CUSTOM_RESET/traits${path}`)).status).toBe(204);
    expect(await traits()).toEqual(['HW_CPU_X86_VMX']);
    expect((await api.as('operator', 'DELETE', '/v1/runbooks/CUSTOM_RESET/traits')).status).toBe(204);
    expect(await traits()).toEqual([]);
  });

  test.each([
    ['/custom_a', undefined],
    ['/VENDOR_A', undefined],
    [`/CUSTOM_${'A'.repeat(249)}`, undefined],
    ['/CUSTOM_A', { traits: ['CUSTOM_A'] }],
    ['', { traits: ['nonsense'] }],
    ['', { traits: 'CUSTOM_A' }],
    ['', {}],
    ['', { traits: Array.from({ length: 51 }, (_, index) => `CUSTOM_${index}`) }],
  ])('PUT %s with %j is refused', async (suffix, body) => {
    await stored();
    expect((await put('operator', suffix, body)).status).toBe(400);
    expect(await traits()).toEqual([]);
  });

  test.each([
    ['owner-manager', 200, 204],
    ['owner-reader', 200, 403],
    ['system-reader', 200, 403],
    ['stranger-admin', 404, 404],
  ] as const)('of a project’s runbook: %s reads with %i and writes with %i', async (who, reads, writes) => {
    await stored({ owner });
    expect((await api.as(who, 'GET', '/v1/runbooks/CUSTOM_RESET/traits')).status).toBe(reads);
    expect((await put(who, '/CUSTOM_A')).status).toBe(writes);
    expect((await api.as(who, 'DELETE', '/v1/runbooks/CUSTOM_RESET/traits/CUSTOM_A')).status).toBe(writes);
  });
});

describe('a rule for one step', () => {
  const rule = { 'baremetal:step:execute:bios.factory_reset': 'role:admin and system_scope:all' };
  beforeEach(() => api.setPolicy({ set: 'temper', overrides: rule }));
  afterEach(() => api.setPolicy({ set: 'temper' }));

  test('decides who may put the step into a runbook', async () => {
    const refused = await create('owner-manager');
    expect([refused.status, faultOf(refused)]).toEqual([403, expect.stringContaining(Object.keys(rule)[0]!)]);
    expect((await create('operator')).status).toBe(201);
    const other = [{ interface: 'management', step: 'set_boot_device', order: 1 }];
    expect((await create('owner-manager', { name: 'CUSTOM_B', steps: other })).status).toBe(201);
    expect((await patch('owner-manager', [{ op: 'add', path: '/steps', value: steps }], {}, 'CUSTOM_B')).status).toBe(
      403,
    );
    expect((await patch('owner-manager', [{ op: 'add', path: '/extra/a', value: 1 }], {}, 'CUSTOM_B')).status).toBe(
      200,
    );
  });
});

describe('the reference’s own rules', () => {
  beforeEach(() => api.setPolicy({ set: 'ironic' }));
  afterEach(() => api.setPolicy({ set: 'temper' }));

  test('show a public runbook and its traits to every caller, as far as a file leaves the rule as it is', async () => {
    await stored({ public: true });
    const paths = ['/v1/runbooks/CUSTOM_RESET', '/v1/runbooks/CUSTOM_RESET/traits'];
    const asked = (who: 'lessee-reader' | 'system-reader') =>
      Promise.all(paths.map(async (path) => (await api.as(who, 'GET', path)).status));
    expect(await asked('lessee-reader')).toEqual([200, 200]);
    api.setPolicy({ set: 'ironic', overrides: { 'baremetal:runbook:get': 'role:reader and system_scope:all' } });
    expect(await asked('lessee-reader')).toEqual([404, 404]);
    expect(await asked('system-reader')).toEqual([200, 200]);
  });

  test('hide a runbook of another project as if it were missing', async () => {
    await stored({ owner: stranger });
    expect((await show('owner-admin')).status).toBe(404);
    expect((await show('stranger-admin')).status).toBe(200);
  });
});
