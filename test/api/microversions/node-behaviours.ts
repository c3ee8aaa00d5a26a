/** What versions changed in how nodes are found, begin, look and can be worked on. */
import { holder } from '../../support/provisioning';
import { bootRamdisks } from '../../support/ramdisk-boots';
import { ask, type Bench, expectGood, expectRefused, fresh, freshMac, sidesOf } from './bench';

export type Show = (bench: Bench, minor: number) => Promise<void>;

const node = '/v1/nodes/{node}';

/** What nodes have shown from the beginning. */
const firstFields = (
  'uuid created_at updated_at links ports chassis_uuid driver driver_info properties extra instance_uuid instance_info ' +
  'power_state target_power_state provision_state target_provision_state provision_updated_at maintenance ' +
  'maintenance_reason reservation last_error console_enabled'
).split(' ');

export const firstVersion: Show = async (bench) => {
  const uuid = await bench.world({ provision_state: 'available' })('{node}');
  const path = `/v1/nodes/${uuid}`;
  const unsaid = await bench.api.as('operator', 'GET', path, { minor: null });
  expect(unsaid.headers.get('x-openstack-ironic-api-version')).toBe('1.1');
  expect(Object.keys(unsaid.body).sort()).toEqual([...firstFields].sort());
  expect((await ask(bench, 1, `GET ${path}`)).body).toEqual(unsaid.body);
  for (const [request, body] of [
    [`PUT ${path}/maintenance`, { reason: 'first' }],
    [`DELETE ${path}/maintenance`],
    [`PUT ${path}/states/provision`, { target: 'active', configdrive: 'H4sIAA==' }],
  ] as const)
    expect([request, (await ask(bench, 1, request, body)).status]).toEqual([request, 202]);
  for (const methods of [`${path}/vendor_passthru/methods`, '/v1/drivers/redfish/vendor_passthru/methods'])
    expectGood(methods, await ask(bench, 1, `GET ${methods}`));
  expect((await bench.api.as('operator', 'GET', path, { minor: 0 })).status).toBe(406);
};

/** How a node's state looks in every place that shows it. */
const statesSeen = async (bench: Bench, minor: number, uuid: string): Promise<unknown[]> => {
  const in_ = async (path: string) => {
    const { body } = await ask(bench, minor, `GET ${path}`);
    return body.nodes.find((one: { uuid: string }) => one.uuid === uuid).provision_state;
  };
  return [
    (await ask(bench, minor, `GET /v1/nodes/${uuid}`)).body.provision_state,
    (await ask(bench, minor, `GET /v1/nodes/${uuid}/states`)).body.provision_state,
    await in_('/v1/nodes'),
    await in_('/v1/nodes/detail'),
  ];
};

const seenAs =
  (provision_state: string, earlier: string | null): Show =>
  async (bench, minor) => {
    const uuid = await bench.world({ provision_state })('{node}');
    const { before, from } = sidesOf(minor);
    expect(await statesSeen(bench, before, uuid)).toEqual([earlier, earlier, earlier, earlier]);
    expect(await statesSeen(bench, from, uuid)).toEqual(Array(4).fill(provision_state));
  };

export const availableIsAState = seenAs('available', null);
export const inspectWaitIsAState = seenAs('inspect wait', 'inspecting');

export const nodesByName: Show = async (bench, minor) => {
  const name = `by-name-${fresh()}`;
  await bench.world({ name })('{node}');
  const { before, from } = sidesOf(minor);
  expectRefused('by name', await ask(bench, before, `GET /v1/nodes/${name}`), 404);
  expectRefused('validated', await ask(bench, before, `GET /v1/nodes/validate?node=${name}`), 406, minor);
  for (const path of [`/v1/nodes/${name}`, `/v1/nodes/validate?node=${name}`])
    expectGood(path, await ask(bench, from, `GET ${path}`));
};

const enrolled = (bench: Bench, minor: number, body: object) =>
  ask(bench, minor, 'POST /v1/nodes', { driver: 'fake-hardware', ...body });

