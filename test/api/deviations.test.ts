/** Where the wire is not Ironic's, and where it keeps an oddity on purpose: one test for each row of docs/decisions/0005. */
import { randomUUID } from 'node:crypto';
import { anonymous } from '../../src/model/access/callers';
import { runRules } from '../../src/model/inspection/rule-run';
import { faultOf, type Reply } from '../support/api';
import { type Provisioning, startProvisioning } from '../support/provisioning';
import { owner, type Persona, stranger } from '../support/world';

let at: Provisioning;
let node: string;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());
beforeEach(async () => {
  at.api.setPolicy({ set: 'temper' });
  node = await at.fresh('available');
});

const as = (who: Persona, method: string, path: string, body?: unknown, minor?: number): Promise<Reply> =>
  at.api.as(who, method, `/v1${path}`, { body, minor });
const get = (path: string, who: Persona = 'operator', minor?: number) => as(who, 'GET', path, undefined, minor);
const made = async (path: string, body: object, who: Persona = 'operator'): Promise<Record<string, unknown>> => {
  const reply = await as(who, 'POST', path, body);
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply.body;
};

const reboot = { interface: 'power', step: 'reboot', args: {} };
const bootDevice = { interface: 'management', step: 'set_boot_device', args: { boot_device: 'pxe' } };
const trait = 'CUSTOM_BOOK';

/** A runbook that may run on the node. */
const runbook = async (more: object = {}): Promise<string> => {
  const { uuid } = await made('/runbooks', { name: trait, steps: [{ ...reboot, order: 1 }], ...more });
  await at.api.sql`update runbooks set traits = ${[trait]} where uuid = ${String(uuid)}`;
  await at.set({ traits: [trait] });
  return String(uuid);
};

const names = (reply: Reply, key: string): unknown[] => reply.body[key].map(({ name }: { name: string }) => name);

describe('other than the original', () => {
  test('a caller whose scope a rule does not admit gets 403, not 500', async () => {
    for (const path of ['/chassis', '/drivers', '/conductors', '/shards'])
      expect([path, (await get(path, 'owner-admin')).status]).toEqual([path, 403]);
    expect((await as('owner-admin', 'POST', '/events', { events: [] })).status).toBe(400);
    await at.set({ provision_state: 'active' });
    const change = [{ op: 'replace', path: '/owner', value: stranger }];
    expect((await as('system-member', 'PATCH', '/nodes/n1', change)).status).toBe(409);
  });

  test('a project may use a public runbook', async () => {
    await runbook({ public: true });
    await at.set({ provision_state: 'active' });
    const reply = await at.ask({ target: 'service', runbook: trait }, { who: 'lessee-member' });
    expect([reply.status, at.asked()]).toEqual([202, 1]);
  });

  test('the steps of a runbook are shown and run in the order of their order', async () => {
    const steps = [
      { ...reboot, order: 2 },
      { ...bootDevice, order: 1 },
    ];
    await runbook({ public: true, steps });
    const shown = (await get(`/runbooks/${trait}`)).body.steps;
    expect(shown.map(({ step }: { step: string }) => step)).toEqual(['set_boot_device', 'reboot']);
    await at.set({ provision_state: 'active' });
    await at.ask({ target: 'service', runbook: trait });
    const run = at.api.runs.started[0]!.steps.filter(({ system }) => !system);
    expect(run.map(({ step }) => step)).toEqual(['set_boot_device', 'reboot']);
  });

  test('a runbook may hold one step twice, a deploy template may not', async () => {
    const disk = { ...bootDevice, args: { boot_device: 'disk' } };
    const steps = [bootDevice, reboot, disk];
    await runbook({ public: true, steps: steps.map((step, at) => ({ ...step, order: at + 1 })) });
    await at.set({ provision_state: 'active' });
    await at.ask({ target: 'service', runbook: trait });
    const run = at.api.runs.started[0]!.steps.filter(({ system }) => !system);
    expect(run.map(({ index, args }) => [index, args])).toEqual(steps.map(({ args }, index) => [index, args]));
    const template = { name: 'CUSTOM_TWICE', steps: steps.map((step) => ({ ...step, priority: 10 })) };
    expect((await as('operator', 'POST', '/deploy_templates', template)).status).toBe(400);
  });

  test('service with a runbook works from 1.92 on, whatever the runbook says of disable_ramdisk by default', async () => {
    await runbook({ public: true, name: trait });
    for (const minor of [92, 107, 108]) {
      await at.set({ provision_state: 'active' });
      expect([minor, (await at.ask({ target: 'service', runbook: trait }, { minor })).status]).toEqual([minor, 202]);
    }
  });

  test('a runbook that wants no ramdisk still needs 1.108 for service', async () => {
    await runbook({ public: true, disable_ramdisk: true });
    await at.set({ provision_state: 'active' });
    expect((await at.ask({ target: 'service', runbook: trait }, { minor: 107 })).status).toBe(406);
    expect((await at.ask({ target: 'service', runbook: trait }, { minor: 108 })).status).toBe(202);
  });

  test('a node without owner belongs to no project, in both rule sets', async () => {
    await at.set({ owner: null, lessee: null });
    for (const set of ['temper', 'ironic'] as const) {
      at.api.setPolicy({ set });
      expect((await get('/nodes/n1', 'stranger-admin')).status).toBe(404);
    }
  });
});

