/** Parameters of runbooks: who declares them, what is refused, and what a run is given, shows and keeps. */
import type { NodeUuid } from '../../src/model/ids';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { owner, type Persona, stranger } from '../support/world';

const secret = 'correct-horse';
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { operatorTraitPrefix: 'CUSTOM_OP_' } });
  await api.sql`insert into workers (hostname, conductor_group, drivers, role) values ('w', '', ${['redfish']}, 'bmc')`;
});
afterAll(() => api?.close());
beforeEach(async () => {
  api.runs.started.length = 0;
  for (const table of ['runbooks', 'runbook_traits', 'nodes']) await api.sql`delete from ${api.sql(table)}`;
  await api.sql<{ uuid: NodeUuid }[]>`
    insert into nodes (name, driver, provision_state, owner, traits, resource_class, driver_info, properties)
    values ('n', 'redfish', 'manageable', ${owner}, ${['CUSTOM_FIT']}, 'gold',
      ${api.sql.json({ redfish_address: 'https://192.0.2.7' })}, ${api.sql.json({ vendor: 'Dell Inc.', model: 'R760' })})`;
});

const settings = (value: unknown, name = 'Boot') => ({
  interface: 'bios',
  step: 'apply_configuration',
  order: 1,
  args: { settings: [{ name, value }] },
});
const byVendor = { $by: 'vendor', 'dell inc.': { $param: 'mode' }, default: 'Bios' };
const mode = { name: 'mode', schema: { type: 'string', enum: ['Uefi', 'Bios'] } };

const create = async (value: unknown, more: object = {}): Promise<void> => {
  const body = { name: 'BOOK', owner, steps: [settings(value)], ...more };
  expect((await api.as('operator', 'POST', '/v1/runbooks', { body })).status).toBe(201);
  expect((await api.as('operator', 'PUT', '/v1/runbooks/BOOK/traits/CUSTOM_FIT')).status).toBe(204);
};
const declare = (who: Persona, parameters: readonly object[]) =>
  api.as(who, 'PUT', '/temper/v1/runbooks/BOOK/parameters', { body: { parameters } });
const run = (parameters?: object, who: Persona = 'owner-manager') =>
  api.as(who, 'PUT', '/v1/nodes/n/states/provision', {
    body: { target: 'clean', runbook: 'BOOK', ...(parameters && { temper: { parameters } }) },
  });
const plan = (parameters?: object) =>
  api.as('owner-manager', 'POST', '/temper/v1/nodes/n/plan', {
    body: { runbook: 'BOOK', ...(parameters && { temper: { parameters } }) },
  });
const settingOf = (args: unknown) => (args as { settings: { value: unknown }[] }).settings[0]!.value;

describe('declaring', () => {
  beforeEach(() => create(byVendor));

  test.each([
    ['owner-manager', 200],
    ['operator', 200],
    ['owner-member', 403],
    ['stranger-admin', 404],
    ['lessee-manager', 404],
  ] as const)('%s: %s', async (who, status) => {
    expect((await declare(who, [mode])).status).toBe(status);
  });

  test('makes a revision, with its author, another digest and a difference', async () => {
    const digest = async (revision: number) =>
      (await api.as('operator', 'GET', `/temper/v1/runbooks/BOOK/revisions/${revision}`)).body.digest;
    const before = await digest(2);
    expect((await declare('owner-manager', [mode])).body).toEqual({ revision: 3, parameters: [mode] });
    expect((await declare('owner-manager', [mode])).body.revision).toBe(3);
    expect((await api.as('owner-reader', 'GET', '/temper/v1/runbooks/BOOK/parameters')).body.parameters).toEqual([
      mode,
    ]);
    expect(await digest(3)).not.toBe(before);
    const { body } = await api.as('owner-manager', 'GET', '/temper/v1/runbooks/BOOK/revisions/3/diff');
    expect(body.patch).toEqual([{ op: 'add', path: '/parameters/-', value: mode }]);
    const revision = (await api.as('operator', 'GET', '/temper/v1/runbooks/BOOK/revisions/3')).body;
    expect(revision).toMatchObject({ parameters: [mode], author: { project_id: owner } });
  });

  test('a digest without parameters is what it was before there were any', async () => {
    const [row] = await api.sql`
      select digest = encode(sha256(convert_to(jsonb_build_object('name', name, 'owner', owner, 'public', public, 'traits', traits,
        'disable_ramdisk', disable_ramdisk, 'steps', (select steps from runbooks where uuid = runbook_uuid))::text, 'UTF8')), 'hex') as same
      from runbook_revisions where revision = 2 and runbook_uuid = (select uuid from runbooks where name = 'BOOK')`;
    expect(row).toEqual({ same: true });
  });

  test('what an operator approved by its trait is not changed by the project', async () => {
    expect((await api.as('operator', 'PUT', '/v1/runbooks/BOOK/traits/CUSTOM_OP_YES')).status).toBe(204);
    const reply = await declare('owner-manager', [mode]);
    expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining('temper:runbook:operator_traits')]);
    expect((await declare('operator', [mode])).status).toBe(200);
  });

  test.each([
    ['a name that is none', [{ name: 'Mode', schema: {} }], 'parameters.0.name'],
    ['a name that objects inherit', [{ name: '__proto__', schema: {} }], 'parameters.0.name'],
    ['one that is there twice', [mode, mode], 'mode is there twice'],
    ['a keyword that is not known', [{ name: 'a', schema: { pattern: 'x' } }], 'keyword pattern is not known'],
    ['a default of another type', [{ ...mode, default: 3 }], 'parameters.0.default'],
    ['a default with a reference', [{ name: 'a', schema: {}, default: { $secret: 'x' } }], 'key that begins with $'],
    ['a default that is secret', [{ name: 'a', schema: {}, secret: true, default: 'x' }], 'has no default'],
    ['an unknown key', [{ ...mode, type: 'string' }], 'type'],
    ['too many', Array.from({ length: 51 }, (_, at) => ({ name: `p${at}`, schema: {} })), 'at most 50'],
  ])('%s is refused', async (_, parameters, text) => {
    const reply = await declare('owner-manager', parameters);
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toContain(text);
  });

  test('the original’s wire keeps its shape, and says nothing of parameters', async () => {
    const before = Object.keys((await api.as('operator', 'GET', '/v1/runbooks/BOOK')).body);
    await declare('owner-manager', [mode]);
    const { body } = await api.as('operator', 'GET', '/v1/runbooks/BOOK');
    expect(Object.keys(body)).toEqual(before);
    expect(settingOf(body.steps[0].args)).toEqual(byVendor);
  });
});