export const namesAreFree: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  const name = `under_score~${fresh()}`;
  expectRefused(name, await enrolled(bench, before, { name }), 400);
  expectGood(name, await enrolled(bench, from, { name }));
  expectRefused(name, await ask(bench, before, `GET /v1/nodes/${name}`), 400);
  expectGood(name, await ask(bench, from, `GET /v1/nodes/${name}`));
  expectGood('a host name', await enrolled(bench, before, { name: `host-${fresh()}.example.org` }));
};

export const nodesBeginInEnroll: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  expect((await enrolled(bench, before, {})).body.provision_state).toBe('available');
  expect((await enrolled(bench, from, {})).body.provision_state).toBe('enroll');
};

export const chassisCanBeUnset: Show = async (bench, minor) => {
  const fill = bench.world();
  const [path, chassis_uuid] = [await fill(node), await fill('{chassis}')];
  const patch = (at: number, one: object) => ask(bench, at, `PATCH ${path}`, [{ path: '/chassis_uuid', ...one }]);
  const { before, from } = sidesOf(minor);
  expectGood('set', await patch(before, { op: 'add', value: chassis_uuid }));
  expectRefused('unset', await patch(before, { op: 'remove' }), 406, minor);
  expect((await ask(bench, before, `GET ${path}`)).body.chassis_uuid).toBe(chassis_uuid);
  const unset = await patch(from, { op: 'remove' });
  expect([unset.status, unset.body.chassis_uuid]).toEqual([200, null]);
};

export const inspectedRests: Show = async (bench, minor) => {
  const fill = bench.world({ provision_state: 'inspecting' });
  const { before, from } = sidesOf(minor);
  for (const object of [node, '/v1/ports/{port}', '/v1/portgroups/{portgroup}']) {
    const request = `PATCH ${await fill(object)}`;
    const change = (value: number) => [{ op: 'add', path: '/extra/a', value }];
    expectGood(object, await ask(bench, before, request, change(1)));
    expectRefused(object, await ask(bench, from, request, change(2)), 409);
  }
};

/** Abort of what waits in this state. */
const aborts =
  (provision_state: string): Show =>
  async (bench, minor) => {
    const path = await bench.world({ provision_state, reservation: holder })(node);
    const abort = (at: number) => ask(bench, at, `PUT ${path}/states/provision`, { target: 'abort' });
    const { before, from } = sidesOf(minor);
    const sent = bench.api.runs.sent.length;
    expectRefused('abort', await abort(before), 406, minor);
    expect(bench.api.runs.sent.length).toBe(sent);
    expect((await abort(from)).status).toBe(202);
    expect(bench.api.runs.sent.at(-1)).toMatchObject({ kind: 'abort' });
  };

export const abortOfInspection = aborts('inspect wait');
export const abortOfDeployment = aborts('wait call-back');

export const childrenAreHidden: Show = async (bench, minor) => {
  const fill = bench.world();
  const [child, parent] = [await fill('{node}'), await fill('{other}')];
  await bench.api.sql`update nodes set parent_node = ${parent} where uuid = ${child}`;
  for (const at of Object.values(sidesOf(minor))) {
    const { body } = await ask(bench, at, 'GET /v1/nodes');
    const known = body.nodes.map((one: { uuid: string }) => one.uuid);
    expect([at, known.includes(parent), known.includes(child)]).toEqual([at, true, false]);
  }
  expect((await ask(bench, minor, `GET /v1/nodes/${parent}/children`)).body.children).toEqual([child]);
};

export const suffixStays: Show = async (bench, minor) => {
  const [plain, ending] = [`plain-${fresh()}`, `ends-${fresh()}.json`];
  for (const name of [plain, ending]) await bench.world({ name })('{node}');
  const nameAt = async (at: number, path: string) => (await ask(bench, at, `GET ${path}`)).body.name;
  const { before, from } = sidesOf(minor);
  expect(await nameAt(before, `/v1/nodes/${plain}.json`)).toBe(plain);
  expectRefused(plain, await ask(bench, from, `GET /v1/nodes/${plain}.json`), 404);
  for (const at of [before, from]) expect(await nameAt(at, `/v1/nodes/${ending}`)).toBe(ending);
  expectGood('a collection', await ask(bench, before, 'GET /v1/nodes.json'));
  expectRefused('a collection', await ask(bench, from, 'GET /v1/nodes.json'), 404);
};