describe('lists and nodes other than in the original', () => {
  test('the next link of a list repeats its filters', async () => {
    const { next } = (await get('/nodes?limit=1&driver=redfish&provision_state=available&owner=project-owner')).body;
    expect(Object.fromEntries(new URL(next).searchParams)).toEqual({
      limit: '1',
      marker: node,
      driver: 'redfish',
      provision_state: 'available',
      owner,
    });
  });

  test('what is below a node is listed by the node’s name as well', async () => {
    await made('/ports', { node_uuid: node, address: '52:54:00:00:00:01' });
    for (const below of ['ports', 'portgroups', 'volume/connectors', 'volume/targets'])
      expect([below, (await get(`/nodes/n1/${below}`)).status]).toEqual([below, 200]);
    expect((await get('/nodes/n1/ports')).body.ports).toHaveLength(1);
  });

  test('deploy means what active means, with steps and configuration drive', async () => {
    const deploy_steps = [{ ...bootDevice, interface: 'firmware', step: 'update', priority: 70 }];
    const args = { settings: [{ component: 'bmc', url: 'https://images.example.org/bmc.bin' }] };
    const body = { target: 'deploy', configdrive: { meta_data: { a: 1 } } };
    const reply = await at.ask({ ...body, deploy_steps: deploy_steps.map((step) => ({ ...step, args })) });
    expect([reply.status, at.api.runs.started[0]?.verb]).toEqual([202, 'deploy']);
    expect(at.api.runs.started[0]!.steps.map(({ step }) => step)).toContain('update');
  });

  test('what is missing for a deployment or a rescue is 400, not 500', async () => {
    await at.set({ instance_info: at.api.sql.json({}) });
    expect((await at.ask({ target: 'active' })).status).toBe(400);
    await at.set({ provision_state: 'active', rescue_interface: 'no-rescue' });
    expect((await at.ask({ target: 'rescue', rescue_password: 'x' })).status).toBe(400);
  });

  test('removing automated_clean is an ordinary change', async () => {
    await at.set({ automated_clean: false });
    const reply = await as('operator', 'PATCH', '/nodes/n1', [{ op: 'remove', path: '/automated_clean' }]);
    expect([reply.status, reply.body.automated_clean]).toEqual([200, null]);
  });

  test('filters of ports that exclude each other are 400, not 403', async () => {
    const group = randomUUID();
    for (const query of [`node=n1&portgroup=${group}`, `portgroup=${group}&shard=a`, 'node=n1&shard=a'])
      expect([query, (await get(`/ports?${query}`)).status]).toEqual([query, 400]);
  });

  test('a node’s history does not serve the event of another node', async () => {
    const told = async (of: string) => {
      const data = at.api.sql.json({ from: 'active', to: 'service failed', error: 'x' });
      const [row] = await at.api.sql`
        insert into events (kind, node_uuid, project, data) values ('run.failed', ${of}, ${owner}, ${data}) returning seq`;
      return row!.seq;
    };
    await told(node);
    const { history } = (await get('/nodes/n1/history')).body;
    const other = await made('/nodes', { name: 'n2', driver: 'fake-hardware', owner });
    expect(history).toHaveLength(1);
    expect((await get(`/nodes/n1/history/${history[0].uuid}`)).status).toBe(200);
    expect((await get(`/nodes/${other.uuid}/history/${history[0].uuid}`)).status).toBe(404);
  });

  test('inspection rules are found where their links say, and are filtered by phase', async () => {
    const actions = [{ op: 'log', args: { msg: 'x' } }];
    const rule = await made('/inspection_rules', { actions, phase: 'main' });
    await made('/inspection_rules', { actions, phase: 'early' });
    const [self] = rule.links as { href: string }[];
    expect(self!.href).toBe(`${at.api.url}/v1/inspection_rules/${rule.uuid}`);
    const { inspection_rules, next } = (await get('/inspection_rules?phase=main&limit=1')).body;
    expect(inspection_rules.map(({ uuid }: { uuid: string }) => uuid)).toEqual([rule.uuid]);
    expect(next).toContain('/v1/inspection_rules?phase=main&limit=1');
    for (const { uuid } of (await get('/inspection_rules')).body.inspection_rules)
      await as('operator', 'DELETE', `/inspection_rules/${uuid}`);
  });

  test('the node filter of allocations counts for all callers', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    await at.api.sql`insert into allocations (uuid, name, resource_class, owner, node_uuid, state) values
      (${a}, 'mine', 'x', ${owner}, ${node}, 'active'), (${b}, 'free', 'x', ${owner}, null, 'allocating')`;
    expect(names(await get('/allocations?node=n1'), 'allocations')).toEqual(['mine']);
    expect(names(await get(`/allocations?node=${node}`, 'owner-reader'), 'allocations')).toEqual(['mine']);
    await at.api.sql`delete from allocations`;
  });

  test('a masked secret that comes back in a change keeps the stored one', async () => {
    const secret = [{ op: 'add', path: '/driver_info/redfish_password', value: 'hunter2' }];
    const shown = (await as('operator', 'PATCH', '/nodes/n1', secret)).body.driver_info;
    expect(shown.redfish_password).toBe('******');
    const refs = async () => (await at.api.sql`select driver_info from nodes where uuid = ${node}`)[0]!.driver_info;
    const before = await refs();
    const back = [{ op: 'replace', path: '/driver_info', value: shown }];
    expect((await as('operator', 'PATCH', '/nodes/n1', back)).status).toBe(200);
    expect((await refs()).redfish_password).toEqual(before.redfish_password);
  });
});