describe('a run', () => {
  beforeEach(async () => {
    await create(byVendor);
    await declare('owner-manager', [mode]);
  });

  test('is given the value, which is in its steps and shown in its plan', async () => {
    const planned = (await plan({ mode: 'Uefi' })).body;
    expect(planned).toMatchObject({ would_run: true, parameters: { mode: 'Uefi' } });
    expect(settingOf(planned.steps[0].args)).toBe('Uefi');
    expect((await run({ mode: 'Uefi' })).status).toBe(202);
    const [order] = api.runs.started;
    expect(order).toMatchObject({ parameters: { mode: 'Uefi' } });
    expect(settingOf(order!.steps[0]!.args)).toBe('Uefi');
  });

  test.each([
    ['none', undefined, 'Parameter mode of runbook BOOK is missing, and has no default'],
    ['one of a wrong type', { mode: 3 }, 'mode of runbook BOOK must be of type string'],
    ['one that is not allowed', { mode: 'Grub' }, 'must be one of "Uefi","Bios"'],
    ['one that is not declared', { mode: 'Uefi', more: 1 }, 'more of runbook BOOK is not one'],
    [
      'a reference to a stored secret',
      { mode: { $secret: '00000000-0000-4000-8000-000000000000' } },
      'key that begins with $',
    ],
  ])('with %s is refused, and the plan says the same', async (_, parameters, text) => {
    const reply = await run(parameters);
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toContain(text);
    expect((await plan(parameters)).body.refusals[0]).toMatchObject({ code: 'parameter', reason: faultOf(reply) });
    expect(api.runs.started).toEqual([]);
  });

  test('by the original’s own request runs with defaults', async () => {
    await declare('owner-manager', [{ ...mode, default: 'Bios' }]);
    expect((await run()).status).toBe(202);
    expect(settingOf(api.runs.started[0]!.steps[0]!.args)).toBe('Bios');
  });

  test('on a node of another vendor has the value that follows from that', async () => {
    await api.sql`update nodes set properties = '{"vendor": "ACME"}'`;
    await run({ mode: 'Uefi' });
    expect(settingOf(api.runs.started[0]!.steps[0]!.args)).toBe('Bios');
  });

  test('the step’s own form is held against the value', async () => {
    await create2();
    const reply = await run({ seconds: 'many' });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('Step power.wait')]);
    expect((await run({ seconds: 5 })).status).toBe(202);
  });
  const create2 = async (): Promise<void> => {
    const wait = { interface: 'power', step: 'wait', order: 1, args: { seconds: { $param: 'seconds' } } };
    const body = [{ op: 'replace', path: '/steps', value: [wait] }];
    expect((await api.as('operator', 'PATCH', '/v1/runbooks/BOOK', { body })).status).toBe(200);
    await declare('owner-manager', [{ name: 'seconds', schema: {} }]);
  };

  test('values without a runbook, and open arguments in a caller’s own steps, are refused', async () => {
    const provision = (body: object) => api.as('owner-manager', 'PUT', '/v1/nodes/n/states/provision', { body });
    const own = { target: 'clean', clean_steps: [{ ...settings({ $param: 'mode' }), order: undefined }] };
    expect(faultOf(await provision(own))).toContain('$param and $by stand in runbooks only');
    const without = { target: 'provide', temper: { parameters: { mode: 'Uefi' } } };
    expect(faultOf(await provision(without))).toContain('temper.parameters: are those of a runbook');
  });

  test('a value that is used often is refused before it is copied: by a run, by its plan and by a check', async () => {
    const bulk = Array.from({ length: 500 }, (_, at) => ({ name: `Setting${at}`, value: { $param: 'mode' } }));
    const body = [{ op: 'replace', path: '/steps', value: [{ ...settings('a'), args: { settings: bulk } }] }];
    expect((await api.as('operator', 'PATCH', '/v1/runbooks/BOOK', { body })).status).toBe(200);
    const large = { name: 'mode', schema: {}, default: 'x'.repeat(60_000) };
    expect((await declare('owner-manager', [large])).status).toBe(200);
    const says = expect.stringContaining('come to more bytes than a run carries, at most 65536');
    const reply = await run();
    expect([reply.status, faultOf(reply)]).toEqual([400, says]);
    expect((await plan()).body.refusals).toContainEqual(expect.objectContaining({ reason: says }));
    const check = await api.as('owner-manager', 'POST', '/temper/v1/runbooks/BOOK/check', { body: { nodes: ['n'] } });
    expect(check.body.findings).toContainEqual(expect.objectContaining({ severity: 'error', says }));
    const larger = await declare('owner-manager', [{ ...large, default: 'x'.repeat(66_000) }]);
    expect([larger.status, faultOf(larger)]).toEqual([400, expect.stringContaining('a run carries at most 65536')]);
  });

  test('preflight resolves on the named nodes', async () => {
    const check = (parameters: object) =>
      api.as('owner-manager', 'POST', '/temper/v1/runbooks/BOOK/check', {
        body: { nodes: ['n'], verb: 'clean', parameters },
      });
    expect((await check({})).body.findings).toMatchObject([
      { severity: 'error', node: 'n', says: expect.stringContaining('mode') },
    ]);
    expect((await check({ mode: 'Uefi' })).body.errors).toBe(0);
  });

  test('preflight of one that is not stored knows the parameters that it declares', async () => {
    const check = (declared: readonly object[], parameters: object) =>
      api.as('owner-manager', 'POST', '/temper/v1/runbooks/check', {
        body: { steps: [settings({ $param: 'mode' })], nodes: ['n'], verb: 'clean', declared, parameters },
      });
    expect((await check([mode], { mode: 'Uefi' })).body).toMatchObject({ errors: 0 });
    expect((await check([mode], {})).body.findings).toMatchObject([
      { severity: 'error', node: 'n', says: expect.stringContaining('mode') },
    ]);
    expect((await check([], { mode: 'Uefi' })).body.errors).toBeGreaterThan(0);
    const twice = await check([mode, mode], {});
    expect([twice.status, faultOf(twice)]).toEqual([400, expect.stringContaining('mode is there twice')]);
  });
});

