/** Deploy templates: what a template may hold, where its secrets are, and the deployments that it joins. */
import { faultOf, type Request } from '../support/api';
import { image, type Provisioning, startProvisioning } from '../support/provisioning';
import type { Persona } from '../support/world';

let at: Provisioning;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());
beforeEach(async () => {
  await at.api.sql`delete from deploy_templates`;
  at.api.setPolicy({ set: 'temper' });
});

const path = '/v1/deploy_templates';
const settings = [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }];
const update = { interface: 'firmware', step: 'update', args: { settings }, priority: 70 };
const reset = { interface: 'power', step: 'reboot', args: {}, priority: 65 };

const create = (more: object = {}, request: Request & { who?: Persona } = {}) =>
  at.api.as(request.who ?? 'operator', 'POST', path, {
    body: { name: 'CUSTOM_GOLD', steps: [update], ...more },
    ...request,
  });
const show = (ident: string) => at.api.as('operator', 'GET', `${path}/${ident}`);
const patch = (ident: string, ops: unknown) => at.api.as('operator', 'PATCH', `${path}/${ident}`, { body: ops });

test('is found by its name and by its uuid, and renamed', async () => {
  const { body } = await create();
  expect((await show('CUSTOM_GOLD')).body).toEqual(body);
  expect(body.steps).toEqual([update]);
  const renamed = await patch('CUSTOM_GOLD', [{ op: 'replace', path: '/name', value: 'HW_CPU_X86_VMX' }]);
  expect([renamed.status, renamed.body.name]).toEqual([200, 'HW_CPU_X86_VMX']);
  expect((await show('CUSTOM_GOLD')).status).toBe(404);
  expect((await at.api.as('operator', 'DELETE', `${path}/HW_CPU_X86_VMX`)).status).toBe(204);
});

test('takes a description and keeps nothing of it, as the wire has it', async () => {
  const { status, body } = await create({ description: 'x' });
  expect([status, body.description]).toEqual([201, undefined]);
  expect((await patch('CUSTOM_GOLD', [{ op: 'add', path: '/description', value: 'y' }])).status).toBe(200);
});

test.each([
  [{ name: 'gold' }, 'a trait'],
  [{ name: undefined }, 'name'],
  [{ steps: [] }, 'at least one step'],
  [{ steps: undefined }, 'steps'],
  [{ steps: [{ ...update, priority: undefined }] }, 'priority'],
  [{ steps: [{ ...update, args: undefined }] }, 'args'],
  [{ steps: [{ ...update, order: 1 }] }, 'order'],
  [{ steps: [{ ...update, interface: 'soap' }] }, 'interface'],
  [{ steps: [update, { ...update, priority: 1 }] }, 'firmware.update comes twice'],
  [{ steps: [{ interface: 'vendor', step: 'send_raw', args: {}, priority: 1 }] }, 'switched off by the operator'],
])('with %j is refused, saying why', async (more, says) => {
  const refused = await create(more);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
});

test('a name is one template’s', async () => {
  await create();
  const refused = await create();
  expect([refused.status, faultOf(refused)]).toEqual([409, expect.stringContaining('with name CUSTOM_GOLD')]);
});

describe('secrets in arguments', () => {
  const secret = { ...reset, args: { admin_password: 'geheim' } };

  test('are shown masked, stored apart, and in no record', async () => {
    const { body } = await create({ steps: [secret] });
    expect(body.steps[0].args).toEqual({ admin_password: '******' });
    const texts = await at.api.sql`
      select steps::text as text from deploy_templates union all select data::text from audit where resource_id = ${body.uuid}
      union all select data::text from events where data ->> 'deploy_template_uuid' = ${body.uuid}`;
    expect(texts).toHaveLength(3);
    for (const { text } of texts) expect(text).not.toContain('geheim');
  });

  test('stay when their mask comes back, in whatever place, and go with their step', async () => {
    const { body } = await create({ steps: [secret, update] });
    const ids = async () =>
      (await at.api.sql`select id from secrets where holder_id = ${body.uuid}`).map(({ id }) => id);
    const before = await ids();
    expect(before).toHaveLength(1);
    const swapped = [body.steps[1], { ...body.steps[0], priority: 3 }];
    expect((await patch('CUSTOM_GOLD', [{ op: 'replace', path: '/steps', value: swapped }])).status).toBe(200);
    expect(await ids()).toEqual(before);
    expect((await create({ name: 'CUSTOM_B', steps: body.steps })).status).toBe(400);
    expect((await patch('CUSTOM_GOLD', [{ op: 'remove', path: '/steps/1' }])).status).toBe(200);
    expect(await ids()).toEqual([]);
  });
});

const order = () => at.api.runs.started[0]!;
const names = () => order().steps.map(({ step }) => step);
const traits = ['CUSTOM_GOLD', 'CUSTOM_SILVER'];
const asks = async (...wanted: string[]) => {
  await at.fresh('available', { instance_info: { ...image, traits: wanted } });
  await at.set({ traits });
};