describe('bodies and rules other than in the original', () => {
  test('a service of one project reads, changes and uses no runbook of another', () => {
    const policy = at.api.rooms.policy();
    const service = { ...anonymous, user_id: 'service', project_id: stranger, roles: ['service'] };
    const target = { 'runbook.owner': owner, 'runbook.public': false };
    for (const act of ['get', 'update', 'delete', 'use'])
      expect([act, policy.allows(`baremetal:runbook:${act}`, service, target)]).toEqual([act, false]);
  });

  test('a key that a body names twice is refused', async () => {
    const reply = await at.api.as('operator', 'POST', '/v1/chassis', {
      raw: '{"description": "a", "description": "b"}',
    });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('description')]);
  });

  test('a whole number beyond 2^53 is refused', async () => {
    const raw = '{"extra": {"serial": 12345678901234567890}}';
    const reply = await at.api.as('operator', 'POST', '/v1/chassis', { raw });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('send it as a text')]);
  });

  test('bytes that are no UTF-8 are refused', async () => {
    const raw = Buffer.concat([Buffer.from('{"description": "'), Buffer.from([0xff]), Buffer.from('"}')]);
    const reply = await at.api.as('operator', 'POST', '/v1/chassis', { raw });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('UTF-8')]);
  });

  test('a body that is no JSON is 400', async () => {
    for (const [method, path] of [
      ['POST', '/v1/nodes'],
      ['PATCH', '/v1/nodes/n1'],
      ['PUT', '/v1/nodes/n1/states/provision'],
    ] as const) {
      const reply = await at.api.as('operator', method, path, { raw: '{"a": ' });
      expect([method, reply.status]).toEqual([method, 400]);
    }
  });

  test('a runbook that the caller may not see is missing, in both rule sets', async () => {
    const uuid = await runbook({ owner });
    for (const set of ['temper', 'ironic'] as const) {
      at.api.setPolicy({ set });
      const [hidden, none] = await Promise.all(
        [uuid, randomUUID()].map((one) => get(`/runbooks/${one}`, 'stranger-admin')),
      );
      expect([set, hidden!.status, faultOf(hidden!)]).toEqual([
        set,
        404,
        faultOf(none!).replace(/[0-9a-f-]{36}/, uuid),
      ]);
    }
  });

  test('the allocation of a node is missing for a caller who may not see it, in both rule sets', async () => {
    const none = await get('/nodes/n1/allocation', 'lessee-admin');
    await at.api.sql`
      insert into allocations (name, resource_class, owner, node_uuid, state) values ('a1', 'x', ${owner}, ${node}, 'active')`;
    for (const set of ['temper', 'ironic'] as const) {
      at.api.setPolicy({ set });
      for (const method of ['GET', 'DELETE']) {
        const hidden = await as('lessee-admin', method, '/nodes/n1/allocation');
        expect([set, method, hidden.status, faultOf(hidden)]).toEqual([set, method, 404, faultOf(none)]);
      }
      expect((await get('/nodes/n1/allocation', 'owner-reader')).status).toBe(200);
    }
    await at.api.sql`delete from allocations`;
  });

  test('the project filter of runbooks takes a project', async () => {
    await runbook({ owner });
    expect(names(await get(`/runbooks?project=${owner}`), 'runbooks')).toEqual([trait]);
    expect(names(await get(`/runbooks?project=${stranger}`), 'runbooks')).toEqual([]);
  });

  test('the text that the command line sends for true makes a runbook public', async () => {
    await runbook({ owner });
    const open = await as('operator', 'PATCH', `/runbooks/${trait}`, [{ op: 'add', path: '/public', value: 'True' }]);
    expect([open.status, open.body.public]).toEqual([200, true]);
  });

  test('a runbook is not made with an owner and public at once', async () => {
    const body = { name: 'CUSTOM_BOTH', steps: [{ ...reboot, order: 1 }], owner, public: true };
    expect((await as('operator', 'POST', '/runbooks', body)).status).toBe(400);
  });

  test('a port’s name that is taken is reported as such', async () => {
    const port = { node_uuid: node, name: 'eth0' };
    await made('/ports', { ...port, address: '52:54:00:00:00:01' });
    const reply = await as('operator', 'POST', '/ports', { ...port, address: '52:54:00:00:00:02' });
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringContaining('eth0')]);
  });

  test('lists of portgroups hide what is newer than the version', async () => {
    await made('/portgroups', { node_uuid: node, name: 'bond0' });
    const shown = (await get('/portgroups/detail', 'operator', 25)).body.portgroups[0];
    for (const name of ['mode', 'properties', 'physical_network', 'category']) expect(shown).not.toHaveProperty(name);
  });

  test('children are unknown before 1.83, like everything that is', async () => {
    expect((await get('/nodes/n1/children', 'operator', 82)).status).toBe(404);
  });

  test('reservation names the run that holds the node', async () => {
    const run = randomUUID();
    await at.set({ reservation: run });
    expect((await get('/nodes/n1')).body.reservation).toBe(run);
  });
});