export const escapes: Show = async (bench, minor) => {
  const path = await bench.world()(node);
  for (const at of Object.values(sidesOf(minor)))
    for (const escaped of ['/extra/a~1b', '/extra/a~0b', '/ex~0tra/a']) {
      const reply = await ask(bench, at, `PATCH ${path}`, [{ op: 'add', path: escaped, value: 1 }]);
      expectRefused(escaped, reply, 400);
    }
  expect((await ask(bench, minor, `GET ${path}`)).body.extra).toEqual({});
};

export const instanceNameIsFilled: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  const instance_info = { display_name: 'web-1' };
  for (const at of [before, from]) {
    const { body } = await enrolled(bench, at, { instance_info });
    expect(body.instance_name).toBe(at === before ? undefined : 'web-1');
    expect((await ask(bench, from, `GET /v1/nodes/${body.uuid}`)).body.instance_name).toBe('web-1');
  }
  const own = await enrolled(bench, from, { instance_info, instance_name: 'db-1' });
  expect(own.body.instance_name).toBe('db-1');
  for (const display_name of [7, { a: 1 }, null, '', 'x'.repeat(256)]) {
    const odd = await enrolled(bench, from, { instance_info: { display_name } });
    expect([display_name, odd.status, odd.body.instance_name]).toEqual([display_name, 201, null]);
    const change = (value: unknown) => [{ op: 'add', path: '/instance_info', value: { display_name: value } }];
    const changed = async (value: unknown) =>
      (await ask(bench, from, `PATCH /v1/nodes/${odd.body.uuid}`, change(value))).body.instance_name;
    expect([display_name, await changed(display_name), await changed('late')]).toEqual([display_name, null, 'late']);
  }
};

export const requestId: Show = async (bench, minor) => {
  for (const at of Object.values(sidesOf(minor)))
    for (const path of ['/v1/nodes', '/v1/nodes/missing', '/v1']) {
      const { headers } = await ask(bench, at, `GET ${path}`);
      expect(headers.get('openstack-request-id')).toBe(headers.get('x-openstack-request-id'));
    }
};

export const lookupHandsOutToken: Show = async (bench, minor) => {
  const uuid = await bench.world({ provision_state: 'clean wait', booted: true })('{node}');
  const config = async (at: number) =>
    (await ask(bench, at, `GET /v1/lookup?node_uuid=${uuid}`, undefined, null)).body.config;
  const { before, from } = sidesOf(minor);
  expect(await config(before)).not.toHaveProperty('agent_token');
  expect((await config(from)).agent_token).toMatch(/^[\w-]{32,}$/);
  // The older version neither shows the token that is on record nor says that there is one.
  expect(await config(before)).not.toHaveProperty('agent_token');
};

export const inspectionContinues: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  const report = async (at: number) => {
    const uuid = await bench.world({ provision_state: 'inspect wait', inspect_interface: 'agent' })('{node}');
    const mac_address = freshMac();
    await ask(bench, 115, 'POST /v1/ports', { node_uuid: uuid, address: mac_address });
    await bootRamdisks(bench.api.sql, uuid);
    const found = { inventory: { interfaces: [{ mac_address }] } };
    return { uuid, reply: await ask(bench, at, 'POST /v1/continue_inspection', found, null) };
  };
  expectRefused('a report', (await report(before)).reply, 404);
  const { uuid, reply } = await report(from);
  expect([reply.status, reply.body.node.uuid]).toEqual([202, uuid]);
  expect(reply.body.config).toHaveProperty('heartbeat_timeout');
  const first = await report(1);
  expect([first.reply.status, first.reply.body]).toEqual([202, { uuid: first.uuid }]);
};