describe('secrets', () => {
  test('a value in the place of a secret is sealed with the run, and shown nowhere', async () => {
    await create({ $param: 'word' });
    const body = [{ op: 'replace', path: '/steps', value: [settings({ $param: 'word' }, 'AdminPassword')] }];
    const patched = await api.as('operator', 'PATCH', '/v1/runbooks/BOOK', { body });
    expect(settingOf(patched.body.steps[0].args)).toEqual({ $param: 'word' });
    await declare('owner-manager', [{ name: 'word', schema: { type: 'string' } }]);
    const planned = await plan({ word: secret });
    expect(planned.text).not.toContain(secret);
    expect(planned.body.parameters).toEqual({ word: '******' });
    expect((await run({ word: secret })).status).toBe(202);
    expect(api.runs.started[0]!.parameters).toEqual({ word: '******' });
    const audit = await api.sql`select data from audit where data::text like ${`%${secret}%`}`;
    expect(audit).toHaveLength(0);
  });

  test('a choice of secrets is refused as it is written', async () => {
    const steps = [settings({ $by: 'vendor', default: 'x' }, 'AdminPassword')];
    const reply = await api.as('operator', 'POST', '/v1/runbooks', { body: { name: 'BOOK', steps } });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('a secret cannot be chosen by $by')]);
  });
});

test('a stranger learns nothing of the parameters of a private runbook', async () => {
  await create('x', { owner: stranger });
  expect((await api.as('owner-admin', 'GET', '/temper/v1/runbooks/BOOK/parameters')).status).toBe(404);
});