describe('steps and networks other than in the original', () => {
  test('under which strategy a caller authenticates does not matter to the rules', async () => {
    const { driver_info } = (await get('/nodes/n1', 'lessee-reader')).body;
    expect(driver_info).toEqual({ content: expect.stringMatching(/redacted/i) });
  });

  test('an inspection rule sets no attribute that decides which machine is contacted, and calls no URL', async () => {
    for (const action of [
      { op: 'set-attribute', args: ['driver_info/redfish_address', 'https://198.51.100.1'] },
      { op: 'set-attribute', args: ['owner', stranger] },
      { op: 'api-call', args: { url: 'https://198.51.100.1' } },
    ])
      expect((await as('operator', 'POST', '/inspection_rules', { actions: [action] })).status).toBe(400);
  });

  test('placeholders of inspection rules keep their type, in comparisons too', () => {
    const conditions = [{ op: 'gt', args: ['{inventory[cpus]}', 8] }];
    const actions = [{ op: 'set-attribute', args: ['extra/cpus', '{inventory[cpus]}'] }];
    const rule = { uuid: 'r', description: null, phase: 'main', priority: 0, sensitive: false, conditions, actions };
    const subject = { node: { extra: {}, traits: [] }, ports: [], inventory: { cpus: 16 }, plugin_data: {} };
    expect(runRules([rule], subject, () => false)).toMatchObject({ ran: ['r'], node: { extra: { cpus: 16 } } });
  });

  test('a vendor’s method refuses arguments that it does not know', async () => {
    const reply = await as('operator', 'POST', '/nodes/n1/vendor_passthru/eject_vmedia', { drive: 'cd' });
    expect([reply.status, faultOf(reply)]).toEqual([400, 'Unexpected arguments: drive.']);
  });

  test('a network that is attached twice, or detached without being attached, is a mistake and reported as such', async () => {
    const attach = () => as('operator', 'POST', '/nodes/n1/vifs', { id: 'tenant-net' }, 67);
    const detach = () => as('operator', 'DELETE', '/nodes/n1/vifs/tenant-net', undefined, 67);
    expect([(await attach()).status, (await attach()).status]).toEqual([204, 409]);
    expect((await get('/nodes/n1/vifs', 'operator', 67)).body.vifs).toEqual([{ id: 'tenant-net' }]);
    expect([(await detach()).status, (await detach()).status]).toEqual([204, 400]);
  });

  test('a network gets a card and shows it there, and one beyond the cards is refused', async () => {
    await made('/ports', { node_uuid: node, address: '52:54:00:00:0f:01' });
    const attach = (id: string) => as('operator', 'POST', '/nodes/n1/vifs', { id }, 67);
    expect([(await attach('one')).status, (await attach('two')).status]).toEqual([204, 400]);
    const [port] = (await get('/nodes/n1/ports?fields=internal_info', 'operator', 67)).body.ports;
    expect(port.internal_info).toEqual({ tenant_vif_port_id: 'one' });
  });

  test('while a run holds the node, an attachment is refused with 503, and a VIF that is attached already with 409', async () => {
    const attach = () => as('operator', 'POST', '/nodes/n1/vifs', { id: 'one' }, 67);
    await attach();
    expect((await attach()).status).toBe(409);
    await at.set({ reservation: node });
    expect((await attach()).status).toBe(503);
  });

  test('a step that nothing on the node offers is refused before anything begins', async () => {
    await at.set({ provision_state: 'manageable' });
    const clean_steps = [{ interface: 'management', step: 'polish_the_case' }];
    const reply = await at.ask({ target: 'clean', clean_steps });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('management.polish_the_case')]);
    expect(at.asked()).toBe(0);
  });

  test('a list shows the nodes that GET would show, and no others of the project', async () => {
    const uuids = async () =>
      (await get('/nodes', 'lessee-reader')).body.nodes.map((row: { uuid: string }) => row.uuid);
    expect(await uuids()).toEqual([node]);
    const overrides = { 'baremetal:node:get': '(role:reader and system_scope:all) or rule:is_node_owner' };
    at.api.setPolicy({ set: 'ironic', overrides });
    expect([(await get('/nodes/n1', 'lessee-reader')).status, await uuids()]).toEqual([404, []]);
  });
});