describe('a deployment', () => {
  test.each(['active', 'deploy'])('%s runs the steps of the traits that its instance asks for', async (target) => {
    await create();
    await create({ name: 'CUSTOM_SILVER', steps: [reset] });
    await asks('CUSTOM_GOLD');
    const reply = await at.ask({ target }, { who: 'owner-member' });
    expect([reply.status, reply.text]).toEqual([202, '']);
    expect(names()).toContain('update');
    expect(names()).not.toContain('reboot');
    expect(order().steps.find(({ step }) => step === 'update')).toMatchObject({ args: { settings }, priority: 70 });
  });

  test('a rebuild does so too', async () => {
    await create();
    await asks('CUSTOM_GOLD');
    await at.set({ provision_state: 'active' });
    expect((await at.ask({ target: 'rebuild' }, { who: 'owner-member' })).status).toBe(202);
    expect(names()).toContain('update');
  });

  test('without such a trait is as it was', async () => {
    await create();
    await asks();
    await at.ask({ target: 'active' }, { who: 'owner-member' });
    expect(names()).not.toContain('update');
  });

  test('takes the caller’s own step instead of a template’s of the same name', async () => {
    await create({ steps: [update, reset] });
    await asks('CUSTOM_GOLD');
    await at.ask({ target: 'active', deploy_steps: [{ ...update, priority: 30 }] });
    const priorities = order().steps.flatMap(({ step, priority }) => (step === 'update' ? [priority] : []));
    expect(priorities).toEqual([30]);
    expect(names()).toContain('reboot');
  });

  test('is refused where two of its templates hold one step', async () => {
    await create();
    await create({ name: 'CUSTOM_SILVER' });
    await asks('CUSTOM_GOLD', 'CUSTOM_SILVER');
    const refused = await at.ask({ target: 'active' });
    expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('CUSTOM_GOLD and CUSTOM_SILVER')]);
    expect(at.asked()).toBe(0);
  });

  test('is refused where a step has been switched off since', async () => {
    await create();
    await at.api.sql`update deploy_templates set steps = ${at.api.sql.json([
      { interface: 'vendor', step: 'send_raw', args: {}, priority: 5 },
    ])}`;
    await asks('CUSTOM_GOLD');
    expect((await at.ask({ target: 'active' })).status).toBe(400);
  });

  test('hands secrets on as references', async () => {
    const url = 'https://u:geheim@images.example.org/bmc.bin';
    await create({ steps: [{ ...update, args: { settings: [{ component: 'bmc', url }] } }] });
    await asks('CUSTOM_GOLD');
    const reply = await at.ask({ target: 'active' }, { who: 'owner-member' });
    expect([reply.status, reply.text]).toEqual([202, '']);
    expect(order().steps.find(({ step }) => step === 'update')!.args).toEqual({
      settings: [{ component: 'bmc', url: { $secret: expect.any(String) } }],
    });
    expect(JSON.stringify(order())).not.toContain('geheim');
  });
});

describe('a deployment by a template that a project wrote', () => {
  const open = {
    set: 'temper',
    overrides: { 'baremetal:deploy_template:create': '', 'baremetal:deploy_template:update': '' },
  } as const;

  test.each([
    ['operator', 202],
    ['owner-manager', 202],
    ['owner-member', 403],
    ['lessee-admin', 403],
  ] as const)('as %s answers %i: its steps are of the caller’s own choice', async (who, status) => {
    at.api.setPolicy(open);
    expect((await create({}, { who: 'lessee-member' })).status).toBe(201);
    await asks('CUSTOM_GOLD');
    const reply = await at.ask({ target: 'active' }, { who });
    expect(reply.status).toBe(status);
    if (status === 403) expect(faultOf(reply)).toContain('temper:node:deploy_steps');
  });

  test('one that a project changed is no longer vouched for; one that an operator wrote over is', async () => {
    at.api.setPolicy(open);
    await create();
    await asks('CUSTOM_GOLD');
    const replaced = [{ op: 'replace', path: '/steps', value: [reset] }];
    const renamed = [{ op: 'add', path: '/extra/a', value: 1 }];
    const deploys = async () => (await at.ask({ target: 'active' }, { who: 'owner-member' })).status;
    await at.api.as('lessee-member', 'PATCH', `${path}/CUSTOM_GOLD`, { body: renamed });
    expect(await deploys()).toBe(202);
    await at.api.as('lessee-member', 'PATCH', `${path}/CUSTOM_GOLD`, { body: replaced });
    expect(await deploys()).toBe(403);
    await patch('CUSTOM_GOLD', replaced);
    expect(await deploys()).toBe(202);
  });

  test('or that a project gave the name of another trait, is not what the operator approved', async () => {
    at.api.setPolicy(open);
    await create();
    await asks('CUSTOM_SILVER');
    const rename = (who: Persona, name: string, to: string) =>
      at.api.as(who, 'PATCH', `${path}/${name}`, { body: [{ op: 'replace', path: '/name', value: to }] });
    const deploys = async () => (await at.ask({ target: 'active' }, { who: 'owner-member' })).status;
    await rename('operator', 'CUSTOM_GOLD', 'CUSTOM_SILVER');
    expect(await deploys()).toBe(202);
    await rename('lessee-member', 'CUSTOM_SILVER', 'CUSTOM_SILVER');
    expect(await deploys()).toBe(202);
    await rename('lessee-member', 'CUSTOM_SILVER', 'CUSTOM_BRONZE');
    await rename('operator', 'CUSTOM_BRONZE', 'CUSTOM_SILVER');
    expect(await deploys()).toBe(403);
  });

  test('is bound by the rules of single steps', async () => {
    at.api.setPolicy({
      ...open,
      overrides: { ...open.overrides, 'baremetal:step:execute:firmware.update': 'role:admin and system_scope:all' },
    });
    await create({}, { who: 'lessee-member' });
    await asks('CUSTOM_GOLD');
    expect((await at.ask({ target: 'active' }, { who: 'owner-manager' })).status).toBe(403);
    expect((await at.ask({ target: 'active' })).status).toBe(202);
  });
});