describe('as the original has it, odd as it is', () => {
  test('the states of a node show last_error to every caller who may see them', async () => {
    await at.set({ last_error: 'disk full' });
    expect((await get('/nodes/n1/states', 'lessee-reader')).body.last_error).toBe('disk full');
    expect((await get('/nodes/n1', 'lessee-reader')).body.last_error).toMatch(/Redacted/);
  });

  test('a chassis has its nodes as a list of one list of links', async () => {
    const { nodes, uuid } = await made('/chassis', {});
    expect(nodes).toEqual([
      [
        { href: `${at.api.url}/v1/chassis/${uuid}/nodes`, rel: 'self' },
        { href: `${at.api.url}/chassis/${uuid}/nodes`, rel: 'bookmark' },
      ],
    ]);
  });

  test('nodes without a shard are counted under None', async () => {
    await made('/nodes', { name: 'n3', driver: 'fake-hardware', shard: 'a' });
    const { shards } = (await get('/shards')).body;
    expect(shards).toEqual(
      expect.arrayContaining([
        { name: 'None', count: 1 },
        { name: 'a', count: 1 },
      ]),
    );
  });

  test('a deploy template may come with a description, which is not kept', async () => {
    const steps = [{ ...reboot, priority: 1 }];
    const template = await made('/deploy_templates', { name: 'CUSTOM_D', steps, description: 'x' });
    expect(template).not.toHaveProperty('description');
    await as('operator', 'DELETE', '/deploy_templates/CUSTOM_D');
  });

  test('indicators are answered in every version', async () => {
    expect((await get(`/nodes/${node}/management/indicators`, 'operator', 1)).status).toBe(200);
  });

  test('news of other services is checked, logged and forgotten', async () => {
    const event = { event: 'network.bind_port', port_id: randomUUID(), mac_address: '52:54:00:00:00:01', status: 'UP' };
    expect((await as('operator', 'POST', '/events', { events: [event] })).status).toBe(204);
  });
});
